"""Chunks of recordings: which of them a ranking of clips leads to."""

from __future__ import annotations

from ragweave.corpora.chunks import Chunk, best_chunks
from ragweave.models.chat_reply import tokens_of

ONE, TWO, THREE = (
    Chunk(n, "talk", clips, "word " * 100) for n, clips in (("1", ("a", "b")), ("2", ("c",)), ("3", ()))
)


def test_a_chunk_stands_where_its_best_clip_stands_and_once() -> None:
    assert best_chunks([ONE, TWO, THREE], ["c", "b", "a", "elsewhere"], 10_000) == [TWO, ONE]


def test_the_first_chunks_that_fit_are_taken_and_no_smaller_one_behind_them() -> None:
    size = tokens_of(ONE.text)
    small = Chunk("4", "talk", ("d",), "word")
    assert best_chunks([ONE, TWO, small], ["a", "c", "d"], size + 1) == [ONE]
    assert best_chunks([ONE, TWO], ["a", "c"], size - 1) == []
