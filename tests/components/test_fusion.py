from __future__ import annotations

import random
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.components.context import Context
from ragweave.components.evidence import RankedList
from ragweave.components.fusion import Ranking, fuse_ranks, fuse_scores, fused, mix, standardise
from ragweave.tests.support.knobs import context

rankings = st.lists(st.sampled_from("abcdefgh"), unique=True).map(
    lambda ids: [(i, float(-n)) for n, i in enumerate(ids)]
)
weighted = st.lists(st.tuples(st.floats(0.1, 10), rankings), max_size=5)


def plain_rrf(lists: list[tuple[float, Ranking]], k: int) -> dict[str, float]:
    """The formula written down item by item, as an independent reference."""
    ids = {i for _, ranking in lists for i, _ in ranking}
    score = dict.fromkeys(ids, 0.0)
    for item in ids:
        for weight, ranking in lists:
            order = [i for i, _ in ranking]
            if item in order:
                score[item] += weight / (k + 1 + order.index(item))
    return score


@given(rankings, st.floats(0.01, 50), st.floats(0.1, 2))
def test_the_only_hit_of_a_rare_word_is_never_below_an_item_without_it(
    dense: Ranking, found: float, weight: float
) -> None:
    # The item with the word is as near in meaning as the other one, which nothing but the word tells from it.
    for other, score in dense:
        fused = dict(fuse_scores([(weight, [*dense, ("hit", score)], None), (1.0, [("hit", found)], 0.0)]))
        assert fused["hit"] > fused[other]


@given(weighted, st.integers(0, 100), st.randoms())
def test_order_of_the_lists_changes_nothing(
    lists: list[tuple[float, Ranking]], k: int, rng: random.Random
) -> None:
    shuffled = rng.sample(lists, len(lists))
    assert [i for i, _ in fuse_ranks(lists, k)] == [i for i, _ in fuse_ranks(shuffled, k)]


@given(weighted, st.integers(1, 200))
def test_scores_agree_with_the_formula_written_down_plainly(
    lists: list[tuple[float, Ranking]], k: int
) -> None:
    assert dict(fuse_ranks(lists, k)) == pytest.approx(plain_rrf(lists, k))


@given(rankings, st.floats(0.1, 50), st.floats(-100, 100))
def test_score_fusion_does_not_depend_on_scale_and_origin(
    ranking: Ranking, scale: float, shift: float
) -> None:
    other = [("a", 2.0), ("h", 1.0)]
    moved = [(i, s * scale + shift) for i, s in ranking]
    before, after = (dict(fuse_scores([(1, r, None), (1, other, None)])) for r in (ranking, moved))
    assert all(after[i] == pytest.approx(before[i], abs=1e-6) for i in before)


scores = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-1, 1, width=16), max_size=8)


@given(scores, scores, st.floats(0, 1))
def test_mixing_is_alpha_of_the_picture_and_the_rest_of_the_text_or_the_side_that_is_there(
    text: dict[str, float], visual: dict[str, float], alpha: float
) -> None:
    words = dict(zip(text, standardise(list(text.values())), strict=True))
    seen = dict(zip(visual, standardise(list(visual.values())), strict=True))
    mixed = mix(list(text.items()), list(visual.items()), alpha)
    assert {i for i, _ in mixed} == set(text) | set(visual)
    for item, score in mixed:
        if item in text and item in visual:
            assert score == pytest.approx(alpha * seen[item] + (1 - alpha) * words[item])
        else:
            assert score == (words | seen)[item]
    assert [round(s, 9) for _, s in mixed] == sorted((round(s, 9) for _, s in mixed), reverse=True)


def found(kind: str, ids: str, scores: list[float], query: str = "q") -> RankedList:
    row: Any = {"corpus": "image", "query": query, "kind": kind, "ids": list(ids), "scores": scores}
    return cast(RankedList, row)


def test_dense_fusion_reads_no_lexical_list_and_keeps_cosines() -> None:
    lists = [found("dense", "ab", [0.8, 0.2]), found("lexical", "c", [9.0])]
    assert fused(lists, "q", context(fusion="dense")) == [("a", 0.8), ("b", 0.2)]
    assert {i for i, _ in fused(lists, "q", context(fusion="rrf"))} == {"a", "b", "c"}


def test_dense_fusion_mixes_text_and_picture_by_their_cosines() -> None:
    lists = [found("dense", "ab", [0.5, 0.4]), found("visual", "ba", [0.3, 0.2])]
    assert dict(fused(lists, "q", context(fusion="dense"))) == pytest.approx({"a": 0.26, "b": 0.32})


def test_ranks_of_the_seed_count_from_zero() -> None:
    lists = [found("dense", "ab", [0.8, 0.2]), found("dense", "ba", [0.8, 0.2], "other")]
    assert dict(fused(lists, "asked", Context(preset="rag-fusion-seed"))) == pytest.approx(
        dict.fromkeys("ab", 1 / 60)
    )
