"""What a text encoder is, and what those of other packages and servers share: prefixes, batches, checks, memory."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from ragweave.models.errors import ModelError, RagweaveError
from ragweave.models.text import clip

Vectors = NDArray[np.float32]
"""(n, dim), each row of length 1, or all zeros for a text without words."""

BATCH = 64
"""Texts of one call of a server, or of a GPU."""
SMALL = 8
"""Texts of one call on a processor: what is padded to the longest of many takes most of the time and the memory."""


class Encoder(Protocol):
    """Turns texts into vectors whose dot product is their cosine similarity. Blocking; safe among threads."""

    name: str
    """Identifies the vector space: vectors of encoders with different names never meet."""
    max_words: int
    """Words of running text that surely fit; what lies beyond may be cut off."""

    @property
    def dim(self) -> int:
        """Length of a vector. Asking a served encoder for it may call its server."""

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Encode passages, shape (n, dim)."""

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Encode questions, shape (n, dim), with the prefix the encoder was trained with."""


class Habits(NamedTuple):
    """What a family of encoders expects around its input."""

    query: str = ""
    passage: str = ""
    max_words: int = 300


_SEARCH = "Represent this sentence for searching relevant passages: "
_INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
_HABITS: tuple[tuple[str, Habits], ...] = (
    (r"bge-m3", Habits()),
    (r"bge-.*-zh", Habits("为这个句子生成表示以用于检索相关文章：")),
    (r"bge-", Habits(_SEARCH)),
    (r"mxbai-embed", Habits(_SEARCH)),
    (r"arctic-embed(?:2|.*v2)", Habits("query: ")),
    (r"arctic-embed", Habits(_SEARCH)),
    (r"e5-.*instruct|e5-mistral", Habits(_INSTRUCT)),
    (r"(?:^|[/-])e5-", Habits("query: ", "passage: ")),
    (r"nomic-embed-text|modernbert-embed", Habits("search_query: ", "search_document: ")),
    (r"qwen3-embedding", Habits(_INSTRUCT)),
    (r"embedding-?gemma", Habits("task: search result | query: ", "title: none | text: ")),
    (r"minilm", Habits(max_words=170)),
)
"""Prefixes as the model cards of the families give them; the first pattern found in the name counts."""


def habits(name: str) -> Habits:
    """Return the prefixes and the length that belong to an encoder's name."""
    return next((h for pattern, h in _HABITS if re.search(pattern, name, re.I)), Habits())


def normalise(vectors: Any) -> Vectors:
    """Scale rows to length 1; rows that are zero or not finite become zeros."""
    array = np.nan_to_num(np.asarray(vectors, dtype=np.float32), nan=0.0, posinf=0.0, neginf=0.0)
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    scaled: Vectors = np.divide(array, lengths, out=np.zeros_like(array), where=lengths > 0)
    return scaled


class VectorTable:
    """Vectors by their text, as rows of one array."""

    def __init__(self) -> None:
        self.row: dict[str, int] = {}
        self.vectors = np.zeros((0, 0), dtype=np.float32)
        self._used = 0

    def add(self, texts: list[str], vectors: Vectors) -> None:
        """Keep vectors; whoever finds a text among the rows finds its vector in the array."""
        start, end = self._used, self._used + len(texts)
        if end > len(self.vectors):
            larger = np.zeros((max(2 * len(self.vectors), end), vectors.shape[1]), dtype=np.float32)
            if start:
                larger[:start] = self.vectors[:start]
            self.vectors = larger
        self.vectors[start:end] = vectors
        self._used = end
        self.row.update(zip(texts, range(start, end), strict=True))


class Remembering:
    """An encoder's function that keeps the vectors of the last texts: they come again in each step of a question.

    Args:
        encode: makes vectors, shape (n, dim).
        most: texts from which it begins anew.
    """

    def __init__(self, encode: Callable[[list[str]], Vectors], most: int) -> None:
        self._encode, self._most = encode, most
        self._lock = threading.Lock()
        self._encoding: WeakValueDictionary[tuple[str, ...], threading.Lock] = WeakValueDictionary()
        self.forget()

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts, shape (n, dim)."""
        if not texts:
            return self._encode([])
        kept, rows = self.placed(texts)
        return kept.vectors[rows]

    @property
    def kept(self) -> VectorTable:
        """What is kept at present; who has the rows of its texts need not ask for them again."""
        return self._kept

    def placed(self, texts: Sequence[str]) -> tuple[VectorTable, list[int]]:
        """Return what keeps the vectors of texts, and their rows there."""
        kept = self._kept
        if missing := [t for t in texts if t not in kept.row]:
            with self._lock:
                # Holds back whoever asks for the same while it is encoded: a question goes to each corpus.
                alone = self._encoding.setdefault(tuple(missing), threading.Lock())
            with alone:
                if new := [t for t in dict.fromkeys(missing) if t not in kept.row]:
                    vectors = self._encode(new)
                    with self._lock:
                        kept.add(new, vectors)
            if len(kept.row) > self._most:
                self.forget()
        return kept, [*map(kept.row.__getitem__, texts)]

    def forget(self) -> None:
        """Drop what is kept: who compares times starts each from nothing."""
        self._kept = VectorTable()


ASKED = 1_000
"""Questions whose vectors are kept."""


class Batched:
    """What encoders have in common: batches, checks, and rows of length 1."""

    kind, setting, batch = "encoder", "RAGWEAVE_EMBED", BATCH

    def __init__(self, name: str) -> None:
        self.name = name
        self._dim = 0

    @property
    def dim(self) -> int:
        """Length of a vector, learnt from the first one, so that a library opens while its server is down."""
        if not self._dim:
            self.texts(["dimension"])
        return self._dim

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Encode texts, shape (n, dim)."""
        raise NotImplementedError

    def run(self, given: Sequence[Any], encode: Callable[[list[Any]], Any]) -> Vectors:
        """Encode in batches; ModelError if the encoder fails, or returns something else than a vector for each.

        Texts go by their length: in a batch each is padded to the longest.
        """
        parts = []
        order = list(range(len(given)))
        if all(isinstance(one, str) for one in given):
            order.sort(key=lambda n: len(given[n]))
        for start in range(0, len(given), self.batch):
            batch = [given[n] for n in order[start : start + self.batch]]
            try:
                found = np.asarray(encode(batch), dtype=np.float32)
            except RagweaveError:
                raise
            except Exception as exc:
                told = f"the {self.kind} {self.name} failed: {type(exc).__name__}: {clip(str(exc), 200)}"
                raise ModelError(told, f"check {self.setting}") from exc
            if found.ndim != 2 or len(found) != len(batch) or (self._dim and found.shape[1] != self._dim):
                raise ModelError(
                    f"the {self.kind} {self.name} returned an array of shape {found.shape} for {len(batch)}"
                    " inputs",
                    f"check {self.setting} and its server",
                )
            self._dim = int(found.shape[1])
            parts.append(found)
        if not parts:
            return np.zeros((0, self._dim), dtype=np.float32)
        vectors = np.empty((len(given), self._dim), dtype=np.float32)
        vectors[order] = np.concatenate(parts)
        return normalise(vectors)


class PrefixedEncoder(Batched):
    """Any other encoder, with the prefixes that its model's name calls for.

    Args:
        name: as in the settings.
        model: name of the model, without its provider.
        embed: makes vectors (n, dim) of at most `batch` texts.
        batch: texts of one call.
    """

    def __init__(self, name: str, model: str, embed: Callable[[list[str]], Any], batch: int = BATCH) -> None:
        super().__init__(name)
        self.batch = batch
        self._habits = habits(model)
        self._embed = embed
        self._asked = Remembering(lambda texts: self._prefixed(texts, self._habits.query), ASKED)
        self.max_words = self._habits.max_words

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Encode passages, shape (n, dim)."""
        return self._prefixed(texts, self._habits.passage)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Encode questions, shape (n, dim)."""
        return self._asked(texts)

    def _prefixed(self, texts: Sequence[str], prefix: str) -> Vectors:
        # Some servers refuse an empty text: a lone space stands in for it.
        found = self.run([prefix + (t if t.strip() else " ") for t in texts], self._embed)
        return found if len(texts) else np.zeros((0, self.dim), dtype=np.float32)
