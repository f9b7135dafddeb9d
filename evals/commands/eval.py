"""`ragweave eval`: measure routers, compare runs, and add the other commands."""

from __future__ import annotations

import asyncio
import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragweave.evals.commands import bench, check, data, media, runs, synthesize, train
from ragweave.evals.commands.common import WORK, JsonOut, Work, run, runner

if TYPE_CHECKING:
    from ragweave.evals.data import RoutedQuestion
    from ragweave.evals.report import Value
    from ragweave.evals.router import Measured, RouterDecision
    from ragweave.evals.runner import Runner

RoutedData = Annotated[
    Path,
    typer.Option("--data", help="JSON Lines with query and label (id, source), or a .json of UniversalRAG."),
]
RouterName = Annotated[str, typer.Option("--router", help="local, llm, ensemble or checkpoint:PATH.")]
HeadFile = Annotated[Path | None, typer.Option("--head", help="Head to use; default: the one that ships.")]
Folds = Annotated[
    int, typer.Option("--folds", min=0, help="Train a new small head for each fold of the data.")
]
Threshold = Annotated[float, typer.Option("--threshold", min=0, max=1, help="Of the ensemble.")]
TogetherWidth = Annotated[
    int, typer.Option("--width", min=1, max=64, help="Questions put to a model together.")
]

eval_app = typer.Typer(
    help="Measure Ragweave on labelled questions.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)


@eval_app.callback()
def needs() -> None:
    """Measure Ragweave on labelled questions."""
    from ragweave.models.errors import MissingExtra

    if find_spec("sklearn") is None or find_spec("rouge_score") is None:
        raise MissingExtra("Measuring", "dev")


@eval_app.command()
def router(
    data: RoutedData,
    router: RouterName = "local",
    head: HeadFile = None,
    folds: Folds = 0,
    threshold: Threshold = 0.8,
    width: TogetherWidth = 8,
    work: Work = WORK,
    json_out: JsonOut = None,
) -> None:
    """Route every question and print accuracy_micro, accuracy_macro, ece and ms_per_question.

    A stopped run continues if the same command is given again.
    """
    from ragweave.corpora.types import LABELS
    from ragweave.evals.data import read_routed
    from ragweave.evals.router import measure
    from ragweave.evals.train_router import overlap
    from ragweave.models.router import HEAD
    from ragweave.models.router import head as load_head

    kind, checkpoint = _router_kind(router)
    rows = read_routed(data, LABELS)
    path = head or HEAD
    questions = [row.query for row in rows]
    with runner(work, width) as made:
        small = run(_cross_validated(rows, folds, path, made) if folds else _by_head(questions, path, made))
        if kind == "checkpoint":
            decided = run(_by_checkpoint(questions, checkpoint, made))
        elif kind == "llm":
            decided = run(_by_model(questions, path, made))
        elif kind == "ensemble":
            decided = run(_by_ensemble(questions, small, threshold, path, made))
        else:
            decided = small
    found = measure(rows, decided)
    found.flat["train_overlap"] = 0 if folds else overlap(load_head(path), questions)
    _report_routing(found, json_out)


def _router_kind(router: str) -> tuple[str, str]:
    """Return the kind of a router, and the path of its checkpoint.

    Raises:
        InputError: there is no such router.
    """
    from ragweave.models.errors import InputError

    kind, _, checkpoint = router.partition(":")
    if kind not in ("local", "llm", "ensemble", "checkpoint") or (kind == "checkpoint") != bool(checkpoint):
        raise InputError(f"there is no router {router!r}", "use small, llm, ensemble or checkpoint:PATH")
    return kind, checkpoint


def _report_routing(found: Measured, json_out: Path | None) -> None:
    """Print the figures of a router, its accuracies and its confusions; optionally write the figures."""
    from ragweave.corpora.types import LABELS
    from ragweave.evals.report import confusion_table, table, write_json

    figures: list[list[Value]] = []
    for name, value in found.flat.items():
        figures.append([name, f"{value:g}"])
    typer.echo(table(["figure", "value"], figures))
    of_labels: list[list[Value]] = []
    for label in LABELS:
        if label in found.per_label:
            of_labels.append([label, found.per_label[label]])
    typer.echo("\n" + table(["label", "accuracy"], of_labels))
    if len(found.per_source) > 1:
        of_sources: list[list[Value]] = []
        for source, accuracy in found.per_source.items():
            of_sources.append([source, accuracy])
        typer.echo("\n" + table(["source", "accuracy"], of_sources))
    typer.echo("\n" + confusion_table(found.confusion, LABELS))
    if json_out:
        write_json(json_out, found.flat)


async def _by_head(questions: list[str], path: Path, made: Runner) -> list[RouterDecision]:
    from ragweave.evals.router import by_head, decide

    answer = by_head(path)
    digest = await asyncio.to_thread(lambda: hashlib.sha256(path.read_bytes()).hexdigest())
    return await decide(questions, answer, made, {"head": digest})


async def _by_checkpoint(questions: list[str], checkpoint: str, made: Runner) -> list[RouterDecision]:
    from ragweave.corpora.types import LABELS
    from ragweave.evals.router import by_classifier, decide
    from ragweave.models.checkpoint import router as load

    return await decide(questions, by_classifier(load(checkpoint, LABELS)), made, {"checkpoint": checkpoint})


async def _by_model(questions: list[str], path: Path, made: Runner) -> list[RouterDecision]:
    from ragweave.corpora.types import LABELS
    from ragweave.evals.router import by_model, chat_classifier, decide
    from ragweave.models.settings import model_settings

    answer = by_model(chat_classifier(LABELS), LABELS, path)
    return await decide(questions, answer, made, {"model": model_settings().chat})


async def _by_ensemble(
    questions: list[str], small: list[RouterDecision], threshold: float, path: Path, made: Runner
) -> list[RouterDecision]:
    """Ask the model if the head is unsure about a question, and join the decisions of both."""
    from ragweave.evals.router import ensemble

    unsure = []
    for n, decision in enumerate(small):
        if decision.confidence < threshold:
            unsure.append(n)
    large = list(small)
    replies = await _by_model([questions[n] for n in unsure], path, made)
    for n, decision in zip(unsure, replies, strict=True):
        large[n] = decision
    return ensemble(small, large, threshold)


async def _cross_validated(
    rows: list[RoutedQuestion], folds: int, path: Path, made: Runner
) -> list[RouterDecision]:
    """Return the decisions of heads that saw neither the row nor its near-duplicates."""
    from ragweave.corpora.types import LABELS
    from ragweave.evals.router import RouterDecision, best
    from ragweave.evals.templates import template_questions
    from ragweave.evals.train_router import cross_validate

    timed = await _by_head([row.query for row in rows[:50]], path, made)
    times = [decision.ms for decision in timed]
    ms = sum(times) / len(times)

    def show(line: str) -> None:
        typer.echo(line, err=True)

    decisions = []
    for scores in await cross_validate(rows, template_questions(), LABELS, folds, 0, show, made):
        label = best(scores)
        decisions.append(RouterDecision(scores, label, scores[label], ms))
    return decisions


@eval_app.command()
def compare(
    a: Annotated[Path, typer.Argument(help="Figures written by --json.")],
    b: Annotated[Path, typer.Argument(help="Figures of the other run.")],
) -> None:
    """Print the figures of two runs side by side."""
    from ragweave.evals.report import compare as compared
    from ragweave.evals.report import read_figures

    typer.echo(compared(read_figures(a), read_figures(b)))


for _measure in (
    data.retrieval,
    data.evaluator,
    data.answers,
    data.thresholds,
    check.check,
    media.images,
    media.video,
    runs.judge,
):
    eval_app.command()(_measure)


def add_to(app: typer.Typer) -> None:
    """Add `bench`, `eval`, `train` and `synthesize` to the command line."""
    app.command("bench")(bench.bench)
    app.command("synthesize")(synthesize.synthesize)
    app.add_typer(eval_app, name="eval")
    app.add_typer(train.train_app, name="train")
