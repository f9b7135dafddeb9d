"""The embedded encoder: the vectors that its package would give, however the text is written."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.models.embed import encoder
from ragweave.models.encoders import normalise
from ragweave.models.static_embed import WordLlamaEncoder

TEXTS = (
    st.text(st.sampled_from("abT é中文\n\t \u2581.,-’0😀<s>/"))
    | st.text()
    | st.sampled_from(["<s>", "a</s> b", "  a", "\n"])
)


@cache
def theirs() -> Any:
    import wordllama

    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)


@given(st.lists(TEXTS, max_size=6))
def test_vectors_are_those_of_the_package(texts: list[str]) -> None:
    able = [t.encode("utf-8", "replace").decode() for t in texts]
    expected = [theirs().embed([t])[0] for t in able]
    found = encoder("wordllama").texts(texts)
    assert found.shape == (len(texts), 256)
    if texts:
        assert np.abs(found - normalise(np.stack(expected))).max() < 1e-5


def test_remembered_words_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragweave.models.static_embed._KEPT", 3)
    made = WordLlamaEncoder()
    before = made.texts(["one two three four five six"])
    made.texts(["seven"])
    assert len(made._pieces) == 1
    assert np.array_equal(made.texts(["one two three four five six"]), before)


def test_long_runs_are_not_remembered() -> None:
    made = WordLlamaEncoder()
    made.texts(["x" * 200 + " 青山茶什么时候采摘" * 8])
    assert all(len(word) <= 40 for word in made._pieces)
