"""Markdown: blocks, front matter and the line of every piece."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragweave.corpora.formats.markdown import content, parse
from ragweave.corpora.meta import front_matter

SAMPLE = """---
title: "Tides: a field guide"
date: 2021-05-04
author: R. Marsh
lang: en-GB
---

# Tides

Wrapped over
two *lines* with a [link](http://example.com/x) and ![a chart](chart.png).
Hard break:\\
next line

- one
- two with
  wrapped text
  1. inner

| Place | Height |
|-------|-------:|
| Fundy | 16 m   |
| Brest | 7 m    |

```python
print("tide")
```

> A quoted sentence.

<div align="center"><b>Bold</b> words &amp; more</div>
<!-- secret -->

Setext
------
End.
"""


def test_every_block_has_its_kind_text_and_line(write: Callable[[str, str], Path]) -> None:
    parsed = parse(write("a.md", SAMPLE))
    lines = SAMPLE.split("\n")
    assert [(b.kind, b.level, b.text) for b in parsed.blocks] == [
        ("heading", 1, "Tides"),
        ("text", 0, "Wrapped over two lines with a link and a chart. Hard break:\nnext line"),
        ("list", 0, "- one\n- two with wrapped text\n  1. inner"),
        ("table", 1, "Place | Height\nFundy | 16 m\nBrest | 7 m"),
        ("code", 0, 'print("tide")'),
        ("text", 0, "A quoted sentence."),
        ("text", 0, "Bold words & more"),
        ("heading", 2, "Setext"),
        ("text", 0, "End."),
    ]
    for b in parsed.blocks:
        for s in b.places():
            first = b.text[s.start : s.end].split()[-1].strip("|")
            assert first.strip('*."()') in lines[s.line - 1], (b.text[s.start : s.end], lines[s.line - 1])


def test_front_matter_gives_title_date_author_and_language(write: Callable[[str, str], Path]) -> None:
    parsed = parse(write("a.md", SAMPLE))
    assert (parsed.title, parsed.author, parsed.language) == ("Tides: a field guide", "R. Marsh", "en")
    assert parsed.date is not None and parsed.date.date().isoformat() == "2021-05-04"


@pytest.mark.parametrize(
    ("text", "values", "taken"),
    [
        ("---\ntitle: A\n---\nx", {"title": "A"}, 3),
        ("---\ntitle: A\n...\nx", {"title": "A"}, 3),
        ('+++\ntitle = "A"\ndate = 2020-01-02\n+++\nx', {"title": "A", "date": "2020-01-02"}, 4),
        ("+++\nnot toml at all\n+++\nx", {}, 3),
        ("---\n\nA rule above, not front matter.\n\n---\n", {}, 0),
        ("---\ntitle: never closed\n", {}, 0),
        ("x\n---\ntitle: A\n---\n", {}, 0),
    ],
)
def test_front_matter_is_taken_off_only_where_it_is_one(text: str, values: dict[str, str], taken: int) -> None:
    found, rest, lines = front_matter(text)
    assert (found, lines) == (values, taken)
    assert rest == "\n".join(text.split("\n")[taken:])


def test_without_front_matter_the_first_top_heading_is_the_title(write: Callable[[str, str], Path]) -> None:
    assert parse(write("a.md", "## Sub\n\nx\n\n# Top\n\ny")).title == "Top"
    assert parse(write("b.md", "just text")).title == ""


def test_rows_without_a_delimiter_row_are_read_as_a_table() -> None:
    found, _, _ = content("| Gold | 19.3 |\n| Lead | 11.3 |\n")
    assert [(b.kind, b.text) for b in found] == [("table", "Gold | 19.3\nLead | 11.3")]


def test_wrapped_chinese_lines_are_joined_without_a_space() -> None:
    found, _, _ = content("天文学是研究\n宇宙的科学。")
    assert found[0].text == "天文学是研究宇宙的科学。"


@pytest.mark.parametrize(
    "unit", ["> ", "- ", "  1. ", "[", "![", "*", "**a ", "`", "<a ", "<!--", "|", "\\", "&#", "](", "~~"]
)
def test_deep_or_repeated_markup_is_read_and_keeps_its_words(unit: str) -> None:
    found, _, _ = content(unit * 3000 + "harbour\n\nlast words")
    text = " ".join(b.text for b in found)
    # What opens a fence or a tag takes the rest of its line as its own name.
    assert "harbour" in text or unit in ("<!--", "<a ", "`", "~~")
    assert "last words" in text or unit in ("<!--", "`", "~~")


def test_too_deep_nesting_is_said(write: Callable[[str, str], Path]) -> None:
    parsed = parse(write("a.md", "> " * 500 + "deep\n"))
    assert "deep" in parsed.blocks[-1].text
    assert "nested deeper" in parsed.warnings[0]


WORD = st.text(st.characters(categories=["Ll", "Lu", "Lo"]), min_size=1, max_size=8)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["# ", "- ", "> ", "1. ", "", "", "    ", "| "]), st.lists(WORD, min_size=1)))
)
def test_no_word_is_lost_and_every_span_points_at_its_line(drawn: list[tuple[str, list[str]]]) -> None:
    text = "\n\n".join(lead + " ".join(words) for lead, words in drawn)
    lines = text.split("\n")
    found, _, _ = content(text)
    read = "".join("".join(b.text.split()) for b in found)
    assert all(w in read for _, words in drawn for w in words)
    for b in found:
        for s in b.places():
            assert b.text[s.start : s.end].split()[-1].strip("|") in lines[s.line - 1]


def test_struck_out_words_do_not_run_into_those_that_hold(write: Callable[[str, str], Path]) -> None:
    text = "It costs ~~180~~ 150 euros, <del>in</del> from May.\n\n- ~~Order paint~~\n- Rope ~~9~~ 11 m\n\n"
    text += "| Item | Price |\n|---|---|\n| Lamp | ~~9~~ 11 |\n| Oar | ~~7~~ |\n"
    prose, items, table = parse(write("a.md", text)).blocks
    assert prose.text == "It costs 150 euros, from May."
    assert items.text == "- Order paint\n- Rope 11 m"  # what is done is struck out, and no words stand for it
    assert table.text == "Item | Price\nLamp | 11\nOar | 7"
