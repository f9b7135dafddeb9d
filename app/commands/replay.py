"""`ragweave replay`: go back to a step of a saved run and on from there, with LangGraph's own time travel."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragweave.app.commands.common import EXIT_ABSTAINED, JsonOption
from ragweave.app.commands.options import SaveOption, Set, TraceOption
from ragweave.app.console_stream import answer_aloud
from ragweave.corpora.store.temporary import temporary
from ragweave.models.errors import InputError

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    from ragweave.components.context import Context

RUN = "run"
"""Name of the one thread in the file of a saved run."""
THREAD: Any = {"configurable": {"thread_id": RUN}}
_REMEDY = "give a file written by: ragweave ask --save"


def replay(
    run: Annotated[Path, typer.Argument(help="A run kept by `ragweave ask --save`.")],
    from_: Annotated[
        str | None, typer.Option("--from", metavar="STEP", help="Do this step and all after it anew; default: all.")
    ] = None,
    set_: Set = None,
    trace: TraceOption = "",
    save: SaveOption = None,
    as_json: JsonOption = False,
) -> None:
    """Go back in a saved run, and on from there with other knobs.

    Exit code 3 when the run ends without an answer.
    """
    from ragweave.app.threads import new_file, opened
    from ragweave.graphs.settings import with_settings

    try:
        kept = run.read_bytes()
    except OSError as error:
        raise InputError(f"{run} cannot be read ({error.strerror})", _REMEDY) from None
    if not kept.startswith(b"SQLite format 3\0"):
        raise InputError(f"{run} is not a saved run", _REMEDY)
    with temporary() as folder, new_file(save or folder / "run") as path:
        # What is done anew is written into a copy: the saved run stays as it is.
        path.write_bytes(kept)
        with opened(path) as (runner, saver):
            graph, knobs, said = runner.run(_saved(run, saver))
            context = with_settings(knobs, set_)
            answer = answer_aloud(
                lambda resume: _again(graph, context, from_ or "condense", resume),
                trace=trace,
                quiet=as_json,
                runner=runner.run,
            )
    if as_json:
        typer.echo(answer.model_dump_json(indent=2))
    else:
        typer.echo(f"\nThe answer is{'' if answer.text == said else ' not'} the saved one.")
    if answer.abstained:
        raise typer.Exit(EXIT_ABSTAINED)


async def _saved(file: Path, saver: AsyncSqliteSaver) -> tuple[Any, dict[str, Any], str]:
    """Return the graph of a run that `ask --save` kept, the knobs it was asked with, and its answer."""
    from ragweave.graphs.run import build_agent

    kept = await saver.aget_tuple(THREAD)
    if kept is None or "context" not in kept.metadata:
        raise InputError(f"{file} is not a saved run", _REMEDY)
    known: Any = kept.metadata
    graph = build_agent(known["graph"], checkpointer=saver)
    answer = (await graph.aget_state(THREAD)).values.get("answer")
    return graph, json.loads(known["context"]), answer.text if answer else ""


async def _again(graph: Any, context: Context, start: str, resume: bool | None) -> AsyncGenerator[dict[str, Any], None]:
    """Yield the events from the first time of a step on."""
    from langgraph.types import Command

    from ragweave.graphs.run import before_step, follow

    at = await before_step(graph, THREAD, start) if resume is None else THREAD
    sent: Any = None if resume is None else Command(resume=resume)
    kept = {"graph": str(graph.name), "context": context.model_dump_json(exclude_unset=True)}
    async for event in follow(graph, sent, {**at, "metadata": kept}, context):
        yield event
