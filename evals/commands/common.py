"""Shared parts of the commands of `ragweave eval`: options, sources of questions, and output."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ragweave.evals.sets import OUTSIDE

if TYPE_CHECKING:
    from ragweave.components.context import Context
    from ragweave.evals.answers import Question
    from ragweave.evals.report import Value
    from ragweave.evals.runner import Runner

T = TypeVar("T")

JsonOut = Annotated[
    Path | None, typer.Option("--json", metavar="OUT", help="Write the figures as one flat object.")
]
Work = Annotated[
    Path,
    typer.Option(
        "--work", help="Folder for evaluation libraries; they are reused while their data stay the same."
    ),
]
WORK = OUTSIDE / "evals"
Folder = Annotated[Path | None, typer.Option("--folder", help="Folder to index and ask.")]
LibraryName = Annotated[str, typer.Option("--library", help="Library to ask, instead of a folder.")]
Graph = Annotated[str, typer.Option("--graph", help="Graph that answers.")]
ModeName = Annotated[str, typer.Option("--mode", help="extractive, llm or auto.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any knob of docs/configuration.md; may be repeated."),
]
Width = Annotated[int, typer.Option("--width", min=1, max=64, help="Conversations at the same time.")]


@dataclass(frozen=True)
class QuestionSource:
    """Questions and the library to ask.

    `name_of` maps a cited file to its name in the gold data.
    """

    library: str
    questions: Sequence[Question]
    name_of: Callable[[str], str]


def source(questions: Path, folder: Path | None, library: str, work: Path) -> QuestionSource:
    """Read the questions, and index the folder if the user names no library.

    Raises:
        InputError: the options do not fit together, or a file cannot be read.
    """
    import hashlib

    from ragweave.corpora.ingest.run import index
    from ragweave.evals.answers import read_questions
    from ragweave.evals.corpus import use_home
    from ragweave.models.errors import InputError

    if (folder is None) == (not library):
        raise InputError("give one of --folder and --library", "name the folder or the library to ask")
    rows = read_questions(questions)
    name = library
    if folder is not None:
        if not folder.is_dir():
            raise InputError(f"{folder} is not a folder", "name one that holds the files")
        name = "answers-" + hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:10]
        use_home(work.resolve() / "home")
        run(index([folder], name))
    return QuestionSource(name, rows, lambda file: Path(file).name)


def builder(graph: str) -> Callable[[], Any]:
    """Return the `build` of a graph.

    Raises:
        InputError: there is no graph of that name.
    """
    from ragweave.graphs.run import GRAPHS
    from ragweave.models.errors import InputError

    if graph not in GRAPHS:
        raise InputError(f"there is no graph named “{graph}”", f"use one of: {', '.join(GRAPHS)}")
    build: Callable[[], Any] = import_module(GRAPHS[graph]).build
    return build


def context_of(library: str, mode: str, settings: list[str] | None) -> Context:
    """Return the given knobs of an evaluation, without the defaults of the shell."""
    from ragweave.components.run_settings import with_settings

    return with_settings({"library": library, "mode": mode}, settings)


def report(flat: Mapping[str, float], json_out: Path | None) -> None:
    """Print figures, and write them as JSON if `json_out` names a file."""
    from ragweave.evals.report import table, write_json

    rows: list[list[Value]] = [[name, value] for name, value in flat.items()]
    typer.echo(table(["figure", "value"], rows))
    if json_out:
        write_json(json_out, flat)


@contextlib.contextmanager
def runner(work: Path, width: int = 1) -> Iterator[Runner]:
    """Provide the runner of one command; on a terminal it shows the progress.

    Its finished units stay under the work folder until the command ends.
    """
    from rich.console import Console

    from ragweave.evals.runner import Runner

    err = Console(stderr=True, highlight=False, markup=False)
    with err.status("Starting ...") if err.is_terminal else contextlib.nullcontext() as status:

        def show(name: str, done: int, total: int) -> None:
            if status is not None:
                status.update(f"{name}: {done} of {total}")

        made = Runner(work.resolve() / "runs", width, show)
        yield made
    made.close()


def writable(out: Path) -> Path:
    """Check before long work that a file can be written, and return it.

    Raises:
        InputError: it cannot be.
    """
    from ragweave.models.errors import InputError

    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("ab") if out.exists() else tempfile.TemporaryFile(dir=out.parent):
            return out
    except OSError as error:
        raise InputError(f"{out} cannot be written ({error.strerror})", "name another file") from error


def call(work: Callable[..., T], *args: Any, **options: Any) -> T:
    """Run long work; if the user stops it, say that the next run continues it."""
    try:
        return work(*args, **options)
    except KeyboardInterrupt:
        typer.echo("Stopped. Give the same command again to continue.", err=True)
        raise typer.Exit(130) from None


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end."""
    return call(lambda: asyncio.run(work))
