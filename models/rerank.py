"""Cross-encoders: question and passage are read together, and the passages put in order.

The shipped relevance head is the embedded default and needs nothing. RAGWEAVE_RERANK names another maker:
`fastembed:NAME[@COMMIT]` (ONNX), `hf:NAME` (any transformers sequence classifier with one or two labels,
safetensors only, a hub name or a folder), or `api:MODEL` at RAGWEAVE_RERANK_URL (`POST /rerank` of Cohere,
Jina, vLLM, llama.cpp).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Protocol

import httpx
import numpy as np
from numpy.typing import NDArray

from ragweave.models.chat_client import address, stay_here
from ragweave.models.checkpoint import classifier
from ragweave.models.checkpoint_files import find, torch_and_transformers
from ragweave.models.errors import InputError, ModelError, ModelTransient, RagweaveError
from ragweave.models.failures import BACKOFF, explain, loading
from ragweave.models.fastembed_files import opened
from ragweave.models.relevance_reading import Passage
from ragweave.models.settings import ModelSettings, model_settings
from ragweave.models.text import clip

EMBEDDED = "relevance"
"""Name of the shipped head (`ragweave.models.relevance`)."""
CHARACTERS = 4_000
"""Of a passage that are read; cross-encoders cut at some 512 tokens anyway."""
BATCH = 16

Floats = NDArray[np.float64]


class Reranker(Protocol):
    """Orders the passages of one question."""

    name: str

    def scores(self, question: str, passages: Sequence[Passage]) -> Floats:
        """Return (n,) scores, higher is better; they compare within one call only.

        CPU or network work: async callers use `asyncio.to_thread`.

        Raises:
            ModelError: if the model fails or sends something that is not a score for each passage.
        """


def reranker(name: str | None = None) -> Reranker | None:
    """Return the cross-encoder of that name, loaded once per process, or None for the shipped relevance head.

    The name is as RAGWEAVE_RERANK; the setting's when not given.

    Raises:
        InputError: if the name has no known form.
        MissingExtra: if the package behind it is not installed.
        ModelError: if the model cannot be loaded.
    """
    settings = model_settings()
    wanted = settings.rerank if name is None else name
    if wanted in ("", EMBEDDED):
        return None
    with _loading:
        return _load(wanted, settings)


_loading = threading.Lock()


@lru_cache(maxsize=2)
def _load(name: str, settings: ModelSettings) -> Reranker:
    kind, _, model = name.partition(":")
    makers: dict[str, Callable[[str, ModelSettings], Reranker]]
    makers = {"fastembed": _fastembed, "hf": _hf, "api": ServedReranker}
    if kind not in makers or not model:
        known = "relevance, fastembed:NAME, hf:NAME or api:MODEL"
        raise InputError(f"there is no reranker {name!r}", f"set RAGWEAVE_RERANK to {known}")
    return makers[kind](model, settings)


class PairReranker:
    """A cross-encoder in this process."""

    def __init__(self, name: str, predict: Callable[[str, list[str]], Any]) -> None:
        self.name = name
        self._predict = predict
        self._lock = threading.Lock()

    def scores(self, question: str, passages: Sequence[Passage]) -> Floats:
        """Return (n,) scores."""
        if not passages:
            return np.zeros(0)
        try:
            with self._lock:
                predicted = list(self._predict(question, list(map(readable, passages))))
                found = np.asarray(predicted, dtype=np.float64)
        except RagweaveError:
            raise
        except Exception as exc:
            raise ModelError(
                f"{self.name} failed: {type(exc).__name__}: {clip(str(exc), 200)}", _REMEDY
            ) from exc
        if found.shape != (len(passages),) or not np.isfinite(found).all():
            raise ModelError(
                f"{self.name} gave no usable score for each of {len(passages)} passages", _REMEDY
            )
        return found


_REMEDY = "check RAGWEAVE_RERANK, or unset it to use the shipped relevance head"


def readable(passage: Passage) -> str:
    """Return the input of a cross-encoder for a passage: its title, then its text."""
    body = passage.text[:CHARACTERS]
    return f"{passage.title}\n{body}" if passage.title else body


def _fastembed(model: str, settings: ModelSettings) -> Reranker:
    name = f"fastembed:{model}"
    with loading(f"the reranker {name}", "fastembed"):
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        made: Any = opened(TextCrossEncoder, model, settings)
    return PairReranker(name, lambda question, texts: made.rerank(question, texts, batch_size=BATCH))


def _hf(model: str, settings: ModelSettings) -> Reranker:
    name = f"hf:{model}"
    torch_and_transformers(f"the reranker {name}")
    reader = classifier(find(model))
    labels = int(reader.model.config.num_labels)
    if labels > 2:
        raise ModelError(
            f"{name} has {labels} labels, and a cross-encoder has one or two",
            "choose a model that was made to rerank",
        )

    def predict(question: str, texts: list[str]) -> Any:
        logits = reader.read([question] * len(texts), texts)
        # With two labels the score is the difference of relevant and irrelevant.
        return logits[:, 0] if labels == 1 else logits[:, 1] - logits[:, 0]

    return PairReranker(name, predict)


class ServedReranker:
    """A reranking server: `POST /rerank` with model, query and documents."""

    def __init__(self, model: str, settings: ModelSettings) -> None:
        self.name = f"api:{model}"
        self._model = model
        _, url, secret = settings.endpoint("rerank")
        if not url:
            remedy = "set RAGWEAVE_RERANK_URL, for example https://HOST/v1/rerank"
            raise InputError(f"the reranker {self.name} has no address", remedy)
        self._url = url if url.endswith("/rerank") else f"{url}/rerank"
        self.host = address(url)
        stay_here(f"the reranker {self.name}", self.host)
        key = secret.get_secret_value()
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._timeout = settings.chat_timeout

    def scores(self, question: str, passages: Sequence[Passage]) -> Floats:
        """Return (n,) scores; a passage that the server leaves out ranks last."""
        if not passages:
            return np.zeros(0)
        texts = [readable(p) for p in passages]
        body = {"model": self._model, "query": question, "documents": texts, "top_n": len(texts)}
        from langchain_core.runnables import RunnableLambda

        pauses: Any = {"initial": BACKOFF, "jitter": BACKOFF}
        passing: Any = {"retry_if_exception_type": (ModelTransient,), "exponential_jitter_params": pauses}
        return self._read(RunnableLambda(self._post).with_retry(**passing).invoke(body), len(texts))

    def _post(self, body: dict[str, Any]) -> Any:
        try:
            # No redirects: the key and the user's text must only reach the configured address.
            with httpx.Client(timeout=self._timeout, follow_redirects=False) as client:
                reply = client.post(self._url, json=body, headers=self._headers)
                reply.raise_for_status()
        except Exception as exc:
            raise explain(exc, self.name, self.host, "RERANK", waited=self._timeout) from exc
        try:
            return reply.json()
        except ValueError:
            return None

    def _read(self, reply: Any, count: int) -> Floats:
        rows = reply.get("results") if isinstance(reply, dict) else None
        found = np.full(count, np.nan)
        for row in rows if isinstance(rows, list) else ():
            if not isinstance(row, dict):
                continue
            at, score = row.get("index"), row.get("relevance_score")
            numeric = isinstance(score, int | float) and not isinstance(score, bool) and np.isfinite(score)
            if isinstance(at, int) and 0 <= at < count and numeric:
                found[at] = score
        if np.isnan(found).all():
            raise ModelError(
                f"{self.host} sent something that is not the reply of a reranker",
                "check that RAGWEAVE_RERANK_URL is the address of its rerank endpoint",
            )
        return np.where(np.isnan(found), np.nanmin(found) - 1.0, found)
