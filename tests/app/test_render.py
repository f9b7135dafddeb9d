"""Answers, quotes and places as a terminal shows them."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from ragweave.app.flow import Flow
from ragweave.app.places import clean, link, place
from ragweave.app.render import duration, print_answer, usage_line
from ragweave.components.answer import Answer, NodeUsage
from ragweave.components.evidence import Citation, Sentence
from ragweave.components.phrases import QUOTED
from ragweave.corpora.types import Locator

GOLDEN = Path(__file__).with_name("terminal.txt")


def console(width: int = 80) -> Console:
    return Console(
        file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False, color_system=None
    )


def printed(out: Console) -> str:
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


@pytest.mark.parametrize(
    ("locator", "words", "address"),
    [
        ({"file": "/x/a.md", "heading": ["One", "Two"], "line": 4}, "/x/a.md, One › Two", "file:///x/a.md"),
        ({"file": "/x/ä b.pdf", "page": 3}, "/x/ä b.pdf, page 3", "file:///x/%C3%A4%20b.pdf#page=3"),
        ({"file": "/x/a.txt", "line": 12}, "/x/a.txt, line 12", "file:///x/a.txt"),
        (
            {"file": "/x/a.xlsx", "heading": ["Prices"], "line": 2},
            "/x/a.xlsx, Prices, row 2",
            "file:///x/a.xlsx",
        ),
        (
            {"url": "https://e.org/", "fetched": "2026-11-20T10:00"},
            "https://e.org/ (read on 2026-11-20)",
            None,
        ),
        ({"url": "javascript:alert(1)"}, "javascript:alert(1)", ""),
        ({}, "", ""),
    ],
)
def test_a_place_names_file_and_page_or_heading_and_its_link_opens_nothing_that_runs(
    locator: Locator, words: str, address: str | None
) -> None:
    assert place(locator) == words
    assert link(locator) == (locator.get("url") if address is None else address)


@given(st.text())
def test_cleaned_text_cannot_steer_a_terminal(text: str) -> None:
    kept = clean(text)
    assert not any(
        (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or c in "\u202e\u2066" for c in kept
    )
    assert clean(kept) == kept


@given(
    st.lists(st.text(alphabet=st.sampled_from("ab c灯塔。，"), min_size=1, max_size=60), max_size=5),
    st.integers(min_value=8, max_value=40),
)
def test_a_flow_never_exceeds_the_width_if_its_words_fit(texts: list[str], width: int) -> None:
    out = console(width)
    flow = Flow(out)
    for n, text in enumerate(texts, 1):
        flow.sentence(text, (n,), "verified")
    flow.end()
    for line in printed(out).splitlines():
        longest = max((len(w) for w in line.split() if w.isascii()), default=0)
        assert cell_len(line) <= max(width, longest)
    flat = "".join(printed(out).split())
    assert flat == "".join("".join(t.split()) + f"[{n}]✓" for n, t in enumerate(texts, 1))


@given(
    st.lists(
        st.text(alphabet=st.sampled_from("ab c\n灯塔。，[]|"), min_size=1, max_size=90),
        min_size=1,
        max_size=3,
    ),
    st.integers(min_value=20, max_value=60),
    st.tuples(st.integers(0, 40), st.integers(0, 40)),
)
def test_a_quote_loses_no_character_and_never_exceeds_the_width(
    texts: list[str], width: int, ends: tuple[int, int]
) -> None:
    for text in texts:
        out = console(width)
        Flow(out).lines(text, [(min(ends), max(ends))])
        assert "".join(printed(out).split()) == "".join(text.split())
        for line in printed(out).splitlines():
            longest = max((len(w) for w in line.split() if w.isascii()), default=0)
            assert cell_len(line) <= max(width, longest + 4) and line.startswith("    ")


HEADING: Locator = {"kind": "heading", "file": "/x/a.md", "heading": ["Lighthouse", "History"], "line": 7}
PDF: Locator = {"kind": "page", "file": "/x/b.pdf", "heading": ["Pier"], "page": 2}
HEARD: Locator = {"kind": "time", "file": "/x/c.wav", "start": 5.0, "end": 9.0, "doubtful": True}
WEB: Locator = {"kind": "url", "url": "https://example.org/p"}
TABLE = "Prices are low.\nitem | price\nkayak | 210\n…\nsauna | 95"


def answer(*sentences: Sentence, places: tuple[Locator, ...] = (HEADING,), **changes: object) -> Answer:
    cited = [
        Citation(n=n, id=f"p{places.index(locator) + 1}", title="Lighthouse", locator=locator, quote="q")
        for n, locator in enumerate(places, 1)
    ]
    return Answer.model_validate(
        {"question": "?", "text": "", "sentences": sentences, "citations": cited, **changes}
    )


def said(text: str, *citations: int, support: str = "verified", sign: str = "", **more: object) -> Sentence:
    return Sentence.model_validate(
        {"text": text, "citations": citations, "support": support, "sign": sign, **more}
    )


LIT = said("It was lit in 1874.", 1)
SHOWN: dict[str, tuple[Answer, int]] = {
    "sentences flow, what rests on no source is marked": (
        answer(
            LIT,
            said("Water boils at 100 °C.", support="model"),
            said("It still burns.", 1, 2),
            places=(HEADING, PDF),
        ),
        80,
    ),
    "numbers of one place share a line": (answer(LIT, places=(HEADING, HEADING, PDF)), 80),
    "an id that does not fit is on the next line": (answer(LIT), 24),
    "quotes are below their places": (
        answer(
            *(said("A line.", n, support="quoted") for n in (1, 2, 3, 4)),
            places=(HEADING, PDF, HEARD, WEB),
            kind="quotes",
            notes=(QUOTED, "the web was off"),
        ),
        80,
    ),
    "rows of a table": (answer(said(TABLE, 1, support="quoted", marked=((29, 35),)), kind="quotes"), 80),
    "an abstention": (
        answer(abstained=True, places=(), text="I could not find it.", why="nothing mentions 1999"),
        80,
    ),
    "an escape and markup": (answer(said("See [bold]this[/bold]\x1b[31m now.", 1)), 80),
    "a list, code and lines": (
        answer(
            said("First.", 1, sign="-"), said("Second.", 1, sign="-"), said("x = 1\ny = 2", sign="```python")
        ),
        80,
    ),
}


def test_answers_are_printed_as_they_are_kept() -> None:
    shown = ""
    for name, (one, width) in SHOWN.items():
        out = console(width)
        print_answer(out, one)
        shown += f"== {name}\n{printed(out)}"
    assert "\x1b" not in shown and shown == GOLDEN.read_text(encoding="utf-8")


def test_only_matches_in_a_quote_are_bold_and_a_streamed_answer_is_printed_once() -> None:
    out = Console(
        file=io.StringIO(), width=60, force_terminal=True, color_system="standard", legacy_windows=False
    )
    quote = said("Before it. Lit in 1874. After.", 1, support="quoted", marked=((11, 14), (18, 22)))
    print_answer(out, answer(quote, kind="quotes"))
    assert re.findall("\x1b\\[1m(.*?)\x1b\\[0m", printed(out).splitlines()[2]) == [" Lit", " 1874"]
    out = console()
    print_answer(out, answer(LIT), streamed=True)
    assert "1874" not in printed(out) and "Sources" in printed(out)


def test_a_word_that_is_bold_in_part_is_not_broken_at_the_edge() -> None:
    out = console(28)
    quote = said(
        "The old red ferry sails well, they write.", 1, support="quoted", marked=((12, 17), (24, 28))
    )
    print_answer(out, answer(quote, kind="quotes"))
    lines = [line.strip() for line in printed(out).splitlines()]
    assert "The old red ferry sails" in lines and "well, they write." in lines


def test_the_byline_names_the_model_and_its_cost() -> None:
    timed = NodeUsage(node="generate", seconds=1.25)
    spent = timed.model_copy(
        update={"seconds": 0.0, "model": "m", "calls": 2, "input_tokens": 1_100, "cost": 0.01}
    )
    assert usage_line(answer(usage=(timed,))) == "no language model, 1.2 s"
    line = usage_line(answer(usage=(timed, spent), mode="llm", model="m at localhost"))
    assert line == "chat model m at localhost, 2 model calls, 1,100 tokens, 1.2 s, cost 0.0100"
    assert [duration(s) for s in (0.0004, 0.25, 2.34, 600)] == ["0 ms", "250 ms", "2.3 s", "10 min"]


def test_a_mark_that_arrives_after_its_sentence_is_printed_below(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flow = Flow(Console(width=60))
    flow.sentence("It was lit in 1870.", [1], "pending")
    flow.sentence("It is red.", [1], "pending")
    flow.mark("It was lit in 1870.", [2], "contradicted", "The lamp was first lit in 1874.", [2])
    flow.mark("It is red.", [1], "verified", "")
    assert " ".join(capsys.readouterr().out.split()) == (
        "It was lit in 1870. [1] It is red. [1] "
        "“It was lit in 1870.” [2] (contradicted; [2] says: “The lamp was first lit in 1874.”)"
    )
