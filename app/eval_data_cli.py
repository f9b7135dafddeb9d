"""`ragweave eval retrieval`, `evaluator` and `answers`: figures on files of your own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

JsonOut = Annotated[Path | None, typer.Option("--json", metavar="OUT", help="Write the figures as one flat object.")]
HtmlOut = Annotated[Path | None, typer.Option("--html", metavar="OUT", help="Write a page with tables and plots.")]
Work = Annotated[
    Path,
    typer.Option("--work", help="Folder for evaluation libraries; they are reused while their data stay the same."),
]


def _report(flat: dict[str, float], json_out: Path | None) -> None:
    from ragweave.evals.report import table, write_json

    typer.echo(table(["figure", "value"], [[k, v] for k, v in flat.items()]))
    if json_out:
        write_json(json_out, flat)


def retrieval(
    corpus: Annotated[Path, typer.Option("--corpus", help="JSON Lines with id, title and text.")],
    queries: Annotated[Path, typer.Option("--queries", help="JSON Lines with id, question and gold (passage ids).")],
    qrels: Annotated[Path | None, typer.Option("--qrels", help="Relevant passages, where queries name none.")] = None,
    method: Annotated[
        str, typer.Option("--method", help="dense, lexical, rrf, hybrid, fusion, rerank or agent.")
    ] = "rerank",
    hops: Annotated[int, typer.Option("--hops", min=1, max=10, help="Hops of the agent.")] = 3,
    k: Annotated[str, typer.Option("--k", help="Cut-offs, by commas.")] = "5,10",
    limit: Annotated[int, typer.Option("--limit", min=0, help="Queries asked; 0 means all.")] = 0,
    work: Work = Path(".cache/evals"),
    json_out: JsonOut = None,
) -> None:
    """Index passages, ask every query, and print recall, all-gold, nDCG and MRR."""
    from ragweave.evals.corpus import prepare, use_home
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

    async def run() -> dict[str, float]:
        prepared = await prepare(passages, corpus.stem, work.resolve())
        figures = await measure(prepared, asked[: limit or None], ranker(prepared, chosen, hops), cuts)
        return figures.mean()

    _report(asyncio.run(run()), json_out)


def evaluator(
    pairs: Annotated[Path, typer.Option("--pairs", help="JSON Lines with qid, question, title, passage and label.")],
    evaluator: Annotated[str, typer.Option("--evaluator", help="small, llm, or checkpoint:PATH.")] = "small",
    json_out: JsonOut = None,
) -> None:
    """Score labelled pairs and print auc, average_precision, ece and ms_per_pair."""
    from ragweave.evals.pairs import measure, read_pairs, scorer

    _report(asyncio.run(measure(read_pairs(pairs), scorer(evaluator))), json_out)


def answers(
    questions: Annotated[Path, typer.Option("--questions", help="JSON Lines with id, question and answers.")],
    folder: Annotated[Path | None, typer.Option("--folder", help="Folder to index and ask.")] = None,
    library: Annotated[str, typer.Option("--library", help="Library to ask, instead of a folder.")] = "",
    graph: Annotated[str, typer.Option("--graph", help="Graph that answers.")] = "agent",
    mind: Annotated[str, typer.Option("--mind", help="small, llm or auto.")] = "auto",
    width: Annotated[int, typer.Option("--width", min=1, max=64, help="Conversations at the same time.")] = 2,
    work: Work = Path(".cache/evals"),
    show: Annotated[bool, typer.Option("--show", help="Print every question with its answer.")] = False,
    json_out: JsonOut = None,
) -> None:
    """Ask questions and print answered_correct, answered_wrong and abstained together, also per kind."""
    import hashlib
    from importlib import import_module

    from ragweave.api import GRAPHS
    from ragweave.corpora.ingest import index
    from ragweave.evals.answers import ask_all, by_kind, figures, read_questions
    from ragweave.evals.corpus import use_home
    from ragweave.evals.retrieval import table
    from ragweave.models.errors import InputError
    from ragweave.nodes.context import Context

    if (folder is None) == (not library):
        raise InputError("give either --folder or --library", "name what is to be asked")
    if graph not in GRAPHS:
        raise InputError(f"there is no graph named “{graph}”", f"use one of: {', '.join(GRAPHS)}")
    rows = read_questions(questions)
    name = library
    if folder is not None:
        if not folder.is_dir():
            raise InputError(f"{folder} is not a folder", "name one that holds the files")
        name = "answers-" + hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:10]
        use_home(work.resolve() / "home")

    async def run() -> list[Any]:
        if folder is not None:
            await index([folder], name)
        context = Context.model_validate({"library": name, "mind": mind})
        return await ask_all(import_module(GRAPHS[graph]).build, rows, context, width=width)

    outcomes = asyncio.run(run())
    if show:
        for o in outcomes:
            typer.echo(f"{o.verdict:>9}  {o.question.text}\n           {o.answer.text}")
    kinds = by_kind(outcomes)
    if kinds:
        typer.echo(table(kinds) + "\n")
    _report(figures(outcomes), json_out)


def thresholds(
    pairs: Annotated[Path, typer.Option("--pairs", help="JSON Lines with question, passage and label.")],
    evaluator: Annotated[str, typer.Option("--evaluator", help="small, llm or checkpoint.")] = "small",
    precision: Annotated[float, typer.Option("--precision", min=0, max=1, help="Wanted of the upper one.")] = 0.9,
    kept: Annotated[
        float, typer.Option("--kept", min=0, max=1, help="Answerable questions the lower one keeps.")
    ] = 0.98,
    draw: Annotated[Path | None, typer.Option("--draw", metavar="OUT", help="Draw the curve, .svg or .png.")] = None,
    json_out: JsonOut = None,
) -> None:
    """Calibrate an evaluator's two thresholds on labelled pairs."""
    from ragweave.evals import thresholds as calibration
    from ragweave.models.errors import InputError

    if evaluator not in ("small", "llm", "checkpoint"):
        raise InputError(f"there is no evaluator “{evaluator}”", "use small, llm or checkpoint")
    asked = calibration.read_pairs(pairs)
    scored = calibration.best_scores(asked, calibration.judge_of(evaluator, asked))
    found = calibration.calibrate(*scored, precision, kept)
    if draw:
        calibration.draw(found, draw, f"{evaluator} evaluator, {found.questions} questions")
    _report({"questions": found.questions, "upper": round(found.upper, 4), "lower": round(found.lower, 4)}, json_out)


def mixed(
    data: Annotated[Path | None, typer.Option("--data", help="Folder of the public data sets.")] = None,
    items: Annotated[Path | None, typer.Option("--items", help="Or an item list with ids ...")] = None,
    questions: Annotated[
        Path | None, typer.Option("--questions", help="... and its questions (id, question, gold).")
    ] = None,
    router: Annotated[str, typer.Option("--router", help="small, llm, ensemble or checkpoint.")] = "small",
    rerank: Annotated[bool, typer.Option("--rerank/--plain", help="Order by relevance, or fuse alone.")] = True,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Every n-th question, so many in all; 0 means all.")] = 0,
    work: Work = Path(".cache/evals"),
    json_out: JsonOut = None,
    html: HtmlOut = None,
) -> None:
    """Search a library of every kind routed, unified, by oracle, at random and in each corpus alone."""
    from ragweave.corpora.types import CORPORA
    from ragweave.evals import mixed as bench
    from ragweave.evals.corpus import use_home
    from ragweave.evals.data import read_jsonl
    from ragweave.evals.mixed_data import library_rows, read_asked
    from ragweave.evals.mixed_data import questions as public_questions
    from ragweave.evals.report import html_table, page, table, write_json
    from ragweave.models.errors import InputError
    from ragweave.nodes.context import Context

    if (data is None) == (items is None) or (items is None) != (questions is None):
        raise InputError("give either --data, or --items with --questions", "see docs/routing.md")
    if router not in ("small", "llm", "ensemble", "checkpoint"):
        raise InputError(f"there is no router {router!r}", "use small, llm, ensemble or checkpoint")
    if data is not None:
        rows, asked = library_rows(data), public_questions(data)
    else:
        assert items is not None and questions is not None
        rows = read_jsonl(items, ["id", "kind"])
        asked = read_asked(questions, rows)
    asked = asked[:: max(1, len(asked) // limit)][:limit] if limit else asked
    use_home(work.resolve() / "home")
    context = Context.model_validate({"mind": "small", "route_by": router, "rerank": rerank})

    async def run() -> dict[str, bench.System]:
        library = await bench.prepare(rows, work.resolve())
        return await bench.compare(bench.Bench(library, context), asked)

    found = asyncio.run(run())
    kinds = list(dict.fromkeys(["system", *(c for c in CORPORA if any(q.corpus == c for q in asked))]))
    whole, each = bench.rows_of(found), bench.by_kind(found, asked)
    typer.echo(table(bench.COLUMNS, whole))
    typer.echo("\nR@5 by the corpus that holds the answer\n" + table(kinds, each))
    figures = {**bench.flat(found, len(asked)), "train_overlap": seen_in_training(q.text for q in asked)}
    if json_out:
        write_json(json_out, figures)
    if html:
        sections = [html_table(bench.COLUMNS, whole), html_table(kinds, each)]
        html.parent.mkdir(parents=True, exist_ok=True)
        html.write_text(page("Routing over a mixed library", sections), encoding="utf-8")


def seen_in_training(questions: Iterable[str]) -> int:
    """Return how many of the questions the shipped router was trained on."""
    from ragweave.evals.train_router import overlap
    from ragweave.models.router import head

    return overlap(head(), list(questions))
