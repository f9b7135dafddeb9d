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
    from ragweave.evals.router import RouterDecision
    from ragweave.evals.runner import Runner

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
    data: Annotated[Path, typer.Option("--data", help="JSON Lines with query and label (id, source).")],
    router: Annotated[
        str, typer.Option("--router", help="local, llm, ensemble or checkpoint:PATH.")
    ] = "local",
    head: Annotated[
        Path | None, typer.Option("--head", help="Head to use; default: the one that ships.")
    ] = None,
    folds: Annotated[
        int, typer.Option("--folds", min=0, help="Train a new small head for each fold of the data.")
    ] = 0,
    threshold: Annotated[float, typer.Option("--threshold", min=0, max=1, help="Of the ensemble.")] = 0.8,
    width: Annotated[
        int, typer.Option("--width", min=1, max=64, help="Questions put to a model together.")
    ] = 8,
    work: Work = WORK,
    json_out: JsonOut = None,
) -> None:
    """Route every question and print accuracy_micro, accuracy_macro, ece and ms_per_question.

    A stopped run continues if the same command is given again.
    """
    from ragweave.corpora.types import LABELS
    from ragweave.evals.data import read_routed
    from ragweave.evals.report import confusion_table, table, write_json
    from ragweave.evals.router import ensemble, measure
    from ragweave.evals.train_router import overlap
    from ragweave.models.errors import InputError
    from ragweave.models.router import HEAD
    from ragweave.models.router import head as load_head

    kind, _, checkpoint = router.partition(":")
    if kind not in ("local", "llm", "ensemble", "checkpoint") or (kind == "checkpoint") != bool(checkpoint):
        raise InputError(f"there is no router {router!r}", "use small, llm, ensemble or checkpoint:PATH")
    rows = read_routed(data, LABELS)
    path = head or HEAD
    questions = [r.query for r in rows]
    with runner(work, width) as made:
        small = run(_cross_validated(rows, folds, path, made) if folds else _by_head(questions, path, made))
        decided = small
        if kind == "checkpoint":
            decided = run(_by_checkpoint(questions, checkpoint, made))
        elif kind != "local":
            # The ensemble asks only where the head is unsure.
            unsure = [i for i, d in enumerate(small) if router == "llm" or d.confidence < threshold]
            large = list(small)
            for i, decision in zip(
                unsure, run(_by_model([questions[i] for i in unsure], path, made)), strict=True
            ):
                large[i] = decision
            decided = large if router == "llm" else ensemble(small, large, threshold)
    found = measure(rows, decided)
    found.flat["train_overlap"] = 0 if folds else overlap(load_head(path), questions)
    typer.echo(table(["figure", "value"], [[k, f"{v:g}"] for k, v in found.flat.items()]))
    typer.echo(
        "\n" + table(["label", "accuracy"], [[k, found.per_label[k]] for k in LABELS if k in found.per_label])
    )
    if len(found.per_source) > 1:
        typer.echo("\n" + table(["source", "accuracy"], [[k, v] for k, v in found.per_source.items()]))
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


async def _cross_validated(
    rows: list[RoutedQuestion], folds: int, path: Path, made: Runner
) -> list[RouterDecision]:
    """Return the decisions of heads that saw neither the row nor its near-duplicates."""
    from ragweave.corpora.types import LABELS
    from ragweave.evals.router import RouterDecision, best
    from ragweave.evals.templates import template_questions
    from ragweave.evals.train_router import cross_validate

    timed = await _by_head([r.query for r in rows[:50]], path, made)
    ms = sum(d.ms for d in timed) / len(timed)

    def tell(line: str) -> None:
        typer.echo(line, err=True)

    found = await cross_validate(rows, template_questions(), LABELS, folds, 0, tell, made)
    return [RouterDecision(p, best(p), p[best(p)], ms) for p in found]


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
