"""Load routers and evaluators that were trained with transformers (extra `hf`).

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
from ragweave.models.device import remedy
from ragweave.models.errors import InputError, ModelError, WeightsError
from ragweave.models.relevance_reading import Passage
from ragweave.models.text import clip

BATCH = 16
_QUESTION = 2_000
"""Characters of a question that are read; 512 tokens are fewer in every language."""
_PASSAGE = 12_000


class TextModel:
    """A checkpoint and its tokeniser: tokens in, scores out.

    `labels` are the words that a generating model chooses between. A model with one output per label has
    none.

    Raises:
        WeightsError: if two words begin with the same token, or the tokeniser does not know one.
    """

    def __init__(
        self, name: str, model: Any, tokenizer: Any, sheet: Sheet, labels: Sequence[str] = ()
    ) -> None:
        self.name, self.model, self.tokenizer, self.sheet = name, model, tokenizer, sheet
        self.joined = bool(model.config.is_encoder_decoder)
        self.first: list[int] = []
        """The first token of each label; empty if the model has an output per label."""
        for label in labels:
            self.first.append(int(tokenizer(label, add_special_tokens=False)["input_ids"][0]))
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
        """Cut a text and remove the tokeniser's control words, which a user's text must not contain."""
        text = text[:limit]
        for word in self.tokenizer.all_special_tokens:
            text = text.replace(word, " ")
        return text

    def question(self, text: str) -> str:
        """Return the text of a question as a router reads it."""
        lines = list(filter(None, map(str.strip, text.splitlines())))
        kept = " ".join(lines[:1] if self.sheet.first_line else lines)
        kept = self.plain(kept, _QUESTION)
        return self.sheet.prompt.replace("{question}", kept) if self.first else kept

    def pair(self, question: str, passage: Passage) -> tuple[str, str]:
        """Return the texts of a question and a passage as an evaluator reads them.

        An encoder-decoder gets title and text on one line with " // " between, like the released T5 evaluator
        of CRAG.
        """
        between, text = ": ", passage.text
        if self.joined:
            between, text = " // ", " ".join(passage.text.split())
        body = f"{passage.title}{between}{text}" if passage.title else text
        return self.plain(question, _QUESTION), self.plain(body, _PASSAGE)

    def encode(self, texts: Sequence[str], seconds: Sequence[str] = ()) -> Any:
        """Return padded token ids and mask on the model's device.

        Encoder-decoders read a text and its second text as one line, "first [SEP] second".
        """
        given = {"padding": True, "max_length": self.max_length, "return_tensors": "pt"}
        if not seconds:
            # A prompt ends with the question, so a prompt that is too long loses its beginning.
            self.tokenizer.truncation_side = "left" if self.first else "right"
            tokens = self.tokenizer(list(texts), truncation=True, **given)
        elif self.joined:
            lines = [f"{a} [SEP] {b}" for a, b in zip(texts, seconds, strict=True)]
            tokens = self.tokenizer(lines, truncation=True, **given)
        else:
            tokens = self.tokenizer(list(texts), list(seconds), truncation="longest_first", **given)
        sent = {}
        for name, tensor in tokens.items():
            if name in self._inputs:  # Some tokenisers also give segment ids, which not every model takes.
                sent[name] = tensor.to(self.model.device)
        return sent

    def scores(self, texts: Sequence[str], seconds: Sequence[str] = ()) -> Any:
        """Return the raw scores as a tensor (n, outputs), with gradients if the caller records them."""
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
            # Tokenisers keep padding and truncation as state, so only one thread may use them.
            with self._lock, torch.inference_mode():
                for at in range(0, len(texts), BATCH):
                    parts.append(self.scores(texts[at : at + BATCH], seconds[at : at + BATCH]).double().cpu())
        except Exception as exc:
            raise ModelError(
                f"the checkpoint {self.name} failed: {type(exc).__name__}: {clip(str(exc), 200)}",
                remedy(exc, "check its folder"),
            ) from exc
        found = torch.cat(parts)
        if not bool(torch.isfinite(found).all()):
            raise ModelError(
                f"the checkpoint {self.name} gives scores that are not numbers", "train it again"
            )
        return found.numpy()


class CheckpointRouter:
    """Compute the probability of each label; the labels are the outputs of a checkpoint in order."""

    def __init__(self, reader: TextModel, labels: Sequence[str]) -> None:
        self.name, self.labels, self._reader = reader.name, tuple(labels), reader
        self.independent = getattr(reader.model.config, "problem_type", None) == "multi_label_classification"
        """Whether each label has its own score (sigmoid), so that several labels may be true."""

    def __call__(self, question: str) -> dict[str, float]:
        """Return the probability of each label; they add up to 1 unless the labels are independent."""
        scores = self._reader.read([self._reader.question(question)])
        (row,) = (scores / self._reader.sheet.temperature).tolist()
        if self.independent:
            shares = [0.5 + 0.5 * math.tanh(score / 2) for score in row]
        else:
            highest = max(row)
            weights = [math.exp(score - highest) for score in row]
            total = sum(weights)
            shares = [weight / total for weight in weights]
        return dict(zip(self.labels, shares, strict=True))


class CheckpointEvaluator:
    """Score the relevance of passages to a question in [-1, 1] with a checkpoint of one or two outputs."""

    def __init__(self, reader: TextModel) -> None:
        config = reader.model.config
        if config.num_labels > 2:
            raise WeightsError(
                f"{reader.name} has {config.num_labels} outputs, and an evaluator has one or two",
                "give a sequence regression or a cross-encoder",
            )
        self.name, self._reader = reader.name, reader
        # A regression was trained towards -1 and +1 with a squared error; cross-encoders give log-odds.
        regression = reader.sheet.task == "evaluator" or reader.joined or config.problem_type == "regression"
        self._clipped = regression and config.num_labels == 1

    def __call__(self, question: str, passages: Sequence[Passage]) -> list[float]:
        """Return a score for each passage; an empty passage gets -1 without a call of the model."""
        out = [-1.0] * len(passages)
        at: list[int] = []
        firsts: list[str] = []
        seconds: list[str] = []
        for i, passage in enumerate(passages):
            if passage.text.strip():
                first, second = self._reader.pair(question, passage)
                at.append(i)
                firsts.append(first)
                seconds.append(second)
        if not at:
            return out
        for i, row in zip(at, self._reader.read(firsts, seconds).tolist(), strict=True):
            out[i] = self._score(row)
        return out

    def _score(self, row: Sequence[float]) -> float:
        """Return the score of one or two outputs."""
        if self._clipped:
            return min(1.0, max(-1.0, row[0]))
        log_odds = row[0] if len(row) == 1 else row[1] - row[0]
        return math.tanh(log_odds / 2)


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

    The path is a folder, or OWNER/NAME@COMMIT of the hub. A checkpoint with other labels than `labels` is
    refused. A generating model chooses between the labels that its folder stores; without stored labels, it
    chooses between `labels`.

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
        named = tuple([str(config.id2label[i]) for i in range(config.num_labels)])
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
    """Return True for a sequence classifier and False for a generating model.

    Raises:
        WeightsError: if the configuration belongs to neither.
    """
    kinds = [str(kind) for kind in config.get("architectures") or []]
    generates = False
    for kind in kinds:
        if kind.endswith("ForSequenceClassification"):
            return True
        generates = generates or kind.endswith("ForConditionalGeneration")
    if generates:
        return False
    raise WeightsError(
        f"the checkpoint is a {', '.join(kinds) or 'model of unknown kind'}, neither a classifier nor a"
        " generator",
        "train it first with `ragweave train`",
    )
