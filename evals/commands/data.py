"""`ragweave eval retrieval`, `evaluator` and `answers`: figures on files of your own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragweave.evals.commands.common import (
    WORK,
    Folder,
    Graph,
    JsonOut,
    LibraryName,
    ModeName,
    Set,
    Width,
    Work,
    builder,
    context_of,
    report,
    run,
    runner,
    source,
)
from ragweave.models.errors import InputError

if TYPE_CHECKING:
    from ragweave.components.context import Context
    from ragweave.evals.answers import AnswerVerdict
    from ragweave.evals.commands.common import QuestionSource
    from ragweave.evals.retrieval import Method
    from ragweave.evals.runner import Runner


Passages = Annotated[Path, typer.Option("--corpus", help="JSON Lines with id, title and text.")]
Queries = Annotated[
    Path, typer.Option("--queries", help="JSON Lines with id, question and gold (passage ids).")
]
Qrels = Annotated[Path | None, typer.Option("--qrels", help="Relevant passages, where queries name none.")]
MethodName = Annotated[
    str, typer.Option("--method", help="dense, lexical, rrf, hybrid, fusion, rerank or agent.")
]
Hops = Annotated[int, typer.Option("--hops", min=1, max=10, help="Hops of the agent.")]
CutOffs = Annotated[str, typer.Option("--k", help="Cut-offs, by commas.")]
Limit = Annotated[int, typer.Option("--limit", min=0, help="Queries asked; 0 means all.")]
EvaluatedPairs = Annotated[
    Path, typer.Option("--pairs", help="JSON Lines with qid, question, title, passage and label.")
]
EvaluatorName = Annotated[str, typer.Option("--evaluator", help="local, llm, checkpoint or checkpoint:PATH.")]
Questions = Annotated[Path, typer.Option("--questions", help="JSON Lines with id, question and answers.")]
Show = Annotated[bool, typer.Option("--show", help="Print every question with its answer.")]
AnswersOut = Annotated[
    Path | None,
    typer.Option("--out", metavar="ANSWERS.jsonl", help="Write the answers, for `eval judge`."),
]
CalibrationPairs = Annotated[
    Path | None, typer.Option("--pairs", help="JSON Lines with question, passage and label.")
]
PublicData = Annotated[
    Path | None,
    typer.Option("--data", help="In place of --pairs: what the thresholds that ship do on the public sets."),
]
Precision = Annotated[float, typer.Option("--precision", min=0, max=1, help="Wanted of the upper one.")]
KeptShare = Annotated[
    float, typer.Option("--kept", min=0, max=1, help="Answerable questions the lower one keeps.")
]


def retrieval(
    corpus: Passages,
    queries: Queries,
    qrels: Qrels = None,
    method: MethodName = "rerank",
    hops: Hops = 3,
    k: CutOffs = "5,10",
    limit: Limit = 0,
    width: Width = 1,
    work: Work = WORK,
    json_out: JsonOut = None,
) -> None:
    """Index passages, ask every query, and print recall, all-gold, nDCG and MRR."""
    from ragweave.evals.corpus import prepare, use_home
    from ragweave.evals.data import sample
    from ragweave.evals.retrieval import measure, ranker, read_passages, read_queries

    chosen = _method(method)
    cuts = _cut_offs(k)
    passages, asked = read_passages(corpus), read_queries(queries, qrels)
    use_home(work.resolve() / "home")

    async def measured() -> dict[str, float]:
        prepared = await prepare(passages, corpus.stem, work.resolve())
        rank = ranker(prepared, chosen, hops)
        with runner(work, width) as made:
            of = {"method": method, "hops": hops}
            return (await measure(prepared, sample(asked, limit), rank, cuts, made, of)).mean()

    report(run(measured()), json_out)


def _method(name: str) -> Method:
    """Return the method of a name.

    Raises:
        InputError: there is no such method.
    """
    from ragweave.evals.retrieval import METHODS

    for method in METHODS:
        if method == name:
            return method
    raise InputError(f"there is no method “{name}”", f"use one of: {', '.join(METHODS)}")


def _cut_offs(k: str) -> list[int]:
    """Return the numbers of a list with commas.

    Raises:
        InputError: the list has something else.
    """
    try:
        return [int(part) for part in k.split(",")]
    except ValueError as error:
        raise InputError(f"--k {k} is not a list of numbers", "write it like 5,10") from error


def evaluator(
    pairs: EvaluatedPairs,
    evaluator: EvaluatorName = "local",
    width: Width = 1,
    work: Work = WORK,
    json_out: JsonOut = None,
) -> None:
    """Score labelled pairs and print auc, average_precision, ece and ms_per_pair."""
    from ragweave.evals.pairs import measure, read_pairs, scorer
    from ragweave.models.settings import model_settings

    made, asked = scorer(evaluator), read_pairs(pairs)
    with runner(work, width) as does:
        found = run(measure(asked, made, does, {"evaluator": evaluator, "model": model_settings().chat}))
    report(found.figures(), json_out)


def answers(
    questions: Questions,
    folder: Folder = None,
    library: LibraryName = "",
    graph: Graph = "agent",
    mode: ModeName = "auto",
    set_: Set = None,
    width: Width = 2,
    work: Work = WORK,
    show: Show = False,
    out: AnswersOut = None,
    json_out: JsonOut = None,
) -> None:
    """Ask questions and print answered_correct, answered_wrong, quoted and abstained together, also per kind.

    A stopped run continues if the same command is given again.
    """
    from ragweave.evals.answers import figures, write_answers

    build = builder(graph)
    asked = source(questions, folder, library, work)

    context = context_of(asked.library, mode, set_)

    async def measure() -> list[AnswerVerdict]:
        with runner(work, width) as made:
            return await _ask(build, asked, context, made, graph)

    outcomes = run(measure())
    if out:
        write_answers(out, outcomes)
        typer.echo(f"Answers: {out}")
    scored = _scored(outcomes)
    if outcomes and not scored:
        return
    if show:
        for outcome in scored:
            typer.echo(f"{outcome.verdict:>9}  {outcome.question.text}\n           {outcome.answer.text}")
    _print_kinds(scored)
    report(figures(scored), json_out)


def _print_kinds(scored: Sequence[AnswerVerdict]) -> None:
    """Print the figures of each kind of question, if there are kinds."""
    from ragweave.evals.answers import by_kind
    from ragweave.evals.report import of_rows

    kinds = by_kind(scored)
    if kinds:
        typer.echo(of_rows(kinds) + "\n")


async def _ask(
    build: Callable[[], Any], asked: QuestionSource, context: Context, made: Runner, name: str
) -> list[AnswerVerdict]:
    """Put the questions to a graph; the state of the library is part of what the outcomes depend on."""
    from ragweave.corpora.store.library import open_library
    from ragweave.evals.answers import ask_all

    library = await open_library(context.library)
    of = {"library": asdict(await library.about())}
    name_of = asked.name_of
    return await ask_all(build, asked.questions, context, name_of=name_of, runner=made, name=name, of=of)


def _scored(outcomes: Sequence[AnswerVerdict]) -> list[AnswerVerdict]:
    """Return the outcomes of questions with gold answers; print how many have none."""
    scored = []
    for outcome in outcomes:
        if outcome.question.scored:
            scored.append(outcome)
    without_gold = len(outcomes) - len(scored)
    if without_gold:
        typer.echo(f"{without_gold} questions have no gold answers; they were asked and are not scored.")
    return scored


def thresholds(
    pairs: CalibrationPairs = None,
    data: PublicData = None,
    evaluator: EvaluatorName = "local",
    precision: Precision = 0.9,
    kept: KeptShare = 0.98,
    json_out: JsonOut = None,
) -> None:
    """Calibrate an evaluator's two thresholds on labelled pairs, or show what those that ship do."""
    if (pairs is None) == (data is None):
        raise InputError("thresholds need one source of questions", "give --pairs FILE or --data DATA")
    if pairs is None:
        assert data is not None
        return _shipped(data, precision, kept, json_out)
    from ragweave.evals import thresholds as calibration
    from ragweave.evals.pairs import read_pairs, scorer

    made, asked = scorer(evaluator), read_pairs(pairs)
    present, absent = run(calibration.best_scores(asked, made(asked)))
    found = calibration.calibrate(present, absent, precision, kept)
    flat: dict[str, float] = {"questions": found.questions, "upper": found.upper, "lower": found.lower}
    for name, at in (("upper", found.at(found.upper)), ("lower", found.at(found.lower))):
        flat |= {
            f"present_at_{name}": at.present,
            f"absent_at_{name}": at.absent,
            f"precision_at_{name}": at.precision,
        }
    rounded = {}
    for name, value in flat.items():
        rounded[name] = round(value, 4)
    report(rounded, json_out)


def _shipped(data: Path, precision: float, kept: float, json_out: Path | None) -> None:
    """Print what the thresholds of the relevance head do on the public sets."""
    from ragweave.evals import head_thresholds as head
    from ragweave.evals.report import write_json

    rows = run(head.measure(data, precision, kept))
    upper, lower = head.SHIPPED
    typer.echo(f"The relevance head grades with {upper:+.2f} and {lower:+.2f}.")
    typer.echo(
        f"The rule: precision {precision:g} at the upper one,"
        f" {kept:g} of what can be answered above the lower."
    )
    typer.echo("Shares of correct / ambiguous / incorrect under the two that ship:\n")
    typer.echo(head.table(rows))
    if json_out:
        write_json(json_out, head.flat(rows))
