"""Routers and evaluators that were trained with transformers (extra `hf`): DistilBERT, T5, cross-encoders.

`router` takes sequence classifiers and models that generate the label word (UniversalRAG, section 3.2 and
appendix); `evaluator` takes sequence regression over "question [SEP] passage" (CRAG, section 4.2) and
cross-encoders with one or two labels. Both load once per process and may be called from several threads.
"""

from __future__ import annotations

import inspect
import math
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ragweave.models.checkpoint_files import (
    Sheet,
    find,
    load_model,
    read_config,
    read_sheet,
    torch_and_transformers,
    usable_labels,
)
from ragweave.models.errors import InputError, ModelError, WeightsError
from ragweave.models.relevance_reading import Passage
from ragweave.models.text import clip

BATCH = 16
_QUESTION = 2_000
"""Characters of a question that are read; 512 tokens are fewer in every language."""
_PASSAGE = 12_000


class TextModel:
    """A checkpoint with what is needed to ask it: tokens in, scores out.

    Labels are the words that a generating model chooses between; none for a model with an output per label.

    Raises:
        WeightsError: if the words cannot be told apart by their first token.
    """

    def __init__(
        self, name: str, model: Any, tokenizer: Any, sheet: Sheet, labels: Sequence[str] = ()
    ) -> None:
        self.name, self.model, self.tokenizer, self.sheet = name, model, tokenizer, sheet
        self.joined = bool(model.config.is_encoder_decoder)
        self.first = [int(tokenizer(label, add_special_tokens=False)["input_ids"][0]) for label in labels]
        if len(set(self.first)) != len(self.first) or tokenizer.unk_token_id in self.first:
            raise WeightsError(
                f"the tokeniser of {name} does not tell the labels {', '.join(labels)} apart by their first"
                " token",
                "use a base model whose vocabulary knows the words",
            )
        longest = int(getattr(model.config, "max_position_embeddings", 0) or sheet.max_length)
        self.max_length = min(sheet.max_length, longest)
        self._inputs = inspect.signature(model.forward).parameters
        self._lock = threading.Lock()

    def plain(self, text: str, limit: int) -> str:
        """Cut a text and take the tokeniser's control words out of it: inside a question or passage they are not."""
        text = text[:limit]
        for word in self.tokenizer.all_special_tokens:
            text = text.replace(word, " ")
        return text

    def question(self, text: str) -> str:
        """Return what a router reads of a question."""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        kept = " ".join(lines[:1] if self.sheet.first_line else lines)
        kept = self.plain(kept, _QUESTION)
        return self.sheet.prompt.replace("{question}", kept) if self.first else kept

    def pair(self, question: str, passage: Passage) -> tuple[str, str]:
        """Return what an evaluator reads of a question and a passage.

        An encoder-decoder gets title and text as the released T5 evaluator of CRAG does: " // " between, on
        one line.
        """
        between, text = (" // ", " ".join(passage.text.split())) if self.joined else (": ", passage.text)
        body = f"{passage.title}{between}{text}" if passage.title else text
        return self.plain(question, _QUESTION), self.plain(body, _PASSAGE)

    def encode(self, texts: Sequence[str], seconds: Sequence[str] = ()) -> Any:
        """Return padded token ids and mask on the model's device.

        Encoder-decoders read a text and its second text as one line, "first [SEP] second".
        """
        given = {"padding": True, "max_length": self.max_length, "return_tensors": "pt"}
        if not seconds:
            # A prompt ends with the question, so what does not fit is cut at its beginning.
            self.tokenizer.truncation_side = "left" if self.first else "right"
            tokens = self.tokenizer(list(texts), truncation=True, **given)
        elif self.joined:
            lines = [f"{a} [SEP] {b}" for a, b in zip(texts, seconds, strict=True)]
            tokens = self.tokenizer(lines, truncation=True, **given)
        else:
            tokens = self.tokenizer(list(texts), list(seconds), truncation="longest_first", **given)
        # Some tokenisers also give segment ids, which not every model takes.
        return {name: t.to(self.model.device) for name, t in tokens.items() if name in self._inputs}

    def scores(self, texts: Sequence[str], seconds: Sequence[str] = ()) -> Any:
        """Return the model's raw scores as a tensor (n, outputs), with gradient where the caller records one."""
        tokens = self.encode(texts, seconds)
        if not self.first:
            return self.model(**tokens).logits
        import torch

        start = torch.full(
            (len(texts), 1), self.model.config.decoder_start_token_id, device=self.model.device
        )
        return self.model(**tokens, decoder_input_ids=start).logits[:, -1, self.first]

    def read(self, texts: Sequence[str], seconds: Sequence[str] = ()) -> Any:
        """Return the scores as a float64 array (n, outputs), in batches, one caller at a time.

        Raises:
            ModelError: if the model fails or a score is not a number.
        """
        torch, _ = torch_and_transformers(f"the checkpoint {self.name}")
        parts = []
        try:
            # Tokenisers keep padding and truncation as state, so they are not to be shared while at work.
            with self._lock, torch.inference_mode():
                for at in range(0, len(texts), BATCH):
                    parts.append(self.scores(texts[at : at + BATCH], seconds[at : at + BATCH]).double().cpu())
        except Exception as exc:
            raise ModelError(
                f"the checkpoint {self.name} failed: {type(exc).__name__}: {clip(str(exc), 200)}",
                "check its folder",
            ) from exc
        found = torch.cat(parts)
        if not bool(torch.isfinite(found).all()):
            raise ModelError(
                f"the checkpoint {self.name} gives scores that are not numbers", "train it again"
            )
        return found.numpy()


class CheckpointRouter:
    """Probabilities over the labels, which are the outputs of a checkpoint in order."""

    def __init__(self, reader: TextModel, labels: Sequence[str]) -> None:
        self.name, self.labels, self._reader = reader.name, tuple(labels), reader
        self.independent = getattr(reader.model.config, "problem_type", None) == "multi_label_classification"
        """Whether each label has a score of its own (sigmoid), so that several may hold at once."""

    def __call__(self, question: str) -> dict[str, float]:
        """Return the probability of each label for a question; they add up to 1 unless they are independent."""
        (row,) = (
            self._reader.read([self._reader.question(question)]) / self._reader.sheet.temperature
        ).tolist()
        if self.independent:
            return {label: 0.5 + 0.5 * math.tanh(x / 2) for label, x in zip(self.labels, row, strict=True)}
        weights = [math.exp(x - max(row)) for x in row]
        return {label: w / sum(weights) for label, w in zip(self.labels, weights, strict=True)}


class CheckpointEvaluator:
    """Relevance of passages to a question in [-1, 1], by a checkpoint of one output or two."""

    def __init__(self, reader: TextModel) -> None:
        config = reader.model.config
        if config.num_labels > 2:
            raise WeightsError(
                f"{reader.name} has {config.num_labels} outputs, and an evaluator has one or two",
                "give a sequence regression or a cross-encoder",
            )
        self.name, self._reader = reader.name, reader
        # Trained to -1 and +1 with a squared error; cross-encoders give log-odds instead.
        regression = reader.sheet.task == "evaluator" or reader.joined or config.problem_type == "regression"
        self._clipped = regression and config.num_labels == 1

    def __call__(self, question: str, passages: Sequence[Passage]) -> list[float]:
        """Return a score for each passage; an empty passage gets -1 without being read."""
        out = [-1.0] * len(passages)
        at = [i for i, p in enumerate(passages) if p.text.strip()]
        if not at:
            return out
        firsts, seconds = zip(*(self._reader.pair(question, passages[i]) for i in at), strict=True)
        for i, row in zip(at, self._reader.read(firsts, seconds).tolist(), strict=True):
            if self._clipped:
                out[i] = min(1.0, max(-1.0, row[0]))
            else:
                out[i] = math.tanh((row[0] if len(row) == 1 else row[1] - row[0]) / 2)
        return out


_loading = threading.Lock()


def classifier(folder: Path) -> TextModel:
    """Open a sequence classifier.

    Raises:
        MissingExtra: if transformers is not installed.
        WeightsError: if the folder cannot be loaded.
    """
    return TextModel(
        folder.name, *load_model(folder, "AutoModelForSequenceClassification"), read_sheet(folder)
    )


def router(path: str, labels: Sequence[str] = ()) -> CheckpointRouter:
    """Return the router of a checkpoint, loaded once per process.

    The path is a folder, or OWNER/NAME@COMMIT of the hub. A checkpoint with other labels than those given is
    refused; a model that generates chooses between the labels stored beside its weights, or between these.

    Raises:
        InputError: if the path is empty.
        MissingExtra: if transformers is not installed.
        WeightsError: if the checkpoint is missing, broken, or not a router.
    """
    with _loading:
        return _router(_found(path, "RAGWEAVE_ROUTER"), tuple(labels))


@lru_cache(maxsize=2)
def _router(folder: Path, known: tuple[str, ...]) -> CheckpointRouter:
    sheet = read_sheet(folder)
    if sheet.task == "evaluator":
        raise WeightsError(f"{folder.name} was trained as an evaluator", "set RAGWEAVE_ROUTER to a router")
    if _classifies(read_config(folder)):
        reader = classifier(folder)
        config = reader.model.config
        named = tuple(str(config.id2label[i]) for i in range(config.num_labels))
        return CheckpointRouter(reader, usable_labels(named, known, folder.name))
    words = sheet.labels or known
    labels = usable_labels(words, known, folder.name)
    reader = TextModel(folder.name, *load_model(folder, "AutoModelForSeq2SeqLM"), sheet, words)
    return CheckpointRouter(reader, labels)


def evaluator(path: str) -> CheckpointEvaluator:
    """Return the evaluator of a checkpoint, loaded once per process; arguments and errors as for `router`."""
    with _loading:
        return _evaluator(_found(path, "RAGWEAVE_EVALUATOR"))


@lru_cache(maxsize=2)
def _evaluator(folder: Path) -> CheckpointEvaluator:
    if read_sheet(folder).task == "router" or not _classifies(read_config(folder)):
        raise WeightsError(
            f"{folder.name} is not an evaluator", "set RAGWEAVE_EVALUATOR to a sequence regression"
        )
    return CheckpointEvaluator(classifier(folder))


def _found(path: str, variable: str) -> Path:
    if not path.strip():
        raise InputError(
            f"{variable} is not set", f"set {variable} to a checkpoint folder or a name of the hub"
        )
    return find(path)


def _classifies(config: dict[str, Any]) -> bool:
    """Say whether a configuration belongs to a sequence classifier; else it has to be a model that generates."""
    kinds = [str(kind) for kind in config.get("architectures") or []]
    if any(kind.endswith("ForSequenceClassification") for kind in kinds):
        return True
    if any(kind.endswith("ForConditionalGeneration") for kind in kinds):
        return False
    raise WeightsError(
        f"the checkpoint is a {', '.join(kinds) or 'model of unknown kind'}, neither a classifier nor a"
        " generator",
        "train it first with `ragweave train`",
    )
