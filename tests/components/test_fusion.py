"""How lists of passages become one: fusion of scores and ranks, corpora, hops and age."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from math import exp
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.components.context import Context
from ragweave.components.corpus_merge import blended, merged
from ragweave.components.distinct import distinct
from ragweave.components.evidence import RankedList
from ragweave.components.fusion import Ranking, fuse_ranks, fuse_scores, fused, mix, standardise
from ragweave.components.hop_rank import hop_rank, links
from ragweave.components.recency import by_published_age, decay, faded, readable, weights
from ragweave.tests.support.knobs import context
from ragweave.tests.support.rows import evidence

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


def test_dense_fusion_of_several_corpora_is_one_space_but_for_pictures_that_were_compared() -> None:
    text = [
        {**found("dense", "ab", [0.8, 0.2]), "corpus": "paragraph"},
        {**found("dense", "cd", [0.9, 0.5]), "corpus": "clip"},
    ]
    nearest = fused(cast(Any, text), "q", context(fusion="dense"))
    assert nearest == [("c", 0.9), ("a", 0.8), ("d", 0.5), ("b", 0.2)]
    seen = [*text, found("dense", "e", [0.1]), found("visual", "e", [0.3])]
    assert dict(fused(cast(Any, seen), "q", context(fusion="dense"))) == pytest.approx(
        {"c": 1 / 61, "a": 1 / 62, "d": 1 / 63, "b": 1 / 64, "e": 1 / 61}
    )


def test_ranks_of_the_seed_count_from_zero() -> None:
    lists = [found("dense", "ab", [0.8, 0.2]), found("dense", "ba", [0.8, 0.2], "other")]
    assert dict(fused(lists, "asked", Context(preset="rag-fusion-seed"))) == pytest.approx(
        dict.fromkeys("ab", 1 / 60)
    )


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


MILL = evidence(
    "mill", title="Tarn Mill", text="The Tarn Mill was set up by Ilse Marwen in 1871. It closed in 1963."
)
ILSE = evidence(
    "ilse", title="Ilse Marwen (founder)", text="Ilse Marwen was born in Norway and painted ships."
)
PAPER = evidence("paper", title="Paper", text="Paper is made of fibres.")
QUESTION = "In which country was the person who set up the Tarn Mill born?"


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1), min_size=1),
    st.lists(st.lists(st.sampled_from("abcdefg"), unique=True), max_size=4),
    st.dictionaries(st.sampled_from("abcdef"), st.sets(st.sampled_from("abcdefg"))),
    st.floats(0, 2),
)
def test_nobody_loses_and_nobody_gains_more_than_the_weight(own, fetched, named, weight) -> None:  # type: ignore[no-untyped-def]
    ranked = hop_rank(own, fetched, named, weight)
    assert ranked.keys() == own.keys()
    assert all(own[i] <= ranked[i] <= own[i] + weight + 1e-9 for i in own)


def test_titles_named_in_a_text_are_links_unless_the_question_names_them() -> None:
    assert links(QUESTION, [MILL, ILSE, PAPER]) == {"mill": {"ilse"}, "ilse": set(), "paper": set()}


NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


@pytest.mark.parametrize(
    ("date", "kept"),
    [
        (None, False),
        (days_ago(3), True),
        (NOW + timedelta(days=1), True),
        (NOW + timedelta(days=30), False),
        (datetime(1970, 1, 1), False),
        (datetime(1969, 12, 31, 23, tzinfo=UTC), False),
        (datetime(1970, 6, 1), True),
        (datetime(1889, 5, 6), True),
    ],
)
def test_dates_that_cannot_be_meant_are_not_read(date: datetime | None, kept: bool) -> None:
    assert (readable(date, NOW) is not None) == kept


def test_as_the_article_has_it_scores_fall_by_whole_days_from_today_and_to_nothing() -> None:
    dates = ["", days_ago(0.9).isoformat(), days_ago(7).isoformat(), days_ago(700).isoformat()]
    rows: Any = [{"id": n, "date": date, "score": 1.0} for n, date in enumerate(dates)]
    aged = by_published_age(rows, NOW)
    assert [round(r["score"], 4) for r in aged] == [1.0, 1.0, round(exp(-0.7), 4), 0.0]


def test_seven_days_are_about_the_published_lambda() -> None:
    assert all(decay(d, 6.93, 0.0) == pytest.approx(exp(-0.1 * d), rel=0.01) for d in range(30))


def weigh(dates: list[datetime | None], relevance: list[float], half_life: float = 7.0) -> list[float]:
    return weights(dates, relevance, half_life, NOW)


dated = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(-500, 40_000).map(days_ago)), st.floats(-1, 1)),
    min_size=1,
    max_size=12,
)


@given(dated, st.floats(0.1, 5_000))
def test_age_never_changes_the_best_relevance(
    rows: list[tuple[datetime | None, float]], half_life: float
) -> None:
    dates, relevance = [d for d, _ in rows], [r for _, r in rows]
    after = [faded(r, w) for r, w in zip(relevance, weigh(dates, relevance, half_life), strict=True)]
    assert max(after) == pytest.approx(max(relevance), abs=1e-6)
    assert all(-1 - 1e-9 <= a <= 1 for a in after)


@given(st.floats(-0.99, 1), st.integers(0, 20_000), st.integers(0, 20_000))
def test_of_two_equally_relevant_items_the_newer_never_ranks_below(
    relevance: float, one: int, other: int
) -> None:
    newer, older = sorted((one, other))
    made = weigh([days_ago(older), days_ago(newer)], [relevance, relevance])
    assert made[1] >= made[0]


def row(id: str, text: str, corpus: str = "paragraph", file: str = "/a.md", worth: float = 0.0) -> Any:
    return {
        "id": id, "corpus": corpus, "text": text, "title": "Mill", "locator": {"file": file}, "relevance": worth,
        "score": worth,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        (
            [row("p", "It burnt down."), row("d", "Mill\n\nIt  burnt\ndown. It was rebuilt.", "document")],
            ["d"],
        ),
        ([row("d", "It burnt down. It was rebuilt.", "document"), row("p", "It burnt down.")], ["d"]),
        (
            [row("p", "One."), row("x", "Other."), row("q", "Two."), row("d", "One.\nTwo.", "document")],
            ["d", "x"],
        ),
        ([row("p", "It burnt down."), row("d", "It burnt down. More.", "document", "/b.md")], ["p", "d"]),
        ([row("p", "It burnt down."), row("h", "Mill")], ["p"]),
        ([row("h", "Mill")], ["h"]),
        ([row("c", "It burnt down.", "clip"), row("v", "It burnt down. More.", "video")], ["c", "v"]),
        (
            [row("a", "One."), row("b", "Two."), row("c", "Three."), row("d", "Four."), row("e", "Five.")],
            ["a", "b", "c", "d"],
        ),
    ],
)
def test_a_text_is_kept_once_and_its_headings_never_alone(rows: list[Any], kept: list[str]) -> None:
    assert [r["id"] for r in distinct(rows, 4)] == kept
