"""`ragweave ask --save` and `ragweave replay`: a run with all its steps, kept and done again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragweave.app.commands.ask import SaveOption, Set, TraceOption, answer_aloud, with_settings
from ragweave.app.commands.common import EXIT_ABSTAINED, JsonOption

if TYPE_CHECKING:
    from ragweave.evals.replay import Recorder
    from ragweave.graphs.base import Wrap
    from ragweave.minds.context import Context
    from ragweave.nodes.answer import Answer


def replay(
    run: Annotated[Path, typer.Argument(help="A run kept by `ragweave ask --save`.")],
    without: Annotated[
        list[str] | None,
        typer.Option("--without", metavar="NODE", help="Leave out route, expand, fuse, grade, refine or reason."),
    ] = None,
    set_: Set = None,
    trace: TraceOption = False,
    save: SaveOption = None,
    as_json: JsonOption = False,
) -> None:
    """Do a saved run again from its stored steps; what a change touches is done anew.

    Exit code 3 when the run ends without an answer.
    """
    from ragweave.evals.off import check_off
    from ragweave.evals.off import without as leave_out
    from ragweave.evals.replay import Player, Saved, both

    saved = Saved.read(run)
    off = check_off(without or [])
    context = with_settings(saved.context, set_)
    player = Player(saved)
    wrap: Wrap = both(leave_out(off), player.wrap) if off else player.wrap
    options: dict[str, Any] = {"graph": saved.graph, "trace": trace, "quiet": as_json}
    if save is None:
        answer = answer_aloud(saved.question, context, wrap=wrap, **options)
    else:
        answer = answer_and_save(saved.question, context, save, wrap=wrap, **options)
    if as_json:
        typer.echo(answer.model_dump_json(indent=2))
    else:
        same = answer.text == str(saved.answer.get("text", ""))
        left = f"Without {', '.join(off)}. " if off else ""
        typer.echo(f"\n{left}{player.told()}. {'The answer is' if same else 'The answer is not'} the saved one.")
    if answer.abstained:
        raise typer.Exit(EXIT_ABSTAINED)


def answer_and_save(
    question: str, context: Context, path: Path, *, graph: str | None = None, wrap: Wrap | None = None, **options: Any
) -> Answer:
    """Ask as `answer_aloud` does, and keep every step of the run in a file."""
    from ragweave.evals.replay import Recorder, Saved, both
    from ragweave.graphs.settings import run_settings

    recorder: Recorder = Recorder()
    graph = graph or run_settings().graph
    recording: Wrap = both(recorder.wrap, wrap) if wrap else recorder.wrap
    answer = answer_aloud(question, context, graph=graph, wrap=recording, **options)
    Saved(
        question=question,
        graph=graph,
        context=context.model_dump(mode="json", exclude_unset=True),
        steps=recorder.steps,
        answer=answer.model_dump(mode="json"),
    ).write(path)
    return answer
