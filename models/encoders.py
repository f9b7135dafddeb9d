"""Define text encoders and the parts that they share: prefixes, batches, checks and a cache."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from ragweave.models.device import remedy
from ragweave.models.errors import ModelError, RagweaveError
from ragweave.models.text import clip

Vectors = NDArray[np.float32]
"""Shape (n, dim); each row has length 1, or is all zeros for a text without words."""

BATCH = 64
"""Texts in one call of a server or a GPU."""
SMALL = 8
"""Texts in one call on a CPU, where padding to the longest text costs most of the time and memory."""


class Encoder(Protocol):
    """Turn texts into vectors whose dot product is their cosine similarity. Blocking; thread-safe."""

    name: str
    """Identifies the vector space: vectors of encoders with different names are never compared."""
    max_words: int
    """Words of running text that always fit; the encoder may cut off the rest."""

    @property
    def dim(self) -> int:
        """Length of a vector. A served encoder may call its server."""

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Encode passages, shape (n, dim)."""

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Encode questions, shape (n, dim), with the prefix of the encoder's training."""


class Habits(NamedTuple):
    """The prefixes and the length that a family of encoders expects."""

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
"""Prefixes from the model cards of the families; the first pattern that matches the name counts."""


def habits(name: str) -> Habits:
    """Return the prefixes and the length that belong to an encoder's name."""
    for pattern, found in _HABITS:
        if re.search(pattern, name, re.I):
            return found
    return Habits()


def normalise(vectors: Any) -> Vectors:
    """Scale rows to length 1; rows that are zero or not finite become zeros."""
    array = np.nan_to_num(np.asarray(vectors, dtype=np.float32), nan=0.0, posinf=0.0, neginf=0.0)
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    scaled: Vectors = np.divide(array, lengths, out=np.zeros_like(array), where=lengths > 0)
    return scaled


class VectorTable:
    """Vectors by text, as rows of one array."""

    def __init__(self) -> None:
        self.row: dict[str, int] = {}
        self.vectors = np.zeros((0, 0), dtype=np.float32)
        self._used = 0

    def add(self, texts: list[str], vectors: Vectors) -> None:
        """Add vectors. The array is written before `row`, so that readers need no lock."""
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
    """Cache the vectors of the last texts, which each step of a question uses again.

    Args:
        encode: makes vectors, shape (n, dim).
        most: number of texts above which the cache is emptied.
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
        """The current table. A caller that has the rows of its texts can read their vectors here."""
        return self._kept

    def placed(self, texts: Sequence[str]) -> tuple[VectorTable, list[int]]:
        """Return the table that holds the vectors of texts, and their rows in it."""
        kept = self._kept
        missing = _not_in(kept, texts)
        if missing:
            with self._lock:
                # All corpora encode the same question at once: the others wait for the first.
                alone = self._encoding.setdefault(tuple(missing), threading.Lock())
            with alone:
                new = _not_in(kept, dict.fromkeys(missing))
                if new:
                    vectors = self._encode(new)
                    with self._lock:
                        kept.add(new, vectors)
            if len(kept.row) > self._most:
                self.forget()
        return kept, [*map(kept.row.__getitem__, texts)]

    def forget(self) -> None:
        """Empty the cache, so that measurements of time start equal."""
        self._kept = VectorTable()


def _not_in(table: VectorTable, texts: Iterable[str]) -> list[str]:
    """Return the texts whose vectors a table lacks."""
    return [text for text in texts if text not in table.row]


ASKED = 1_000
"""Questions whose vectors are cached."""


def _are_texts(given: Sequence[Any]) -> bool:
    for one in given:
        if not isinstance(one, str):
            return False
    return True


class Batched:
    """Base of encoders: batches, checks, and rows of length 1."""

    kind, setting, batch = "encoder", "RAGWEAVE_EMBED", BATCH

    def __init__(self, name: str) -> None:
        self.name = name
        self._dim = 0

    @property
    def dim(self) -> int:
        """Length of a vector, known after the first call: a library opens while its server is down."""
        if not self._dim:
            self.texts(["dimension"])
        return self._dim

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Encode texts, shape (n, dim)."""
        raise NotImplementedError

    def run(self, given: Sequence[Any], encode: Callable[[list[Any]], Any]) -> Vectors:
        """Encode in batches of texts of similar length, because a batch is padded to its longest text.

        Raises:
            ModelError: if the encoder fails or does not return one vector for each input.
        """
        parts = []
        order = list(range(len(given)))
        if _are_texts(given):
            order.sort(key=lambda n: len(given[n]))
        for start in range(0, len(given), self.batch):
            batch = [given[n] for n in order[start : start + self.batch]]
            try:
                found = np.asarray(encode(batch), dtype=np.float32)
            except RagweaveError:
                raise
            except Exception as exc:
                failed = f"the {self.kind} {self.name} failed: {type(exc).__name__}: {clip(str(exc), 200)}"
                raise ModelError(failed, remedy(exc, f"check {self.setting}")) from exc
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
    """An encoder of another package or server, with the prefixes of its family.

    Args:
        name: as in the settings.
        model: name of the model, without its provider.
        embed: makes vectors (n, dim) of at most `batch` texts.
        batch: texts in one call.
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
        if not len(texts):
            return np.zeros((0, self.dim), dtype=np.float32)
        # Some servers refuse an empty text, so it becomes a space.
        prefixed = [prefix + (text if text.strip() else " ") for text in texts]
        return self.run(prefixed, self._embed)
