"""How what was found hangs together over the hops: what led to an item passes on a share of its score."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragweave.components.hop_rank import hop_rank, links
from ragweave.tests.support.rows import evidence

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
