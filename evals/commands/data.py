"""`ragweave eval retrieval`, `evaluator` and `answers`: figures on files of your own."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

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


def retrieval(
    corpus: Annotated[Path, typer.Option("--corpus", help="JSON Lines with id, title and text.")],
    queries: Annotated[
        Path, typer.Option("--queries", help="JSON Lines with id, question and gold (passage ids).")
    ],
    qrels: Annotated[
        Path | None, typer.Option("--qrels", help="Relevant passages, where queries name none.")
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help="dense, lexical, rrf, hybrid, fusion, rerank or agent.")
    ] = "rerank",
    hops: Annotated[int, typer.Option("--hops", min=1, max=10, help="Hops of the agent.")] = 3,
    k: Annotated[str, typer.Option("--k", help="Cut-offs, by commas.")] = "5,10",
    limit: Annotated[int, typer.Option("--limit", min=0, help="Queries asked; 0 means all.")] = 0,
    width: Width = 1,
    work: Work = WORK,
    json_out: JsonOut = None,
) -> None:
    """Index passages, ask every query, and print recall, all-gold, nDCG and MRR."""
    from ragweave.evals.corpus import prepare, use_home
    from ragweave.evals.data import sample
    from ragweave.evals.retrieval import METHODS, measure, ranker, read_passages, read_queries
    from ragweave.models.errors import InputError

    chosen = next((m for m in METHODS if m == method), None)
    if chosen is None:
        raise InputError(f"there is no method “{method}”", f"use one of: {', '.join(METHODS)}")
    try:
        cuts = [int(n) for n in k.split(",")]
    except ValueError as error:
        raise InputError(f"--k {k} is not a list of numbers", "write it like 5,10") from error
    passages, asked = read_passages(corpus), read_queries(queries, qrels)
    use_home(work.resolve() / "home")

    async def measured() -> dict[str, float]:
        prepared = await prepare(passages, corpus.stem, work.resolve())
        rank = ranker(prepared, chosen, hops)
        with runner(work, width) as made:
            of = {"method": method, "hops": hops}
            return (await measure(prepared, sample(asked, limit), rank, cuts, made, of)).mean()

    report(run(measured()), json_out)


def evaluator(
    pairs: Annotated[
        Path, typer.Option("--pairs", help="JSON Lines with qid, question, title, passage and label.")
    ],
    evaluator: Annotated[
        str, typer.Option("--evaluator", help="local, llm, checkpoint or checkpoint:PATH.")
    ] = "local",
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
    questions: Annotated[Path, typer.Option("--questions", help="JSON Lines with id, question and answers.")],
    folder: Folder = None,
    library: LibraryName = "",
    graph: Graph = "agent",
    mode: ModeName = "auto",
    set_: Set = None,
    width: Width = 2,
    work: Work = WORK,
    show: Annotated[bool, typer.Option("--show", help="Print every question with its answer.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="ANSWERS.jsonl", help="Write the answers, for `eval judge`."),
    ] = None,
    json_out: JsonOut = None,
) -> None:
    """Ask questions and print answered_correct, answered_wrong, quoted and abstained together, also per kind.

    A stopped run continues if the same command is given again.
    """
    from ragweave.corpora.store.library import open_library
    from ragweave.evals.answers import ask_all, by_kind, figures, write_answers
    from ragweave.evals.report import of_rows

    build = builder(graph)
    asked = source(questions, folder, library, work)

    async def measure() -> list[Any]:
        with runner(work, width) as made:
            context = context_of(asked.library, mode, set_)
            of = {"library": asdict(await (await open_library(context.library)).about())}
            name_of = asked.name_of
            return await ask_all(
                build, asked.questions, context, name_of=name_of, runner=made, name=graph, of=of
            )

    outcomes = run(measure())
    if out:
        write_answers(out, outcomes)
        typer.echo(f"Answers: {out}")
    without_gold = len(outcomes) - sum(o.question.scored for o in outcomes)
    outcomes = [o for o in outcomes if o.question.scored]
    if without_gold:
        typer.echo(f"{without_gold} questions have no gold answers; they were asked and are not scored.")
        if not outcomes:
            return
    if show:
        for o in outcomes:
            typer.echo(f"{o.verdict:>9}  {o.question.text}\n           {o.answer.text}")
    kinds = by_kind(outcomes)
    if kinds:
        typer.echo(of_rows(kinds) + "\n")
    report(figures(outcomes), json_out)


def thresholds(
    pairs: Annotated[
        Path | None, typer.Option("--pairs", help="JSON Lines with question, passage and label.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", help="In place of --pairs: what the thresholds that ship do on the public sets."
        ),
    ] = None,
    evaluator: Annotated[
        str, typer.Option("--evaluator", help="local, llm, checkpoint or checkpoint:PATH.")
    ] = "local",
    precision: Annotated[
        float, typer.Option("--precision", min=0, max=1, help="Wanted of the upper one.")
    ] = 0.9,
    kept: Annotated[
        float, typer.Option("--kept", min=0, max=1, help="Answerable questions the lower one keeps.")
    ] = 0.98,
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
    report({k: round(v, 4) for k, v in flat.items()}, json_out)


def _shipped(data: Path, precision: float, kept: float, json_out: Path | None) -> None:
    """Print what the thresholds of the relevance head do on the public sets."""
    from ragweave.evals import head_thresholds as head
    from ragweave.evals.report import write_json

    rows = run(head.measure(data, precision, kept))
    upper, lower = head.SHIPPED
    typer.echo(f"The relevance head grades with {upper:+.2f} and {lower:+.2f}.")
    typer.echo(
        f"The rule: precision {precision:g} at the upper one, {kept:g} of what can be answered above the lower."
    )
    typer.echo("Shares of correct / ambiguous / incorrect under the two that ship:\n")
    typer.echo(head.table(rows))
    if json_out:
        write_json(json_out, head.flat(rows))
