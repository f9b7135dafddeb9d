"""`ragweave replay`: go back to a step of a saved run and on from there, with LangGraph's own time travel."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragweave.app.aloud import answer_aloud
from ragweave.app.commands.common import EXIT_ABSTAINED, JsonOption
from ragweave.app.commands.options import SaveOption, Set, TraceOption
from ragweave.models.errors import InputError

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    from ragweave.minds.context import Context

RUN = "run"
"""Name of the one thread in the file of a saved run."""
THREAD: Any = {"configurable": {"thread_id": RUN}}
_REMEDY = "give a file written by: ragweave ask --save"
LEFT_OUT: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "grade": lambda state: {
        "grade": {"hop": state["hop"], "action": "correct", "best": 1.0, "upper": -1.0, "lower": -1.0, "by": "off"}
    },
    "refine": lambda state: {"knowledge": _whole(state)},
    "reason": lambda state: {"then": "generate", "enough": True},
}
"""Steps that can be left out, and what the state gets instead: all is correct, items stay whole, one round."""


def replay(
    run: Annotated[Path, typer.Argument(help="A run kept by `ragweave ask --save`.")],
    from_: Annotated[
        str | None, typer.Option("--from", metavar="STEP", help="Do this step and all after it anew; default: all.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option("--without", metavar="STEP", help="Leave out grade, refine or reason.")
    ] = None,
    set_: Set = None,
    trace: TraceOption = "",
    save: SaveOption = None,
    as_json: JsonOption = False,
) -> None:
    """Go back in a saved run, and on from there with other knobs or without a step.

    Exit code 3 when the run ends without an answer.
    """
    from ragweave.app.threads import new_file, opened
    from ragweave.graphs.settings import with_settings

    off = tuple(without or ())
    for name in off:
        if name not in LEFT_OUT:
            raise InputError(f"the step {name!r} cannot be left out", f"use one of: {', '.join(LEFT_OUT)}")
    try:
        kept = run.read_bytes()
    except OSError as error:
        raise InputError(f"{run} cannot be read ({error.strerror})", _REMEDY) from None
    if not kept.startswith(b"SQLite format 3\0"):
        raise InputError(f"{run} is not a saved run", _REMEDY)
    with tempfile.TemporaryDirectory() as folder, new_file(save or Path(folder) / "run") as path:
        # What is done anew is written into a copy: the saved run stays as it is.
        path.write_bytes(kept)
        with opened(path) as (runner, saver):
            past = runner.run(_Past.of(run, saver))
            context = with_settings(past.knobs, set_)
            answer = answer_aloud(
                lambda resume: past.again(context, from_ or (off[0] if off else "condense"), off, resume),
                trace=trace,
                quiet=as_json,
                runner=runner.run,
            )
    if as_json:
        typer.echo(answer.model_dump_json(indent=2))
    else:
        left = f"Without {', '.join(off)}. " if off else ""
        typer.echo(f"\n{left}The answer is{'' if answer.text == past.answer else ' not'} the saved one.")
    if answer.abstained:
        raise typer.Exit(EXIT_ABSTAINED)


class _Past:
    """A saved run: its graph, the knobs it was asked with, and its answer."""

    def __init__(self, graph: Any, knobs: dict[str, Any], answer: str) -> None:
        self.graph, self.knobs, self.answer = graph, knobs, answer

    @classmethod
    async def of(cls, file: Path, saver: AsyncSqliteSaver) -> _Past:
        """Read what `ask --save` kept, or raise an InputError that says why it cannot be read."""
        from ragweave.graphs.run import build_agent

        kept = await saver.aget_tuple(THREAD)
        if kept is None or "context" not in kept.metadata:
            raise InputError(f"{file} is not a saved run", _REMEDY)
        known: Any = kept.metadata
        graph = build_agent(known["graph"], checkpointer=saver)
        answer = (await graph.aget_state(THREAD)).values.get("answer")
        return cls(graph, json.loads(known["context"]), answer.text if answer else "")

    async def again(
        self, context: Context, start: str, off: tuple[str, ...], resume: bool | None
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the events from the first time of a step on; at a step that is left out the run stops and goes past."""
        from langgraph.types import Command

        from ragweave.graphs.run import follow

        at = await self._before(start) if resume is None else THREAD
        sent: Any = None if resume is None else Command(resume=resume)
        kept = {"graph": str(self.graph.name), "context": context.model_dump_json(exclude_unset=True)}
        end: dict[str, Any] = {}
        while True:
            at = await self._past(at, off, context)
            async for event in follow(self.graph, sent, {**at, "metadata": kept}, context, interrupt_before=list(off)):
                if event["type"] == "state":
                    end = event
                else:
                    yield event
            at, sent = THREAD, None
            if not set((await self.graph.aget_state(at)).next) & set(off):
                yield end
                return

    async def _before(self, step: str) -> Any:
        past = [s async for s in self.graph.aget_state_history(THREAD)][::-1]
        for snapshot in past:
            if step in snapshot.next:
                return snapshot.config
        done = ", ".join(dict.fromkeys(n for s in past for n in s.next if not n.startswith("__")))
        raise InputError(f"this run has no step {step!r}", f"use one of: {done}")

    async def _past(self, at: Any, off: tuple[str, ...], context: Context) -> Any:
        from langgraph.runtime import Runtime

        while left := set((state := await self.graph.aget_state(at)).next) & set(off):
            name = min(left)
            # What decides where the run goes on reads the knobs from here.
            place = {**at["configurable"], "__pregel_runtime": Runtime(context=context)}
            at = await self.graph.aupdate_state({"configurable": place}, LEFT_OUT[name](state.values), as_node=name)
            at["configurable"].pop("__pregel_runtime", None)
        return at


def _whole(state: Mapping[str, Any]) -> list[Any]:
    """Return what was graded, item by item, as the strips that the writer reads."""
    from ragweave.minds.passages import as_strip

    lower = (state.get("grade") or {}).get("lower", -1.0)
    rows = {e["id"]: e for e in state.get("evidence", [])}
    found = [rows[i] for i in state.get("candidates", []) if i in rows]
    return [as_strip(e) for e in found if e["relevance"] >= lower]
