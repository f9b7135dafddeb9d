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


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know; `-` reads it from standard input.")],
    library: common.LibraryOption = None,
    mode: given.ModeOption = None,
    web: given.WebOption = None,
    top_k: given.TopK = None,
    length: given.Length = None,
    sentences: Annotated[
        int | None, typer.Option("--sentences", help="Longest answer of a chat model, in sentences.")
    ] = None,
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
    film: Annotated[
        Path | None,
        typer.Option("--film", metavar="FILE", help="Write the cited moments as one film (.mp4)."),
    ] = None,
    as_json: common.JsonOption = False,
) -> None:
    """Answer a question with numbered citations; without a chat model, quote the closest passages.

    Exit code 3 when nothing was found that answers it.
    """
    longest = given.sentences_of(length) if sentences is None else sentences
    knobs = {
        "effort": effort,
        "preset": preset,
        "mode": mode,
        "web": web,
        "top_k": top_k,
        "sentences": longest,
    }
    knobs |= given.limits(strict, max_calls, max_cost, max_seconds)
    context = given.build_context(library, set_, **knobs, **given.scope(source, folder, from_, to))
    asked = given.read_question(question)
    if film is not None:
        from ragweave.corpora.video.film import ready

        film = film.expanduser().absolute()
        ready(film, ".mp4")
    options: dict[str, Any] = {"context": context, "graph": given.graph_of(graph, context)}
    if context.web == "ask" and sys.stdin.isatty():
        # Without a saver a run cannot wait for consent; it is asked only of a person here.
        from langgraph.checkpoint.memory import InMemorySaver

        options |= {"checkpointer": InMemorySaver(), "thread": "run"}
    answer = print_run(
        lambda resume: api.astream(asked, resume=resume, **options), trace=trace, quiet=as_json
    )
    if as_json:
        typer.echo(answer.model_dump_json(indent=2))
    if answer.abstained:
        raise typer.Exit(common.EXIT_ABSTAINED)
    if film is not None:
        write_film(answer, film)


def write_film(answer: Answer, to: Path) -> None:
    """Write the moments of recordings that an answer cites as one film, and say what it lacks."""
    from ragweave.corpora.video.film import make_film, moments_of
    from ragweave.models.text import clock

    moments = moments_of(citation.locator for citation in answer.citations)
    seconds, notes = make_film(moments, to)
    for note in notes:
        typer.echo(note, err=True)
    typer.echo(f"Wrote {to}: {counted(len(moments), 'moment')}, {clock(seconds)}", err=True)
