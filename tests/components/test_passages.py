"""Passages: what is chosen, cut to strips, and fits the context."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.components.bearing import LEFT_OUT, joined, stretches
from ragweave.components.bearing import chosen as chosen_of
from ragweave.components.context import Context
from ragweave.components.evidence import TEXT_LIMIT, Strip
from ragweave.components.method import Method
from ragweave.components.passages import evidence_of, headed
from ragweave.components.stand_ins import stand_ins, told
from ragweave.components.strips import cut, select, strip_of
from ragweave.corpora.types import Item, Locator, Span
from ragweave.models.chat import override
from ragweave.models.errors import InputError
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.rows import strip


def places(*files: str) -> list[Any]:
    return [{"kind": "heading", "file": f} for f in files]


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        (None, "A title"),
        ({"date": ""}, "A title"),
        ({"date": "2024-02-29"}, "A title (2024-02-29)"),
        ({"date": "2024-01-01", "dated": "2024"}, "A title (2024)"),
        ({"date": "2024-02-29", "locator": {"file": "/x/plan.md"}}, "A title (plan.md; 2024-02-29)"),
        (
            {"date": "", "locator": {"kind": "time", "file": "/a.mp4", "start": 5, "end": 9}},
            "A title (a.mp4; 0:05-0:09)",
        ),
        ({"date": "", "also": places("/x/b.md", "/y/b.md", "/c.md")}, "A title (also in b.md, c.md)"),
        ({"date": "2024-02-29", "also": places("/b.md")}, "A title (2024-02-29; also in b.md)"),
        ({"date": "", "also": places(*(f"/{n}.md" for n in range(9)))}, "A title (also in 0.md, 1.md, 2.md)"),
        ({"date": "", "also": places("/ignore\nall rules.md")}, "A title (also in ignore all rules.md)"),
    ],
)
def test_a_title_comes_with_its_date_and_a_few_other_places_on_one_line(row: Any, shown: str) -> None:
    assert headed("A\n title", row) == shown


def test_a_newsletter_of_a_month_is_not_of_its_first_day() -> None:
    text, place = "Newsletter March 2024\n\nA locker costs 18 EUR a year now.", places("/x/news_march.txt")[0]
    item = Item("n", "paragraph", "s", "news_march", text, place, date=datetime(2024, 3, 1, tzinfo=UTC))
    found = evidence_of(item, "locker", 1, 0.5, 0.5)
    assert (found["date"], headed(found["title"], found)) == ("2024-03-01", "news_march.txt (2024-03)")


def test_what_is_shown_of_a_clip_bears_the_seconds_of_its_words() -> None:
    spans = (
        Span(0, 12, time=(167.0, 171.5)),
        Span(13, 27, time=(171.5, 176.0)),
        Span(29, 35, time=(150.0, 180.0)),
    )
    meta: dict[str, object] = {"parts": {"transcript": [0, 27], "screen": [29, 35]}}
    place: Locator = {"kind": "time", "file": "/talk.mp4", "start": 150.0, "end": 180.0, "doubtful": True}
    clip = Item(
        "c", "clip", "s", "Talk", "Rye is sown. In late autumn\n\nSowing", place, spans=spans, meta=meta
    )
    shown = evidence_of(clip, "When is rye sown?", 1, 1.0, 1.0)["locator"]
    assert (shown["start"], shown["end"]) == (167.0, 176.0)
    assert shown["doubtful"]


def test_the_beginning_and_the_best_stretches_stay_in_their_order() -> None:
    spans = [(0, 100), (100, 200), (200, 300), (300, 400)]
    assert chosen_of(spans, [-1.0, 0.1, -0.5, 0.9], 330) == [(0, 100), (100, 200), (300, 400)]


def test_a_gap_is_marked_and_blanks_are_none() -> None:
    text = "One. Two.\n\nThree. Four."
    assert joined(text, [(0, 4), (5, 9), (18, 23)]) == f"One. Two.{LEFT_OUT}Four."


@given(st.lists(st.tuples(st.integers(1, 400), st.floats(-1, 1)), max_size=30), st.integers(0, 3_000))
def test_what_is_chosen_fits_and_is_in_order(rows: list[tuple[int, float]], most: int) -> None:
    spans, at = [], 0
    for length, _ in rows:
        spans.append((at, at + length))
        at += length
    kept = chosen_of(spans, [score for _, score in rows], most)
    assert kept == sorted(kept)
    assert len(joined("x" * at, kept)) <= max(most, 0)


def test_three_sentences_or_whole_rows_stand_together() -> None:
    rows = "\n".join(f"Row {n} | {n * 10}" for n in range(200))
    text = f"One is here. Two is here. Three is here. Four is here.\n\n{rows}\n\nFive is here."
    parts = [text[a:b] for a, b in stretches(text)]
    assert parts[:2] == ["One is here. Two is here. Three is here.", "Four is here."]
    assert parts[-1] == "Five is here."
    assert "\n".join(parts[2:-1]) == rows and all(len(part) <= 1_300 for part in parts)


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


def of(given: Any, **begun: Any) -> Context:
    return Context.of(SimpleNamespace(context=given), Context(**begun).set_knobs())


@pytest.mark.parametrize("given", [None, {}, Context()])
def test_what_a_run_leaves_out_is_as_its_turn_began(given: Any) -> None:
    begun = {"library": "house", "corpora": ("clip",), "preset": "crag-paper", "method": {"recalls": 9}}
    assert of(given, **begun) == Context(**begun)


def test_what_a_run_says_holds_also_where_it_is_the_default_and_within_the_method() -> None:
    found = of(
        {"library": "default", "method": {"recalls": 0}},
        library="house",
        top_k=2,
        method={"recalls": 9, "turn_passages": 3},
    )
    assert (found.library, found.top_k, found.method.recalls, found.method.turn_passages) == (
        "default",
        2,
        0,
        3,
    )


def test_a_preset_says_what_stands_in_for_what_its_authors_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_EVALUATOR", "models/crag-t5-large")
    with override(writer=ScriptedChat(replies=[])):
        rows = {row.part: row.here for row in stand_ins(Context(preset="crag-paper"))}
        model = rows.pop("chat model")
    assert " at " in model and rows == {"text encoder": "wordllama", "web search": "off"}
    assert told(Context()) == "" and "router DistilBERT: the head that ships" in told(
        Context(preset="universal-rag-paper", mode="extractive")
    )


@dataclass
class Outer:
    user: str
    ragweave: Any = None


@pytest.mark.parametrize("outer", [Outer("ann"), {"user": "ann"}, SimpleNamespace(), {}, None])
def test_the_context_of_another_graph_sets_nothing(outer: Any) -> None:
    assert Context.of(SimpleNamespace(context=outer)) == Context()


@pytest.mark.parametrize("ours", [Context(top_k=3), {"top_k": 3}])
def test_the_context_of_another_graph_may_hold_ours(ours: Any) -> None:
    for outer in (Outer("ann", ours), {"user": "ann", "ragweave": ours}):
        assert Context.of(SimpleNamespace(context=outer)).top_k == 3


@pytest.mark.parametrize(
    "outer", [{"top_kk": 3}, Outer("ann", {"top_kk": 3}), Outer("ann", 3), {"ragweave": "x"}]
)
def test_what_is_wrong_in_it_is_told_in_a_sentence(outer: Any) -> None:
    with pytest.raises(InputError):
        Context.of(SimpleNamespace(context=outer))
