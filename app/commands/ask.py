"""`ragweave ask`: an answer with numbered citations, or quotes of the closest passages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragweave.app import api
from ragweave.app.commands import common
from ragweave.app.commands import options as given
from ragweave.app.console_stream import print_run
from ragweave.app.render import counted

if TYPE_CHECKING:
    from ragweave.components.answer import Answer
    from ragweave.components.context import Context


Question = Annotated[str, typer.Argument(help="What you want to know; `-` reads it from standard input.")]
Sentences = Annotated[
    int | None, typer.Option("--sentences", help="Longest answer of a chat model, in sentences.")
]
Film = Annotated[
    Path | None, typer.Option("--film", metavar="FILE", help="Write the cited moments as one film (.mp4).")
]


def ask(
    question: Question,
    library: common.LibraryOption = None,
    mode: given.ModeOption = None,
    web: given.WebOption = None,
    top_k: given.TopK = None,
    length: given.Length = None,
    sentences: Sentences = None,
    source: given.Source = None,
    folder: given.Folder = None,
    from_: given.From = None,
    to: given.To = None,
    effort: given.EffortOption = None,
    preset: given.PresetOption = None,
    strict: given.Strict = None,
    max_calls: given.MaxCalls = None,
    max_cost: given.MaxCost = None,
    max_seconds: given.MaxSeconds = None,
    set_: given.Set = None,
    graph: given.GraphOption = None,
    trace: given.TraceOption = "",
    film: Film = None,
    as_json: common.JsonOption = False,
) -> None:
    """Answer a question with numbered citations; without a chat model, quote the closest passages.

    Exit code 3 if nothing was found that answers it.
    """
    if sentences is None:
        sentences = given.sentences_of(length)
    knobs = {"effort": effort, "preset": preset, "mode": mode, "web": web, "top_k": top_k}
    knobs |= given.limits(strict, max_calls, max_cost, max_seconds)
    knobs |= given.scope(source, folder, from_, to)
    context = given.build_context(library, set_, sentences=sentences, **knobs)
    film = _checked_film(film)
    answer = _answer(given.read_question(question), _run_options(context, graph), trace, as_json=as_json)
    if answer.abstained:
        raise typer.Exit(common.EXIT_ABSTAINED)
    if film is not None:
        write_film(answer, film)


def _answer(question: str, options: dict[str, Any], trace: str, *, as_json: bool) -> Answer:
    """Run the question, and print the answer as text or as JSON."""
    answer = print_run(
        lambda resume: api.astream(question, resume=resume, **options), trace=trace, quiet=as_json
    )
    if as_json:
        typer.echo(answer.model_dump_json(indent=2))
    return answer


def _checked_film(film: Path | None) -> Path | None:
    """Return the absolute path of the film, after a check that it can be written."""
    if film is None:
        return None
    from ragweave.corpora.video.film import ready

    film = film.expanduser().absolute()
    ready(film, ".mp4")
    return film


def _run_options(context: Context, graph: str | None) -> dict[str, Any]:
    """Return the options of the run other than its question."""
    options: dict[str, Any] = {"context": context, "graph": given.graph_of(graph, context)}
    if context.web == "ask" and sys.stdin.isatty():
        # Only a run with a saver can wait for consent, and only a terminal can give it.
        from langgraph.checkpoint.memory import InMemorySaver

        options |= {"checkpointer": InMemorySaver(), "thread": "run"}
    return options


def write_film(answer: Answer, to: Path) -> None:
    """Write the cited moments of recordings as one film, and print what it lacks."""
    from ragweave.corpora.video.film import make_film, moments_of
    from ragweave.models.text import clock

    moments = moments_of([citation.locator for citation in answer.citations])
    seconds, notes = make_film(moments, to)
    for note in notes:
        typer.echo(note, err=True)
    typer.echo(f"Wrote {to}: {counted(len(moments), 'moment')}, {clock(seconds)}", err=True)
