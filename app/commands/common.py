"""What the commands share: consoles, exit codes, the log, running a coroutine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import shlex
import sys
from collections.abc import Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ragweave.models.errors import InputError, RagweaveError

EXIT_UNEXPECTED = 1
EXIT_ERROR = 2
EXIT_ABSTAINED = 3
EXIT_STOPPED = 130

T = TypeVar("T")
logger = logging.getLogger("ragweave")

LibraryOption = Annotated[
    str | None,
    typer.Option("--library", "-l", metavar="NAME", help="Library; default: that of RAGWEAVE_LIBRARY."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


class _HomeLog(logging.FileHandler):
    """Writes to `ragweave.log` in the home; the first record creates both."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; if the home cannot be written to, drop the record and continue."""
        with contextlib.suppress(OSError, ValueError):
            Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:
        """Ignore the error: a lost log record must not disturb the output of the command."""


def log_file() -> Path:
    """Return the path of the log."""
    from ragweave.corpora.settings import corpora_settings

    return corpora_settings().home / "ragweave.log"


def set_up_logging(debug: bool) -> None:
    """Log warnings to the file in the home; with `debug`, log all of Ragweave to stderr as well."""
    root = logging.getLogger()
    for handler in root.handlers.copy():
        if handler.get_name() in ("ragweave-home", "ragweave-debug"):
            root.removeHandler(handler)
            handler.close()
    with contextlib.suppress(OSError, ValueError):
        home = _HomeLog(log_file(), encoding="utf-8", delay=True)
        home.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        home.set_name("ragweave-home")
        root.addHandler(home)
    logger.setLevel(logging.DEBUG if debug else logging.WARNING)
    if debug:
        terminal = logging.StreamHandler(sys.stderr)
        terminal.set_name("ragweave-debug")
        terminal.setFormatter(logging.Formatter("%(relativeCreated)7d ms %(name)s: %(message)s"))
        root.addHandler(terminal)


def debugging() -> bool:
    """Return whether the command runs with `--debug`."""
    return logger.isEnabledFor(logging.DEBUG)


def complain(problem: str | RagweaveError) -> None:
    """Print a problem in one line on stderr; join an error and its remedy into one sentence."""
    if not isinstance(problem, str):
        problem = "; ".join(filter(None, (problem.what, problem.remedy))) + "."
    typer.echo(f"error: {' '.join(problem.split())}", err=True)


def unexpected(error: Exception) -> str:
    """Log an unexpected error, and return a message that says where its traceback is."""
    logger.error("unexpected error", exc_info=error)
    what = f"something unexpected went wrong ({type(error).__name__}: {str(error)[:200]})"
    if debugging():
        return f"{what}."
    return f"{what}. The traceback is in {log_file()}; `ragweave --debug ...` shows it at once."


def console(*, stderr: bool = False) -> Console:
    """Return a console that prints text as it is, because documents may contain markup."""
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def waiting(words: str) -> contextlib.AbstractContextManager[object]:
    """Show a message with a spinner on a terminal until the context ends."""
    err = console(stderr=True)
    return err.status(words) if err.is_terminal else contextlib.nullcontext()


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str | Text]], right: Sequence[str] = ()
) -> None:
    """Print a table without lines; only columns with long cells are wrapped.

    Args:
        columns: names for the header; if all are empty, there is no header.
        rows: at least one row of cells; the caller has removed control characters.
        right: names of the columns that are aligned to the right.
    """
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", show_header=any(columns))
    rows = list(rows)
    for name, cells in zip(columns, zip(*rows, strict=True), strict=True):
        short = all(len(cell) <= 24 for cell in cells)
        table.add_column(name, justify="right" if name in right else "left", no_wrap=short)
    for row in rows:
        table.add_row(*row)
    console().print(table)


class Stopped(Exception):
    """The user stopped the command; the message says what was kept and how to continue."""


def run(work: Coroutine[Any, Any, T], stopped: str = "") -> T:
    """Run a coroutine to its end.

    Raises:
        Stopped: the user pressed Ctrl-C; its message is `stopped`.
    """
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        raise Stopped(stopped) from None


def confirm(question: str, yes: bool) -> None:
    """Ask before something is deleted, unless `yes`; the answer no ends the command."""
    if not yes and not typer.confirm(question):
        raise typer.Exit


def one_of(found: Sequence[T], wanted: str, what: str, command: str) -> T:
    """Return the only match.

    Raises:
        InputError: there is none, or more than one; the remedy names the command that lists them.
    """
    if len(found) == 1:
        return found[0]
    how = f"no {what} is" if not found else f"more than one {what} are"
    raise InputError(f"{how} named {wanted!r}", f"`{command}` lists them; give more of the id")


def fill_it(library: str) -> str:
    """Return the message about an empty library, with the command that fills it."""
    name = "" if library == "default" else f" --library {shlex.quote(library)}"
    return f"Library {library} holds nothing yet; fill it with: ragweave index FOLDER{name}"


def library_name(given: str | None) -> str:
    """Return the given library, or the one of the settings."""
    from ragweave.components.run_settings import run_settings

    return given or run_settings().library


def print_json(value: Any) -> None:
    """Print a value as indented JSON, with letters of every script unescaped."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, default=str))
