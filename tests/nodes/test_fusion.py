from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.nodes.fusion import fuse_ranks, fuse_scores, standardise

rankings = st.lists(st.sampled_from("abcdefgh"), unique=True).map(
    lambda ids: [(i, float(-n)) for n, i in enumerate(ids)]
)


def test_one_list_keeps_its_order() -> None:
    ranking = [("b", 3.0), ("a", 2.0), ("c", 1.0)]
    assert [i for i, _ in fuse_ranks([(1, ranking)])] == ["b", "a", "c"]
    assert [i for i, _ in fuse_scores([(1, ranking)])] == ["b", "a", "c"]


def test_first_rank_scores_one_over_k_plus_base() -> None:
    assert fuse_ranks([(1, [("a", 0.0)])], k=60, base=1) == [("a", 1 / 61)]
    assert fuse_ranks([(1, [("a", 0.0)])], k=60, base=0) == [("a", 1 / 60)]


def test_weight_decides_between_equal_ranks() -> None:
    assert [i for i, _ in fuse_ranks([(1, [("a", 1.0)]), (2, [("b", 1.0)])])] == ["b", "a"]


def test_ties_are_broken_by_id() -> None:
    assert [i for i, _ in fuse_ranks([(1, [("b", 1.0)]), (1, [("a", 1.0)])])] == ["a", "b"]


def test_constant_that_makes_ranks_meaningless_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        fuse_ranks([(1, [("a", 1.0)])], k=0, base=0)


def test_item_missing_from_a_list_counts_as_that_lists_lowest() -> None:
    fused = dict(fuse_scores([(1, [("a", 9.0), ("b", 1.0)]), (1, [("b", 5.0), ("c", 4.0)])]))
    assert fused["c"] == pytest.approx(-2.0)
    assert fused["a"] == pytest.approx(0.0)


def test_equal_scores_carry_no_information() -> None:
    assert standardise([3.0, 3.0]) == [0.0, 0.0]
    assert standardise([]) == []


@given(rankings, st.integers(1, 5))
def test_copies_of_a_list_do_not_change_its_order(ranking: list[tuple[str, float]], copies: int) -> None:
    assert [i for i, _ in fuse_ranks([(1, ranking)] * copies)] == [i for i, _ in ranking]


@given(st.lists(rankings, max_size=4), st.randoms())
def test_order_of_the_lists_does_not_matter(lists: list[list[tuple[str, float]]], random: object) -> None:
    weighted = [(1.0, r) for r in lists]
    shuffled = weighted[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    first, second = dict(fuse_ranks(weighted)), dict(fuse_ranks(shuffled))
    assert first.keys() == second.keys()
    assert all(first[i] == pytest.approx(second[i]) for i in first)


@given(rankings, rankings)
def test_an_item_raised_in_one_list_never_falls(one: list[tuple[str, float]], other: list[tuple[str, float]]) -> None:
    if len(one) < 2:
        return
    raised = [one[1], one[0], *one[2:]]
    before, after = dict(fuse_ranks([(1, one), (1, other)])), dict(fuse_ranks([(1, raised), (1, other)]))
    assert after[one[1][0]] > before[one[1][0]]
