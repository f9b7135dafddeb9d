"""Train text classifiers and regressors with transformers: DistilBERT and T5 routers, T5 evaluators.

The recipes are the papers' (UniversalRAG, appendix on router training; CRAG, section 4.2 and the released scripts). One
seeded loop serves all: AdamW, linear decay, the best epoch by held-out rows is kept. What is written can be opened with
`ragweave.models.checkpoint`, and carries a model card.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragweave.evals.metrics import accuracy, auc, ece
from ragweave.evals.train_text_data import Row, evaluator_rows, router_rows, split
from ragweave.evals.train_text_files import publish, staging
from ragweave.minds.llm.route import messages
from ragweave.models.checkpoint import TextModel
from ragweave.models.checkpoint_files import Sheet, find, load_model, quiet, read_config, torch_and_transformers
from ragweave.models.errors import InputError, ModelError

Progress = Callable[[int, int, str], None]
"""Called with steps done, steps in all, and what is known so far."""
Form = Literal["classify", "generate", "regress"]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is trained.

    The rate falls linearly to 0; `held_out` is the share of the rows that the best epoch is chosen by.
    """

    form: Form
    epochs: int
    rate: float
    batch: int
    decay: float = 0.01
    max_length: int = 512
    first_line: bool = True
    held_out: float = 0.1
    seed: int = 42


DISTILBERT_ROUTER = Recipe("classify", epochs=5, rate=2e-5, batch=64)
T5_ROUTER = Recipe("generate", epochs=5, rate=2e-5, batch=8)
T5_EVALUATOR = Recipe("regress", epochs=8, rate=1e-4, batch=12, decay=0.0)


def train_router(
    data: Path,
    base: str,
    out: Path,
    recipe: Recipe = DISTILBERT_ROUTER,
    *,
    prompt: str = "",
    licence: str = "",
    progress: Progress | None = None,
) -> dict[str, float]:
    """Train a router and write it.

    `base` is a folder or OWNER/NAME@COMMIT of the hub; `out` must not exist, or hold an earlier result. `prompt` is the
    input of a model that generates, with the slot {question}; default: the few-shot prompt of the graph.

    Returns:
        The figures on the held-out rows.

    Raises:
        InputError: if data, base or output folder cannot be used.
        MissingExtra: if transformers is not installed.
        WeightsError: if the base model cannot be loaded.
        ModelError: if training diverges.
    """
    if prompt and "{question}" not in prompt:
        raise InputError("the prompt has no place for the question", "write {question} where it belongs")
    rows, labels = router_rows(data)
    generates = recipe.form == "generate"
    sheet = Sheet(
        task="router",
        labels=labels if generates else (),
        prompt=(prompt or router_prompt(labels)) if generates else "{question}",
        first_line=recipe.first_line,
        max_length=recipe.max_length,
    )
    return _train(rows, labels, base, out, recipe, sheet, data, licence, progress)


def train_evaluator(
    data: Path,
    base: str,
    out: Path,
    recipe: Recipe = T5_EVALUATOR,
    *,
    licence: str = "",
    progress: Progress | None = None,
) -> dict[str, float]:
    """Train an evaluator and write it; arguments and errors as for `train_router`."""
    sheet = Sheet(task="evaluator", max_length=recipe.max_length)
    return _train(evaluator_rows(data), (), base, out, recipe, sheet, data, licence, progress)


def router_prompt(labels: Sequence[str]) -> str:
    """Return the input of a router that generates: the few-shot prompt of the graph, with a slot for the question."""
    return "\n\n".join(text for _, text in messages("{question}", labels))


def _train(
    rows: Sequence[Row],
    labels: tuple[str, ...],
    base: str,
    out: Path,
    recipe: Recipe,
    sheet: Sheet,
    data: Path,
    licence: str,
    progress: Progress | None,
) -> dict[str, float]:
    torch, transformers = torch_and_transformers("training a checkpoint")
    train_rows, held = split(rows, recipe.held_out, recipe.seed, whole=recipe.form == "regress")
    with staging(out) as folder, torch.random.fork_rng(), quiet(transformers.utils.logging):
        torch.manual_seed(recipe.seed)
        start = find(base)
        reader = _open(start, labels, recipe, sheet)
        figures: dict[str, float] = {}
        best: tuple[float, ...] | None = None
        for epoch in _epochs(torch, reader, train_rows, labels, recipe, progress, figures):
            raw = reader.read(*_inputs(reader, held, recipe.form))
            found = _regression(raw, held) if recipe.form == "regress" else _classification(raw, held, labels)
            rank = (found.get("accuracy_micro", 0.0), -found["loss"])
            if best is None or rank > best:
                best = rank
                figures.clear()
                figures.update({"epoch": epoch, "rows": len(train_rows), "held_out_rows": len(held), **found})
                reader.model.save_pretrained(folder)
        sheet = sheet.model_copy(update={"temperature": figures.pop("temperature", 1.0)})
        reader.tokenizer.save_pretrained(folder)
        publish(folder, out, sheet, recipe, start.name if Path(base).exists() else base, data, licence, figures)
    return figures


def _open(folder: Path, labels: tuple[str, ...], recipe: Recipe, sheet: Sheet) -> TextModel:
    config, generates = read_config(folder), recipe.form == "generate"
    if generates and not config.get("is_encoder_decoder"):
        raise InputError(
            f"{folder.name} is a {config['model_type']}, which does not generate",
            "give a T5 model, or train a classifier",
        )
    options: dict[str, Any] = {}
    if recipe.form == "classify":
        options = {"num_labels": len(labels), "id2label": dict(enumerate(labels))}
        options["label2id"] = {label: i for i, label in enumerate(labels)}
        options["problem_type"] = "single_label_classification"
    elif recipe.form == "regress":
        options = {"num_labels": 1, "problem_type": "regression"}
    head = "AutoModelForSeq2SeqLM" if generates else "AutoModelForSequenceClassification"
    model, tokenizer = load_model(folder, head, fresh_head=not generates, **options)
    # Where a model was loaded from is this machine's affair and stays out of the files that are written.
    model.config._name_or_path = tokenizer.name_or_path = folder.name
    return TextModel(folder.name, model, tokenizer, sheet, labels if generates else ())


def _inputs(reader: TextModel, rows: Sequence[Row], form: Form) -> tuple[list[str], list[str]]:
    if form != "regress":
        return [reader.question(r.text) for r in rows], []
    pairs = [reader.pair(r.text, r.passage) for r in rows if r.passage]
    return [a for a, _ in pairs], [b for _, b in pairs]


def _epochs(
    torch: Any,
    reader: TextModel,
    rows: Sequence[Row],
    labels: Sequence[str],
    recipe: Recipe,
    progress: Progress | None,
    figures: dict[str, float],
) -> Iterator[int]:
    """Train, and yield the number of each epoch when it is done, with the model ready to be measured."""
    model = reader.model
    draw = np.random.default_rng(recipe.seed)
    per_epoch = math.ceil(len(rows) / recipe.batch)
    steps = per_epoch * recipe.epochs
    optimiser = torch.optim.AdamW(model.parameters(), lr=recipe.rate, weight_decay=recipe.decay)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / steps)
    done = 0
    for epoch in range(1, recipe.epochs + 1):
        model.train()
        order = draw.permutation(len(rows))
        for at in range(0, len(rows), recipe.batch):
            batch = [rows[i] for i in order[at : at + recipe.batch]]
            loss = _loss(torch, reader, batch, labels, recipe.form)
            if not bool(torch.isfinite(loss)):
                raise ModelError(f"training diverged at step {done + 1}", "use a lower learning rate")
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
            done += 1
            if progress:
                shown = ", ".join(f"{k} {v:.3f}" for k, v in figures.items() if k in ("accuracy_micro", "auc", "loss"))
                progress(done, steps, f"epoch {epoch} of {recipe.epochs}{', best ' + shown if shown else ''}")
        model.eval()
        yield epoch


def _loss(torch: Any, reader: TextModel, batch: Sequence[Row], labels: Sequence[str], form: Form) -> Any:
    inputs = _inputs(reader, batch, form)
    device = reader.model.device
    if form == "generate":
        tokenizer = reader.tokenizer
        words = [labels[int(r.target)] for r in batch]
        target = tokenizer(text_target=words, padding=True, return_tensors="pt")
        ids = target["input_ids"].masked_fill(target["attention_mask"] == 0, -100)
        return reader.model(**reader.encode(*inputs), labels=ids.to(device)).loss
    scores = reader.scores(*inputs)
    if form == "regress":
        wanted = torch.tensor([r.target for r in batch], dtype=scores.dtype, device=device)
        return torch.nn.functional.mse_loss(scores[:, 0], wanted)
    return torch.nn.functional.cross_entropy(scores, torch.tensor([int(r.target) for r in batch], device=device))


def _classification(raw: Floats, rows: Sequence[Row], labels: Sequence[str]) -> dict[str, float]:
    gold = np.array([int(r.target) for r in rows])
    temperature = _temperature(raw, gold)
    log_p = _log_softmax(raw / temperature)
    said = raw.argmax(axis=1)
    right = accuracy([labels[i] for i in gold], [labels[i] for i in said])
    confidence = np.exp(log_p).max(axis=1)
    return {
        "accuracy_micro": right.micro,
        "accuracy_macro": right.macro,
        "ece": ece(confidence.tolist(), (said == gold).tolist()),
        "loss": float(-log_p[np.arange(len(gold)), gold].mean()),
        "temperature": temperature,
    }


def _temperature(raw: Floats, gold: NDArray[np.int64]) -> float:
    """Return what makes the probabilities fit best; targets are smoothed as Platt does, for all right is never sure."""
    doubt = 1 / (len(gold) + 2)
    target = np.full(raw.shape, doubt / (raw.shape[1] - 1))
    target[np.arange(len(gold)), gold] = 1 - doubt
    tried = np.geomspace(0.1, 10, 81)
    return float(min(tried, key=lambda t: -(target * _log_softmax(raw / t)).sum()))


def _log_softmax(scores: Floats) -> Floats:
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def _regression(raw: Floats, rows: Sequence[Row]) -> dict[str, float]:
    wanted = np.array([r.target for r in rows])
    found = {"loss": float(np.mean((raw[:, 0] - wanted) ** 2))}
    relevant = [int(t > 0) for t in wanted]
    return {**found, "auc": auc(relevant, raw[:, 0].tolist())} if len(set(relevant)) == 2 else found


def with_changes(recipe: Recipe, **changes: Any) -> Recipe:
    """Return a recipe with the given values in place of its own; None keeps its own.

    Raises:
        InputError: if a value makes no sense.
    """
    changed = replace(recipe, **{name: value for name, value in changes.items() if value is not None})
    if min(changed.epochs, changed.batch, changed.rate) <= 0 or changed.max_length < 8:
        raise InputError("epochs, batch and learning rate must be above 0, and 8 tokens is the least", "correct them")
    return changed
