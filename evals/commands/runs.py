"""`ragweave eval judge`: answers compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragweave.evals.commands.common import WORK, JsonOut, Work, report, run, runner

if TYPE_CHECKING:
    from ragweave.evals.judge import Case, Judged, Protocol
    from ragweave.models.chat import Chat


AnswersA = Annotated[
    Path, typer.Argument(help="Answers to judge: id, question, answer (`eval answers --out`).")
]
AnswersB = Annotated[Path, typer.Argument(help="Answers of the other system, the baseline.")]
ProtocolName = Annotated[str, typer.Option("--protocol", help="pairs, or scores from 1 to 5.")]
Times = Annotated[int, typer.Option("--runs", min=1, max=20, help="Times each verdict is asked for.")]
Control = Annotated[bool, typer.Option("--control/--no-control", help="Judge B against itself as well.")]
Limit = Annotated[int, typer.Option("--limit", min=0, help="Questions; 0 means all.")]
Width = Annotated[int, typer.Option("--width", min=1, max=64, help="Questions at the same time.")]
HABIT = "Control: B against itself"


def judge(
    a: AnswersA,
    b: AnswersB,
    protocol: ProtocolName = "pairs",
    runs: Times = 1,
    control: Control = True,
    limit: Limit = 0,
    width: Width = 4,
    work: Work = WORK,
    json_out: JsonOut = None,
) -> None:
    """Let the configured chat model judge answers against a baseline: five criteria, and overall."""
    from ragweave.evals import judge as judges
    from ragweave.evals.data import sample
    from ragweave.models.meter import Meter

    kind = _protocol(protocol)
    cases = sample(judges.read_cases(a, b), limit)
    model = _model()
    meter = Meter()
    flat = _words(cases)
    compared = {f"A ({a.name}) against B ({b.name})": cases}
    if control:
        compared[HABIT] = judges.control(cases)

    async def measure() -> dict[str, list[judges.Judged]]:
        out = {}
        with runner(work, width) as made:
            for name, of_name in compared.items():
                out[name] = await judges.judge(
                    of_name, model, kind, runs=runs, meter=meter, runner=made, name=name
                )
        return out

    for title, found in run(measure()).items():
        _print_verdicts(title, found, kind)
        flat |= judges.flat(found, kind, "control_" if title == HABIT else "")
    flat["model_calls"] = meter.spent.calls
    report(flat, json_out)


def _protocol(name: str) -> Protocol:
    """Return the protocol of a name.

    Raises:
        InputError: there is no such protocol.
    """
    from ragweave.models.errors import InputError

    if name == "pairs":
        return "pairs"
    if name == "scores":
        return "scores"
    raise InputError(f"there is no protocol {name!r}", "use pairs or scores")


def _model() -> Chat:
    """Return the chat model that judges.

    Raises:
        ModelError: no model is configured.
    """
    from ragweave.models.chat import chat
    from ragweave.models.errors import ModelError

    model = chat("judge")
    if model is None:
        raise ModelError(
            "judging needs a chat model, and none is configured", "set RAGWEAVE_CHAT (see docs/writer.md)"
        )
    return model


def _words(cases: Sequence[Case]) -> dict[str, float]:
    """Return the mean number of words of the answers of each system."""
    from ragweave.evals.judge import mean_words

    words_a = mean_words([case.a for case in cases])
    words_b = mean_words([case.b for case in cases])
    return {"words_a": round(words_a, 1), "words_b": round(words_b, 1)}


def _print_verdicts(title: str, found: list[Judged], kind: Protocol) -> None:
    """Print the table of the verdicts, and one for each kind of question."""
    from ragweave.evals import judge as judges
    from ragweave.evals.report import table

    for name, group in {"": found, **judges.by_kind(found)}.items():
        heading = f"{title}, {name}" if name else title
        rows = judges.rows_of(group, kind)
        typer.echo(f"{heading}: {len(group)} questions\n{table(judges.columns(kind), rows)}\n")
