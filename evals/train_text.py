"""Train routers and evaluators with transformers, over an encoder (DistilBERT, MiniLM) or T5.

The recipes are the papers' (UniversalRAG, appendix on router training; CRAG, section 4.2 and the released
scripts). The best epoch by held-out rows is kept. `ragweave.models.checkpoint` opens the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragweave.components.route import messages
from ragweave.evals.metrics import accuracy, auc, ece
from ragweave.evals.train_text_data import LabelledText, evaluator_rows, router_rows, split
from ragweave.evals.training import Plan, Progress, Workplace
from ragweave.models.checkpoint import TextModel
from ragweave.models.checkpoint_files import (
    Sheet,
    find,
    load_model,
    quiet,
    read_config,
    torch_and_transformers,
)
from ragweave.models.errors import InputError

Form = Literal["classify", "generate", "regress"]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    """The settings of the training of a classifier or regressor; the held-out rows choose its best epoch.

    `freeze_embeddings` does not train the word vectors: they are half of the weights of a small encoder, and
    on CPUs up to half of the time of a step.
    """

    form: Form
    first_line: bool = True
    freeze_embeddings: bool = False
    max_length: int = 512


ENCODER_ROUTER = Recipe(form="classify", epochs=5, rate=2e-5, batch=64, decay=0.01)
T5_ROUTER = Recipe(form="generate", epochs=5, rate=2e-5, batch=8, decay=0.01)
ENCODER_EVALUATOR = Recipe(form="regress", epochs=3, rate=1e-4, batch=32)
T5_EVALUATOR = Recipe(form="regress", epochs=8, rate=1e-4, batch=12)


def train_router(
    data: Path,
    base: str,
    out: Path,
    recipe: Recipe = ENCODER_ROUTER,
    *,
    prompt: str = "",
    licence: str = "",
    progress: Progress | None = None,
) -> dict[str, float]:
    """Train a router and write it.

    `base` is a folder or OWNER/NAME@COMMIT of the hub; `out` must not exist, or hold an earlier result.
    `prompt` is the input of a model that generates, with the slot {question}; default: the few-shot prompt of
    the graph.

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
    """Return the few-shot prompt of the graph, with a slot for the question."""
    texts = [text for _, text in messages("{question}", labels)]
    return "\n\n".join(texts)


def _train(
    rows: Sequence[LabelledText],
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
    place = Workplace(out)
    args = _arguments(place, transformers, recipe)
    with place.open(args, recipe, base, data), torch.random.fork_rng(), quiet(transformers.utils.logging):
        torch.manual_seed(recipe.seed)
        start = find(base)
        reader = _open(start, labels, recipe, sheet)

        def measured() -> dict[str, float]:
            return _measured(reader, held, labels, recipe.form)

        trainer = _trainer(transformers, reader, train_rows, labels, recipe, args, measured)
        place.watch(trainer, recipe.epochs, progress)
        place.train(trainer)
        # Measure the weights as they are read later, without the 16-bit arithmetic of the training.
        trainer.accelerator.unwrap_model(reader.model, keep_fp32_wrapper=False)
        figures = {
            "epoch": _best_epoch(trainer.state, recipe.epochs),
            "rows": len(train_rows),
            "held_out_rows": len(held),
            **measured(),
        }
        if trainer.is_world_process_zero():
            sheet = sheet.model_copy(update={"temperature": figures.pop("temperature", 1.0)})
            _save(reader, place.done)
            name = start.name if Path(base).exists() else base
            place.publish(trainer, sheet, recipe, name, data, licence, figures)
    return figures


def _arguments(place: Workplace, transformers: Any, recipe: Recipe) -> Any:
    return place.arguments(
        transformers.TrainingArguments,
        recipe,
        metric_for_best_model="rank",
        greater_is_better=True,
        remove_unused_columns=False,
        eval_strategy="epoch",
        save_strategy="epoch",
        load_best_model_at_end=True,
    )


def _measured(
    reader: TextModel, held: Sequence[LabelledText], labels: Sequence[str], form: Form
) -> dict[str, float]:
    """Return the figures on the held-out rows."""
    reader.model.eval()
    raw = reader.read(*_inputs(reader, held, form))
    if form == "regress":
        return _regression(raw, held)
    return _classification(raw, held, labels)


def _save(reader: TextModel, folder: Path) -> None:
    reader.model.save_pretrained(folder)
    reader.tokenizer.save_pretrained(folder)


def _best_epoch(state: Any, epochs: int) -> float:
    return float(round(state.best_global_step / state.max_steps * epochs))


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
        options["label2id"] = dict(zip(labels, range(len(labels)), strict=True))
        options["problem_type"] = "single_label_classification"
    elif recipe.form == "regress":
        options = {"num_labels": 1, "problem_type": "regression"}
    head = "AutoModelForSeq2SeqLM" if generates else "AutoModelForSequenceClassification"
    model, tokenizer = load_model(folder, head, fresh_head=not generates, **options)
    # The path of the base model is private to this machine, so it stays out of the written files.
    model.config._name_or_path = tokenizer.name_or_path = folder.name
    if recipe.freeze_embeddings:
        model.get_input_embeddings().weight.requires_grad_(False)
    return TextModel(folder.name, model, tokenizer, sheet, labels if generates else ())


def _inputs(reader: TextModel, rows: Sequence[LabelledText], form: Form) -> tuple[list[str], list[str]]:
    if form != "regress":
        return [reader.question(r.text) for r in rows], []
    questions, passages = [], []
    for row in rows:
        if row.passage:
            question, passage = reader.pair(row.text, row.passage)
            questions.append(question)
            passages.append(passage)
    return questions, passages


def _trainer(
    transformers: Any,
    reader: TextModel,
    rows: Sequence[LabelledText],
    labels: Sequence[str],
    recipe: Recipe,
    args: Any,
    measured: Callable[[], dict[str, float]],
) -> Any:
    class Measured(transformers.Trainer):  # type: ignore[misc]
        def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
            """Measure the held-out rows; rank epochs by accuracy, then by loss."""
            found = measured()
            found["rank"] = found.get("accuracy_micro", 0.0) - 1e-6 * found["loss"]
            logged = {}
            for name, value in found.items():
                logged[f"eval_{name}"] = value
            self.log(logged)
            return logged

    def collate(batch: Sequence[LabelledText]) -> dict[str, Any]:
        return {
            **reader.encode(*_inputs(reader, batch, recipe.form)),
            "labels": _targets(reader, batch, labels, recipe),
        }

    made = Measured(
        model=reader.model,
        args=args,
        train_dataset=list(rows),
        eval_dataset=list(rows[:1]),
        data_collator=collate,
    )
    made.model_accepts_loss_kwargs = False  # losses are means, of which accumulation takes the mean
    return made


def _targets(reader: TextModel, batch: Sequence[LabelledText], labels: Sequence[str], recipe: Recipe) -> Any:
    import torch

    if recipe.form == "generate":
        words = []
        for row in batch:
            words.append(labels[int(row.target)])
        target = reader.tokenizer(text_target=words, padding=True, return_tensors="pt")
        return target["input_ids"].masked_fill(target["attention_mask"] == 0, -100)
    kind = torch.float if recipe.form == "regress" else torch.long
    return torch.tensor(_wanted(batch), dtype=kind)


def _wanted(rows: Sequence[LabelledText]) -> list[float]:
    return [row.target for row in rows]


def _classification(raw: Floats, rows: Sequence[LabelledText], labels: Sequence[str]) -> dict[str, float]:
    gold = np.array(_wanted(rows)).astype(np.int64)
    temperature = _temperature(raw, gold)
    log_p = _log_softmax(raw / temperature)
    said = raw.argmax(axis=1)
    names = np.array(labels)
    right = accuracy(names[gold].tolist(), names[said].tolist())
    confidence = np.exp(log_p).max(axis=1)
    return {
        "accuracy_micro": right.micro,
        "accuracy_macro": right.macro,
        "ece": ece(confidence.tolist(), (said == gold).tolist()),
        "loss": float(-log_p[np.arange(len(gold)), gold].mean()),
        "temperature": temperature,
    }


def _temperature(raw: Floats, gold: NDArray[np.int64]) -> float:
    """Return the temperature with the best fit.

    The targets are smoothed as by Platt, because correct rows alone do not make a label certain.
    """
    doubt = 1 / (len(gold) + 2)
    target = np.full(raw.shape, doubt / (raw.shape[1] - 1))
    target[np.arange(len(gold)), gold] = 1 - doubt
    tried = np.geomspace(0.1, 10, 81)
    return float(min(tried, key=lambda t: -(target * _log_softmax(raw / t)).sum()))


def _log_softmax(scores: Floats) -> Floats:
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def _regression(raw: Floats, rows: Sequence[LabelledText]) -> dict[str, float]:
    wanted = np.array(_wanted(rows))
    found = {"loss": float(np.mean((raw[:, 0] - wanted) ** 2))}
    relevant = (wanted > 0).astype(int).tolist()
    if len(set(relevant)) == 2:
        found["auc"] = auc(relevant, raw[:, 0].tolist())
    return found
