"""`ragweave synthesize`: conversations that teach a model to iterate, from questions with gold answers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragweave.evals.commands.common import run

if TYPE_CHECKING:
    from ragweave.evals.synthesis_job import SynthesisReport


GoldQuestions = Annotated[Path, typer.Argument(help="JSON Lines of questions with gold answers.")]
Conversations = Annotated[Path, typer.Argument(help="JSON Lines of conversations that is written.")]
LibraryName = Annotated[
    str | None,
    typer.Option("--library", "-l", metavar="NAME", help="Library; default: that of RAGWEAVE_LIBRARY."),
]
Rounds = Annotated[int, typer.Option("--rounds", min=1, max=20, help="Most rounds of retrieval.")]
Passages = Annotated[int, typer.Option("--passages", min=1, max=20, help="Documents per round.")]
Candidates = Annotated[int, typer.Option("--candidates", min=1, max=10, help="Queries written per round.")]
Width = Annotated[int, typer.Option("--width", min=1, max=64, help="Questions walked at the same time.")]
Limit = Annotated[int, typer.Option("--limit", min=0, help="Questions at most; 0 means all.")]
MaxCalls = Annotated[int, typer.Option("--max-calls", min=-1, help="Model calls at most; -1: no limit.")]
MaxCost = Annotated[float, typer.Option("--max-cost", min=0, help="Money at most; 0: no limit.")]


def synthesize(
    questions: GoldQuestions,
    out: Conversations,
    library: LibraryName = None,
    rounds: Rounds = 5,
    passages: Passages = 3,
    candidates: Candidates = 4,
    width: Width = 4,
    limit: Limit = 0,
    max_calls: MaxCalls = -1,
    max_cost: MaxCost = 0.0,
) -> None:
    """Write conversations from which a model learns to iterate (docs/checkpoints.md).

    The configured chat model is the teacher. A stopped run continues if the same command is given again.
    """
    from ragweave.components.run_settings import run_settings
    from ragweave.evals.synthesis_job import SynthesisJob
    from ragweave.evals.synthesis_job import synthesize as work
    from ragweave.evals.synthesize import SynthesisSettings
    from ragweave.models.meter import Limits

    job = SynthesisJob(
        questions.expanduser(),
        out.expanduser().resolve(),
        library or run_settings().library,
        SynthesisSettings(rounds, passages, candidates),
        width,
        limit,
        Limits(calls=max_calls, cost=max_cost),
    )

    def show(done: int, of: int) -> None:
        if sys.stderr.isatty():
            typer.echo(f"\r{done} of {of} questions", nl=done == of, err=True)

    report = run(work(job, show))
    for line in report_lines(report, job.out):
        typer.echo(line)


def report_lines(report: SynthesisReport, out: Path) -> list[str]:
    """Return the report in words."""
    lines = [
        f"{report['kept']} of {report['questions']} questions kept; by rounds:"
        f" {report['hops_of_kept'] or 'none'}."
    ]
    for why, count in report["dropped"].items():
        lines.append(f"  dropped {count}: {why}")
    for why, count in report["failed"].items():
        lines.append(f"  failed {count}: {why}")
    if report["ended_by"]:
        lines.append(f"The limit of {report['ended_by']} ended the run; {report['left']} questions are left.")
    lines.append(
        f"{report['model_calls']} model calls, {report['tokens']} tokens, {report['seconds']:.0f} s."
    )
    return [*lines, f"{out} and {out.name}.report.json"]
