"""The embedded encoder: static vectors of word pieces, averaged (wordllama, 256 dimensions), out of its package."""

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
"""What the tokenizer takes for a mark of its own; a text with one is left to it whole."""
_SPACE = "\u2581"
_WORDS = re.compile(f"{_SPACE}+[^{_SPACE}\n]*|\n+|[^{_SPACE}\n]+")
_LONG = 40
"""Characters from which a word is a run of a script without spaces, or data: it hardly comes again."""
_SHORT = 6
"""Pieces up to which texts of one length are summed together."""
_KEPT = 60_000
"""Words whose pieces are kept before they are all forgotten; some 12 MB."""


class WordLlamaEncoder:
    """Static word-piece vectors, averaged, with the pieces of words remembered.

    No piece of this vocabulary goes on behind a space or holds a line's end, so that a text has the pieces of
    its words
    one after the other: what was looked up for a word once holds wherever it stands. To tokenize again
    whatever was seen, and to pad the texts of a batch to the longest, took most of the time in which passages
    are scored.
    """

    name = "wordllama-l2-256"
    dim = 256
    max_words = 300
    _longest = 8_000
    """Characters read of a text; the average of more word pieces says nothing further."""

    def __init__(self) -> None:
        root = logging.getLogger()
        before = root.handlers[:], root.level
        import wordllama
        from wordllama import WordLlama

        root.handlers[:], level = before  # imported, it has the whole program log to the console
        root.setLevel(level)
        # Its loader looks for the tokenizer in a folder that the wheel names otherwise; as a cache it is
        # found.
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
            known = self._pieces
            read = [
                known.get(f"{_SPACE}{text}") or self._read(storable(text[: self._longest])) for text in texts
            ]
        # The sum points where the average does.
        short: dict[int, list[int]] = {}
        for n, ids in enumerate(read):
            if len(ids) <= _SHORT:
                short.setdefault(len(ids), []).append(n)
            else:
                self._rows.take(ids, axis=0, mode="clip").sum(axis=0, out=out[n])
        for length, places in short.items():  # words: many at once
            if length:
                out[places] = self._rows.take([read[n] for n in places], axis=0, mode="clip").sum(axis=1)
        return normalise(out)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Encode questions like passages: the model knows no prefix."""
        return self._asked(texts)

    def _read(self, text: str) -> list[int]:
        """Return the ids of a text's pieces."""
        if not text or _SPECIAL.search(text):
            whole: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
            return whole
        if len(self._pieces) > _KEPT:
            self._pieces = {}
        known, found = self._pieces, []
        # As the tokenizer writes it: a space in front, and a mark for each.
        for word in _WORDS.findall(f"{_SPACE}{text.replace(' ', _SPACE)}"):
            ids = known.get(word)
            if ids is None:
                ids = [token.id for token in self._tokenizer.model.tokenize(word)]
                if len(word) <= _LONG and word != _SPACE:  # which is how no text would be asked for
                    known[word] = ids
            found += ids
        return found
