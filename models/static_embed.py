"""Encode texts as averages of static word-piece vectors (wordllama, 256 dimensions)."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ragweave.models.encoders import ASKED, Remembering, Vectors, normalise
from ragweave.models.text import storable

_SPECIAL = re.compile(r"<(?:unk|/?s)>")
"""Special tokens of the tokenizer; it tokenizes a text with one of them as a whole."""
_SPACE = "\u2581"
_WORDS = re.compile(f"{_SPACE}+[^{_SPACE}\n]*|\n+|[^{_SPACE}\n]+")
_LONG = 40
"""Characters from which a word is unspaced script or data, which seldom occurs again."""
_SHORT = 6
"""Most pieces of the texts that are summed together by length."""
_KEPT = 60_000
"""Most words in the cache of pieces before it is emptied; about 12 MB."""


class WordLlamaEncoder:
    """Average static word-piece vectors, with a cache of the pieces of words.

    No piece of this vocabulary continues after a space or holds a line end. So the pieces of a text are the
    pieces of its words, and the pieces of a word can be cached. Repeated tokenizing, and padding a batch to
    its longest text, took most of the time of scoring passages.
    """

    name = "wordllama-l2-256"
    dim = 256
    max_words = 300
    _longest = 8_000
    """Most characters of a text; the average of more word pieces carries no more information."""

    def __init__(self) -> None:
        root = logging.getLogger()
        before = root.handlers[:], root.level
        import wordllama
        from wordllama import WordLlama

        root.handlers[:], level = before  # Its import makes the whole program log to the console.
        root.setLevel(level)
        # Its loader expects the tokenizer in a folder with another name than in the wheel, but finds it as a
        # cache.
        model: Any = WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
        self._rows: Vectors = np.asarray(model.embedding, dtype=np.float32)
        self._tokenizer = model.tokenizer
        self._tokenizer.no_padding()
        self._pieces: dict[str, list[int]] = {}
        self._lock = threading.Lock()
        self._asked = Remembering(self.texts, ASKED)

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Encode passages, shape (n, 256)."""
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        with self._lock:
            read: list[list[int]] = []
            for text in texts:
                known = self._pieces.get(f"{_SPACE}{text}")
                read.append(known or self._read(storable(text[: self._longest])))
        # The sum has the same direction as the average.
        short: dict[int, list[int]] = {}
        for n, ids in enumerate(read):
            if len(ids) <= _SHORT:
                short.setdefault(len(ids), []).append(n)
            else:
                self._rows.take(ids, axis=0, mode="clip").sum(axis=0, out=out[n])
        for length, places in short.items():  # Many single words at once.
            if length:
                out[places] = self._rows.take([read[n] for n in places], axis=0, mode="clip").sum(axis=1)
        return normalise(out)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Encode questions like passages, because the model has no prefix."""
        return self._asked(texts)

    def _read(self, text: str) -> list[int]:
        """Return the ids of a text's pieces."""
        if not text or _SPECIAL.search(text):
            whole: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
            return whole
        if len(self._pieces) > _KEPT:
            self._pieces = {}
        known, found = self._pieces, []
        # The tokenizer puts a space in front and replaces each space by a mark.
        for word in _WORDS.findall(f"{_SPACE}{text.replace(' ', _SPACE)}"):
            ids = known.get(word)
            if ids is None:
                ids = [token.id for token in self._tokenizer.model.tokenize(word)]
                if len(word) <= _LONG and word != _SPACE:  # `_SPACE` is the key of an empty text.
                    known[word] = ids
            found += ids
        return found
