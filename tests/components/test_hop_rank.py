"""How what was found hangs together over the hops: what led to an item passes on a share of its score."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.components.evidence import Evidence
from ragweave.components.hop_rank import hop_rank, links, spread


def row(name: str, title: str, text: str, score: float = 0.0) -> Evidence:
    return {
        "id": name,
        "corpus": "paragraph",
        "origin": "library",
        "title": title,
        "text": text,
        "locator": {},
        "query": "",
        "hop": 1,
        "score": score,
        "relevance": 0.0,
        "date": "",
    }


MILL = row("mill", "Tarn Mill", "The Tarn Mill was set up by Ilse Marwen in 1871. It closed in 1963.")
ILSE = row("ilse", "Ilse Marwen (founder)", "Ilse Marwen was born in Norway and painted ships.")
PAPER = row("paper", "Paper", "Paper is made of fibres.")
QUESTION = "In which country was the person who set up the Tarn Mill born?"


def test_item_of_a_later_hop_earns_by_its_rank_there_and_the_best_rank_counts() -> None:
    own = {"near": 1.0, "far": 0.1, "noise": 0.2}
    ranked = hop_rank(own, [["far", "noise"], ["noise"]], {}, weight=0.6)
    assert ranked == {"near": 1.0, "far": pytest.approx(0.7), "noise": pytest.approx(0.8)}


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


def test_scores_are_spread_over_the_unit_interval() -> None:
    assert spread({"a": 3.0, "b": -1.0, "c": 1.0}) == {"a": 1.0, "b": 0.0, "c": 0.5}
    assert spread({"a": 2.0}) == {"a": 1.0}
    assert spread({}) == {}
