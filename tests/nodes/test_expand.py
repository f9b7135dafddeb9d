from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.nodes.expand import _by_rule, clean

QUERY = "How does version v2.0 store vectors?"


@pytest.mark.parametrize(
    ("replies", "kept"),
    [
        (["Here are four queries:", "1. v2.0 vector storage", "2) storage format of v2.0"], ["v2.0 vector storage"]),
        (['"vector files of v2.0"', "- vector files of v2.0", ""], ["vector files of v2.0"]),
        (["How does version v2.0 store vectors?", "how does version V2.0 store vectors"], []),
        (["first form\nsecond form\n\n"], ["first form", "second form"]),
        (["2.5 million vectors"], ["2.5 million vectors"]),
        ([" ", "?", "--"], []),
        (["x" * 600], []),
    ],
)
def test_rewrites_are_cleaned(replies: list[str], kept: list[str]) -> None:
    assert clean(replies, QUERY, 10)[: len(kept)] == kept
    if not kept:
        assert clean(replies, QUERY, 10) == []


@given(st.lists(st.text(max_size=40), max_size=50), st.integers(0, 6))
def test_cleaning_keeps_the_limit_and_never_gives_an_empty_query(replies: list[str], limit: int) -> None:
    kept = clean(replies, QUERY, limit)
    assert len(kept) <= limit
    assert all(any(c.isalnum() for c in k) or k.strip() for k in kept)


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("When was the tower built and who paid for the lens?", 2),
        ("When was the tower built?", 0),
        ("灯塔什么时候建成，谁出钱买了透镜？", 2),
    ],
)
async def test_compound_question_is_cut_into_its_clauses(query: str, parts: int) -> None:
    assert len(await _by_rule(query)) == parts
