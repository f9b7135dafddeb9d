"""`ragweave eval judge`: answers compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragweave.evals.commands.common import WORK, JsonOut, Work, report, run, runner


def judge(
    a: Annotated[Path, typer.Argument(help="Answers to judge: id, question, answer (`eval answers --out`).")],
    b: Annotated[Path, typer.Argument(help="Answers of the other system, the baseline.")],
    protocol: Annotated[str, typer.Option("--protocol", help="pairs, or scores from 1 to 5.")] = "pairs",
    runs: Annotated[int, typer.Option("--runs", min=1, max=20, help="Times each verdict is asked for.")] = 1,
    control: Annotated[
        bool, typer.Option("--control/--no-control", help="Judge B against itself as well.")
    ] = True,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Questions; 0 means all.")] = 0,
    width: Annotated[int, typer.Option("--width", min=1, max=64, help="Questions at the same time.")] = 4,
    work: Work = WORK,
    json_out: JsonOut = None,
) -> None:
    """Let the configured chat model judge answers against a baseline: five criteria, and overall."""
    from ragweave.evals import judge as judges
    from ragweave.evals.data import sample
    from ragweave.evals.report import table
    from ragweave.models.chat import chat
    from ragweave.models.errors import InputError, ModelError
    from ragweave.models.meter import Meter

    known: dict[str, judges.Protocol] = {"pairs": "pairs", "scores": "scores"}
    if protocol not in known:
        raise InputError(f"there is no protocol {protocol!r}", "use pairs or scores")
    kind = known[protocol]
    cases = sample(judges.read_cases(a, b), limit)
    model = chat("judge")
    if model is None:
        raise ModelError(
            "judging needs a chat model, and none is configured", "set RAGWEAVE_CHAT (see docs/writer.md)"
        )
    meter = Meter()
    columns = judges.columns(kind)
    flat: dict[str, float] = {
        "words_a": round(judges.mean_words([c.a for c in cases]), 1),
        "words_b": round(judges.mean_words([c.b for c in cases]), 1),
    }
    ours, habit = f"A ({a.name}) against B ({b.name})", "Control: B against itself"

    async def measure() -> dict[str, list[judges.Judged]]:
        with runner(work, width) as made:
            out = {
                ours: await judges.judge(cases, model, kind, runs=runs, meter=meter, runner=made, name=ours)
            }
            if control:
                same = judges.control(cases)
                out[habit] = await judges.judge(
                    same, model, kind, runs=runs, meter=meter, runner=made, name=habit
                )
            return out

    for title, found in run(measure()).items():
        prefix = "control_" if title == habit else ""
        for name, group in {"": found, **judges.by_kind(found)}.items():
            rows = judges.rows_of(group, kind)
            heading = f"{title}, {name}" if name else title
            typer.echo(f"{heading}: {len(group)} questions\n{table(columns, rows)}\n")
        flat |= judges.flat(found, kind, prefix)
    spent = meter.spent
    flat["model_calls"] = spent.calls
    report(flat, json_out)
