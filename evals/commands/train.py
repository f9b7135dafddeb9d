"""`ragweave train`: train the shipped models, or checkpoints of transformers, on labelled questions."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ragweave.evals.commands.common import call, writable

train_app = typer.Typer(
    help="Train routers and evaluators.", no_args_is_help=True, rich_markup_mode=None, add_completion=False
)


class RouterKind(StrEnum):
    """What a router is made of."""

    small = "small"
    encoder = "encoder"
    t5 = "t5"


class EvaluatorKind(StrEnum):
    """What an evaluator is made of."""

    small = "small"
    encoder = "encoder"
    t5 = "t5"


BaseOption = Annotated[
    str,
    typer.Option(
        "--base", metavar="DIR", help="Pretrained model: a folder, or OWNER/NAME@COMMIT of the hub."
    ),
]
EpochsOption = Annotated[
    int | None, typer.Option("--epochs", help="Passes over the rows; default: the paper's.")
]
RateOption = Annotated[float | None, typer.Option("--rate", help="Learning rate; default: the paper's.")]
BatchOption = Annotated[int | None, typer.Option("--batch", help="Rows per step; default: the paper's.")]
AccumulateOption = Annotated[
    int | None,
    typer.Option("--accumulate", help="Parts of a batch that are read one after another, to save memory."),
]
Bf16Option = Annotated[
    bool | None,
    typer.Option("--bf16/--fp32", help="Compute in 16 or 32 bits; default: 16 on a GPU that supports it."),
]
SeedOption = Annotated[int | None, typer.Option("--seed", help="Seed of every draw; default 42.")]
LengthOption = Annotated[
    int | None,
    typer.Option("--max-length", help="Tokens that are read, in training and in use; default 512."),
]
FreezeOption = Annotated[
    bool,
    typer.Option(
        "--freeze-embeddings", help="Leave the vectors of the words as they are; faster on processors."
    ),
]
LicenceOption = Annotated[str, typer.Option("--licence", help="Licence of the data, for the card.")]

RoutedData = Annotated[
    Path,
    typer.Option("--data", help="JSON Lines with query and label (id, source), or a .json of UniversalRAG."),
]
RouterKindOption = Annotated[
    RouterKind, typer.Option("--kind", "--backbone", help="The head that ships, or a checkpoint.")
]
RouterOut = Annotated[
    Path | None, typer.Option("--out", help="File of the head (router.npz), or folder of the checkpoint.")
]
Templates = Annotated[bool, typer.Option(help="small: add the template questions that ship.")]
LeaveOneOut = Annotated[
    bool,
    typer.Option(
        "--leave-one-source-out", help="small: also print accuracy and ece on each source left out."
    ),
]
FirstLine = Annotated[
    bool,
    typer.Option("--first-line/--whole-question", help="Read the first line only, without answer options."),
]
PromptOption = Annotated[
    str, typer.Option("--prompt", help="t5: input with a slot {question}; default: the few-shot prompt.")
]
PairData = Annotated[
    Path,
    typer.Option("--data", help="JSON Lines with question, passage, label; small: folder of the data sets."),
]
EvaluatorKindOption = Annotated[
    EvaluatorKind, typer.Option("--kind", "--backbone", help="The head that ships, or a checkpoint.")
]
EvaluatorOut = Annotated[
    Path | None,
    typer.Option("--out", help="File of the head (relevance.json), or folder of the checkpoint."),
]


@train_app.command()
def router(
    data: RoutedData,
    kind: RouterKindOption = RouterKind.small,
    out: RouterOut = None,
    templates: Templates = True,
    leave_one_out: LeaveOneOut = False,
    base: BaseOption = "",
    first_line: FirstLine = True,
    prompt: PromptOption = "",
    epochs: EpochsOption = None,
    rate: RateOption = None,
    batch: BatchOption = None,
    accumulate: AccumulateOption = None,
    bf16: Bf16Option = None,
    seed: SeedOption = None,
    max_length: LengthOption = None,
    freeze_embeddings: FreezeOption = False,
    licence: LicenceOption = "",
) -> None:
    """Train a router; measure it with `ragweave eval router`."""
    if kind is RouterKind.small:
        _small_router(data, out or Path("router.npz"), templates, leave_one_out)
        return
    from ragweave.evals import train_text as text

    recipe = text.T5_ROUTER if kind is RouterKind.t5 else text.ENCODER_ROUTER
    given = _given(epochs=epochs, rate=rate, batch=batch, accumulate=accumulate, bf16=bf16, seed=seed)
    given |= _given(max_length=max_length)
    recipe = replace(recipe, first_line=first_line, freeze_embeddings=freeze_embeddings, **given)
    train = partial(text.train_router, data, *_places(base, out), recipe, prompt=prompt, licence=licence)
    _checkpoint(train, out, "RAGWEAVE_ROUTER")


@train_app.command()
def evaluator(
    data: PairData,
    kind: EvaluatorKindOption = EvaluatorKind.small,
    out: EvaluatorOut = None,
    base: BaseOption = "",
    epochs: EpochsOption = None,
    rate: RateOption = None,
    batch: BatchOption = None,
    accumulate: AccumulateOption = None,
    bf16: Bf16Option = None,
    seed: SeedOption = None,
    max_length: LengthOption = None,
    freeze_embeddings: FreezeOption = False,
    licence: LicenceOption = "",
) -> None:
    """Train a relevance evaluator; measure it with `ragweave eval evaluator`."""
    if kind is EvaluatorKind.small:
        _small_evaluator(data, out or Path("relevance.json"))
        return
    from ragweave.evals import train_text as text

    given = _given(epochs=epochs, rate=rate, batch=batch, accumulate=accumulate, bf16=bf16, seed=seed)
    given |= _given(max_length=max_length)
    recipe = text.T5_EVALUATOR if kind is EvaluatorKind.t5 else text.ENCODER_EVALUATOR
    recipe = replace(recipe, freeze_embeddings=freeze_embeddings, **given)
    train = partial(text.train_evaluator, data, *_places(base, out), recipe, licence=licence)
    _checkpoint(train, out, "RAGWEAVE_EVALUATOR")


@train_app.command()
def reasoner(
    data: Annotated[Path, typer.Option("--data", help="Conversations that `ragweave synthesize` wrote.")],
    base: BaseOption = "",
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of the adapter, or of the merged model.")
    ] = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="Write the whole tuned model, not the adapter alone.")
    ] = False,
    rank: Annotated[int, typer.Option("--rank", min=1, help="Of the low-rank matrices.")] = 16,
    max_length: Annotated[
        int, typer.Option("--max-length", help="Longer conversations are left out.")
    ] = 8_192,
    epochs: EpochsOption = None,
    rate: RateOption = None,
    batch: BatchOption = None,
    accumulate: AccumulateOption = None,
    bf16: Bf16Option = None,
    seed: SeedOption = None,
    licence: LicenceOption = "",
) -> None:
    """Tune a chat model to reason and search in turns; see docs/checkpoints.md."""
    from ragweave.evals.train_reasoner import Tuning, train_reasoner

    given = _given(epochs=epochs, rate=rate, batch=batch, accumulate=accumulate, bf16=bf16, seed=seed)
    tuning = Tuning(rank=rank, max_length=max_length, merge=merge, **given)
    train = partial(train_reasoner, data, *_places(base, out), tuning, licence=licence)
    _checkpoint(train, out, "RAGWEAVE_JUDGE=openai:NAME, once a server offers it as NAME")


def _given(**options: Any) -> dict[str, Any]:
    """Return the options that have a value."""
    given = {}
    for name, value in options.items():
        if value is not None:
            given[name] = value
    return given


def _places(base: str, out: Path | None) -> tuple[str, Path]:
    from ragweave.models.errors import InputError

    if not base or out is None:
        raise InputError(
            "a checkpoint is trained from a pretrained model into a folder of its own",
            "give --base and --out",
        )
    return base, out


def _checkpoint(train: Callable[..., dict[str, float]], out: Path | None, variable: str) -> None:
    """Train with a bar on stderr, then print the figures."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    first = os.environ.get("RANK", "0") == "0"  # of the processes that `accelerate launch` starts
    with Progress(*columns, console=Console(stderr=True, markup=False), disable=not first) as bar:
        task = bar.add_task("starting", total=None)
        figures = call(
            train,
            progress=lambda done, total, said: bar.update(
                task, completed=done, total=total, description=said
            ),
        )
    if not first:
        return
    shown = [f"{name} {value:.4g}" for name, value in figures.items()]
    typer.echo(", ".join(shown))
    typer.echo(f"{out}: use it with {variable}" + ("" if "=" in variable else f"={out}"))


def _small_router(data: Path, out: Path, templates: bool, leave_one_out: bool) -> None:
    from ragweave.corpora.types import LABELS
    from ragweave.evals.data import read_routed
    from ragweave.evals.report import Value, table
    from ragweave.evals.templates import template_questions
    from ragweave.evals.train_router import Corpus, fit, leave_one_source_out, save
    from ragweave.models.errors import InputError, MissingExtra

    if out.suffix != ".npz":
        raise InputError(f"a head is an .npz file, and {out} is none", f"give --out {out}.npz")
    writable(out)
    try:
        import sklearn  # noqa: F401
    except ImportError as error:
        raise MissingExtra("training the router", "train") from error
    rows = read_routed(data, LABELS)
    own = template_questions() if templates else []
    corpus = Corpus.of(rows, own, LABELS)
    save(fit(corpus), out)
    typer.echo(f"{out}: {out.stat().st_size:,} bytes, {len(rows)} labelled and {len(own)} template questions")
    if leave_one_out:
        found = leave_one_source_out(corpus, lambda line: typer.echo(line, err=True))
        left_out: list[list[Value]] = []
        for source, figures in found.items():
            left_out.append([source, *figures])
        typer.echo(table(["source left out", "accuracy", "ece"], left_out))


def _small_evaluator(data: Path, out: Path) -> None:
    from ragweave.evals.train_evaluator import train
    from ragweave.models.errors import InputError

    if not (data / "evaluator_pairs" / "hotpot_pairs.jsonl").is_file():
        raise InputError(
            f"{data} has no evaluator_pairs/hotpot_pairs.jsonl", "give the folder of the data sets"
        )
    head = writable(out)
    call(train, data, out)
    typer.echo(f"{head}: {head.stat().st_size:,} bytes")
