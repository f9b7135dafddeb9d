from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.components.evidence import TEXT_LIMIT, Strip
from ragweave.components.method import Method
from ragweave.components.passages import evidence_of
from ragweave.components.strips import cut, select, strip_of
from ragweave.corpora.types import Item, Span
from ragweave.tests.support.rows import strip


def scored(name: str, score: float) -> Strip:
    return strip(name[0], f"text of {name}", id=f"{name}#0-9", score=score)


def chosen(rows: list[Strip], **knobs: Any) -> list[str]:
    return [r["id"].split("#")[0] for r in select(rows, Method(**knobs))]


SENTENCE = "This is a sentence with eight words inside."
MODES = ("sentences", "whole")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("gap", [". ", " ", ""], ids=["sentences", "no sentence end", "no space"])
def test_an_item_of_fifty_thousand_words_gives_few_strips_and_keeps_what_was_asked(
    mode: str, gap: str
) -> None:
    filler = [f"Filler{n} stands here" for n in range(16_000)]
    filler[9_000] = "The crane of Vellmouth was repaired by Tolly Brandt"
    text = gap.join(filler)
    spans = cut(text, mode, "Who repaired the crane of Vellmouth?")
    assert 1 <= len(spans) <= 64
    assert all(0 < b - a <= TEXT_LIMIT for a, b in spans)
    if gap:
        assert any("Tolly Brandt" in text[a:b] for a, b in spans)


@given(
    st.lists(st.sampled_from([SENTENCE, "Yes.", "x" * 2_500, "茶。" * 900, "\n\n"]), max_size=8), st.data()
)
def test_a_locator_opens_exactly_the_text_of_its_strip(parts: list[str], data: st.DataObject) -> None:
    text = " ".join(parts)
    lines = [Span(m.start(), m.end(), line=n) for n, m in enumerate(re.finditer(r"[^\n]+", text), 1)]
    item = Item("i", "paragraph", "s", "T", text, {"kind": "heading", "file": "f.md"}, spans=tuple(lines))
    for a, b in cut(text, data.draw(st.sampled_from(MODES)), "yes"):
        made = strip_of(evidence_of(item, "yes", 1, 0.0, 0.0), item, a, b, 1)
        start, end = made["locator"]["chars"]
        assert made["text"] == text[start:end]
        assert made["text"].strip() == made["text"]
        (line,) = [s.line for s in lines if s.start <= start < s.end]
        assert made["locator"]["line"] == line


def test_the_number_and_the_threshold_both_apply_and_source_order_is_kept() -> None:
    made = [
        scored("a.1", 0.1),
        scored("a.2", 0.9),
        scored("a.3", -0.9),
        scored("a.4", 0.5),
    ]
    assert chosen(made) == ["a.1", "a.2", "a.4"]
    many = [scored(f"a.{n}", 0.01 * n) for n in range(12)]
    assert chosen(many, form="crag") == ["a.7", "a.8", "a.9", "a.10", "a.11"]


def test_as_the_paper_has_it_an_item_whose_strips_are_all_too_low_leaves_none() -> None:
    made = [
        scored("a.1", -0.9),
        scored("a.2", -0.8),
        scored("b.1", 0.2),
    ]
    assert chosen(made, form="crag") == ["b.1"]


@pytest.mark.parametrize(("sentences", "strips"), [(1, 1), (2, 1), (3, 1), (6, 2), (7, 2), (8, 3)])
def test_a_short_passage_is_one_strip_and_a_longer_one_groups_of_three_sentences(
    sentences: int, strips: int
) -> None:
    assert len(cut(" ".join([SENTENCE] * sentences), "sentences", "sentence")) == strips
