from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from ragweave.nodes.refine import select, strips
from ragweave.nodes.state import Strip


def strip(name: str, score: float, text: str = "") -> Strip:
    return {
        "id": f"{name}#0-9",
        "evidence": name.split(".")[0],
        "text": text or f"text of {name}",
        "title": "T",
        "locator": {},
        "origin": "library",
        "query": "q",
        "hop": 1,
        "score": score,
    }


def names(rows: list[Strip]) -> list[str]:
    return [r["id"].split("#")[0] for r in rows]


SENTENCE = "This is a sentence with eight words inside."


def test_sentences_are_grouped_by_three() -> None:
    text = " ".join([SENTENCE] * 6)
    assert [text[a:b] for a, b in strips(text)] == [" ".join([SENTENCE] * 3)] * 2


def test_a_short_tail_joins_the_group_before_it() -> None:
    text = " ".join([SENTENCE] * 4)
    assert strips(text) == [(0, len(text))]


def test_a_short_sentence_joins_its_neighbour() -> None:
    text = f"{SENTENCE} Yes. {SENTENCE}"
    assert strips(text, group=1) == [(0, len(SENTENCE) + 5), (len(SENTENCE) + 6, len(text))]


def test_a_passage_of_a_few_words_is_one_strip() -> None:
    assert strips("Yes.") == [(0, 4)]
    assert strips("") == []


@given(st.text(alphabet="ab .!?\n", max_size=200), st.integers(1, 4))
def test_strips_cover_everything_but_white_space_in_order(text: str, group: int) -> None:
    spans = strips(text, group)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
    assert all(one[1] <= two[0] for one, two in itertools.pairwise(spans))


def test_top_k_and_threshold_both_apply_and_source_order_is_kept() -> None:
    made = [strip("a.1", 0.1), strip("a.2", 0.9), strip("a.3", -0.9), strip("a.4", 0.5)]
    assert names(select(made, top=10)) == ["a.1", "a.2", "a.4"]
    assert names(select(made, top=2)) == ["a.2", "a.4"]


def test_best_strip_of_a_kept_item_stays_below_the_threshold() -> None:
    assert names(select([strip("a.1", -0.9), strip("a.2", -0.8)], top=10)) == ["a.2"]


def test_same_text_from_two_items_is_kept_once() -> None:
    made = [strip("a.1", 0.5, "Same text."), strip("b.1", 0.6, "same  text.".replace("  ", " "))]
    assert names(select(made, top=10)) == ["b.1"]
