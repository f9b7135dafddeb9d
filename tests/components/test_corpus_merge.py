"""Items of several corpora in one order: ranks, relevance, and the router's confidence."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ragweave.components.corpus_merge import blended, merged


def items(*relevances: float, name: str = "a") -> Any:
    return [{"id": f"{name}{n}", "relevance": r, "score": 9.0} for n, r in enumerate(relevances)]


@given(
    st.dictionaries(st.sampled_from(["paragraph", "image", "clip"]), st.lists(st.floats(-1, 1), max_size=5)),
    st.dictionaries(st.sampled_from(["paragraph", "image", "clip"]), st.floats(0, 1)),
)
def test_every_item_stands_once_in_falling_order_and_equal_relevance_keeps_its_rank(
    found: dict[str, list[float]], confidence: dict[str, float]
) -> None:
    ranked = {c: items(*sorted(values, reverse=True), name=c) for c, values in found.items()}
    rows = merged(ranked, confidence)
    assert sorted(r["id"] for r in rows) == sorted(r["id"] for rs in ranked.values() for r in rs)
    assert [r["score"] for r in rows] == sorted((r["score"] for r in rows), reverse=True)
    for corpus, given_ in ranked.items():
        assert [r["id"] for r in rows if r["id"].startswith(corpus)] == [r["id"] for r in given_]


@given(st.lists(st.floats(-1, 1), max_size=8), st.dictionaries(st.integers(0, 9), st.floats(-9, 9)))
def test_blending_keeps_every_item_once_and_the_first_of_both_orders_first(
    values: list[float], joint: dict[int, float]
) -> None:
    rows = items(*values)
    both = blended(rows, {f"a{n}": score for n, score in joint.items() if n < len(rows)})
    assert sorted(r["id"] for r in both) == sorted(r["id"] for r in rows)
    assert [r["score"] for r in both] == sorted((r["score"] for r in both), reverse=True)
    if rows and joint.get(0, -10.0) > max((v for n, v in joint.items() if 0 < n < len(rows)), default=-10.0):
        assert both[0]["id"] == "a0"
