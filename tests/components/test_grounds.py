from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.components.grounds import find, lacking, underivable
from ragweave.models import tables

SHOP = (
    "Prices (shop.md; 2024-06-01)",
    "The drill costs 90 kr. a day. The saw costs 120 kr. a day.\n\n"
    "Ada Quill opened the shop in 1931. Bert Osk closed it in 1950. It was red. It stood in Pell.\n\n"
    "Item | Length (m) | Price\nHose | 25 | 40\nRope | 30 | 55\n",
)
OTHER = ("Works", "Cy Dorn built the kiln in 1940. He lent Ada Quill 3 tools.")
TEXTS = [SHOP[1], OTHER[1]]


def held(sentence: str, *words: str, question: str = "") -> str:
    grounds = [g for w in words if (g := find(w, TEXTS, 1)) is not None]
    assert len(grounds) == len(words)
    return lacking(sentence, grounds, [SHOP, OTHER], question)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("the saw  costs\n120 KR. a day", "The saw costs 120 kr. a day."),
        ("Ada Quill opened ... in 1931.", "Ada Quill opened the shop in 1931."),
        ("“Ada Quill opened the shop”", "Ada Quill opened the shop in 1931."),
        ("Hose | 25 | 40", "Item | Length (m) | Price\nHose | 25 | 40"),
        ("Cy Dorn built the kiln", "Cy Dorn built the kiln in 1940."),
    ],
)
def test_copied_words_are_found_with_the_sentence_or_row_around_them(words: str, found: str) -> None:
    grounds = find(words, TEXTS, 1)
    assert grounds is not None and grounds.text == found


@pytest.mark.parametrize(
    "words",
    [
        "",
        "...",
        "The saw costs 90 kr.",
        "saw",
        "The drill ... 1999",
        SHOP[1],
        "osts 120 kr. a da",
        "Ada … Bert … Pell.",
    ],
)
def test_words_that_do_not_stand_there_or_span_too_much_are_not_found(words: str) -> None:
    assert find(words, TEXTS, 1) is None


@given(st.data())
def test_every_sentence_of_a_passage_is_found_where_it_stands(data: st.DataObject) -> None:
    spans = [s for s in tables.spans(SHOP[1]) if len(SHOP[1][slice(*s)].split()) > 1]
    start, end = data.draw(st.sampled_from(spans))
    found = find(SHOP[1][start:end], TEXTS, 1)
    assert found is not None and SHOP[1][found.start : found.end].strip() == SHOP[1][start:end].strip()


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("The saw is 120 kr. per day.", "The saw costs 120 kr. a day."),
        ("In 1931 Quill's shop was opened.", "Ada Quill opened the shop in 1931."),
        ("The hose is 25 metres long.", "Hose | 25 | 40"),
        ("By the prices of 1 June 2024, the hose is 40.", "Hose | 25 | 40"),
        ("Dorn lent three tools.", "He lent Ada Quill 3 tools."),
    ],
)
def test_words_and_titles_hold_what_a_sentence_states(sentence: str, words: str) -> None:
    assert held(sentence, words, question="What did Dorn lend?") == ""


@pytest.mark.parametrize(
    ("sentence", "words", "missing"),
    [
        ("The drill costs 120 kr.", "The drill costs 90 kr. a day.", "120"),
        ("The saw costs 120 euros.", "The saw costs 120 kr. a day.", "120"),
        ("The hose is 25 cm long.", "Hose | 25 | 40", "25"),
        ("The shop was opened by Cy Dorn in 1931.", "Ada Quill opened the shop in 1931.", "Cy Dorn"),
        ("It was opened on 3 May 1931.", "Ada Quill opened the shop in 1931.", "3"),
    ],
)
def test_a_value_of_something_else_is_missing(sentence: str, words: str, missing: str) -> None:
    assert held(sentence, words) == missing


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Together they cost 210 kr.", ["The drill costs 90 kr. a day.", "The saw costs 120 kr. a day."]),
        ("The saw costs 30 kr. more.", ["The drill costs 90 kr. a day.", "The saw costs 120 kr. a day."]),
        (
            "It stood open for 19 years.",
            ["Ada Quill opened the shop in 1931.", "Bert Osk closed it in 1950."],
        ),
        ("The hose is about 82 ft long.", ["Hose | 25 | 40"]),
        ("The hose and the rope are 55 m long.", ["Hose | 25 | 40", "Rope | 30 | 55"]),
    ],
)
def test_what_follows_by_arithmetic_is_derived(sentence: str, words: list[str]) -> None:
    grounds = [g for w in words if (g := find(w, TEXTS, 1)) is not None]
    assert underivable(sentence, grounds, [SHOP, OTHER], "") == ""


@pytest.mark.parametrize(
    "sentence", ["Together they cost 310 kr.", "The saw costs 120 euros.", "It costs 7 kr."]
)
def test_what_no_arithmetic_gives_is_not(sentence: str) -> None:
    grounds = [
        g for w in ("The drill costs 90 kr.", "The saw costs 120 kr.") if (g := find(w, TEXTS, 1)) is not None
    ]
    assert underivable(sentence, grounds, [SHOP, OTHER], "") != ""


def test_a_name_in_another_script_or_language_is_no_fault() -> None:
    passages = [("茶", "青山茶产于北坡的茶园,每年四月采摘。")]
    grounds = find("青山茶产于北坡的茶园", [passages[0][1]], 1)
    assert grounds is not None
    assert lacking("Qingshan tea grows on the northern slope.", [grounds], passages, "") == ""
