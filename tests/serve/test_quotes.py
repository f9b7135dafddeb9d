"""Quotes, formulas and chapters as a reader sees them: Markdown, HTML, and no markup out of a source."""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

import pytest

from ragweave.components.markdown import as_markdown, in_markdown
from ragweave.serve.chapters import chapters_of
from ragweave.serve.formulas import with_formulas
from ragweave.serve.quotes import as_html, best_of


def quote(before: str, best: str, after: str = "") -> dict[str, Any]:
    return {"text": before + best + after, "marked": [len(before), len(before) + len(best)]}


def test_the_best_sentence_is_bold_in_markdown_and_marked_in_html() -> None:
    said = quote("It was old. … ", "It was painted\nred.", " It stands.")
    assert as_markdown(**said) == "> It was old. … **It was painted red.** It stands."
    assert as_html(said) == "<p>It was old. … <mark>It was painted red.</mark> It stands.</p>"
    assert best_of(said) == "It was painted red."


def test_rows_become_a_table_under_their_heads_if_any_and_the_best_row_is_marked_cell_by_cell() -> None:
    said = quote("Prices.\nticket | adult\n", "single | 60 crowns", "\n…\nten | 420 crowns")
    rows = ["> Prices.", ">", "> | ticket | adult |", "> |---|---|", "> | **single** | **60 crowns** |"]
    assert as_markdown(**said).split("\n") == [*rows, "> | … |  |", "> | ten | 420 crowns |"]
    assert "<tr><th>ticket</th><th>adult</th></tr>" in as_html(said)
    assert "<tr><td><mark>single</mark></td><td><mark>60 crowns</mark></td></tr>" in as_html(said)
    headless = quote("single | 60 crowns\n", "ten | 420 crowns")
    assert as_markdown(**headless).startswith("> |   |   |\n> |---|---|\n> | single | 60 crowns |")
    assert "<th>" not in as_html(headless)


def test_what_a_source_says_is_no_markup() -> None:
    said = quote("# One <b>big</b> [link](http://x) ", "1. `two` *three*")
    assert as_markdown(**said) == "> \\# One \\<b>big\\</b> \\[link\\](http://x) **1. \\`two\\` \\*three\\***"
    assert "<b>" not in as_html(said) and "&lt;b&gt;" in as_html(said)


@pytest.mark.parametrize(
    ("tex", "display"),
    [("$E = mc^2$", "inline"), (r"\(E = mc^2\)", "inline"), ("$$E = mc^2$$", "block"), (r"\[E = mc^2\]", "block")],
)
def test_a_formula_between_its_signs_is_drawn_and_the_rest_is_text(tex: str, display: str) -> None:
    drawn = with_formulas(f"Energy & mass: {tex}, as <i>said</i>.")
    assert drawn.startswith("Energy &amp; mass: <math") and drawn.endswith("</math>, as &lt;i&gt;said&lt;/i&gt;.")
    assert "<msup><mi>c</mi><mn>2</mn></msup>" in drawn and f'display="{display}"' in drawn
    for price in ("It costs $5 or $6.", "$ x $", "no sign at all"):
        assert with_formulas(price) == price


@pytest.mark.parametrize(
    "tex",
    [
        r"\text{<script>alert(1)</script>}",
        r"\text{&lt;img src=x onerror=alert(1)&gt;}",
        r"\href{javascript:alert(1)}{x}",
        r"\style{background:url(http://evil.example)}{x}",
        r"\color{red\" onclick=\"alert(1)}{x}",
        r"\class{a}{x}\id{b}{y}",
    ],
)
def test_nothing_but_mathml_without_addresses_or_styles_comes_out_of_a_formula(tex: str) -> None:
    drawn = with_formulas(f"${tex}$")
    assert set(re.findall(r"<(\w+)", drawn)) <= {"math", "mrow", "mi", "mo", "mn", "mtext", "mstyle"}
    assert not re.search(r"<[^>]*(?:href|style=|onclick|url\(|class=|id=)", drawn)


@pytest.mark.parametrize("tex", ["{" * 1_500, r"\left(x", "x" * 2_001])
def test_what_cannot_be_drawn_stays_as_it_is_written(tex: str) -> None:
    assert with_formulas(f"${tex}$") == f"<code>${tex}$</code>"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("![x](http://evil) <b> `y` [z] 2*3*4", r"!\[x\](http://evil) \<b> \`y\` \[z\] 2\*3\*4"),
        (r"It is $\frac{a*b}{c[1]}$ [m].", r"It is $\frac{a*b}{c[1]}$ \[m\]."),
        ("$![x](http://evil)$ and $<img src=x>$", r"$!\[x\](http://evil)$ and $\<img src=x>$"),
    ],
)
def test_in_markdown_a_formula_stays_and_no_text_becomes_markup(text: str, told: str) -> None:
    assert in_markdown(text) == told


def _shown(start: float, end: float, *texts: str) -> list[dict[str, Any]]:
    return [{"start": start, "end": end, "text": text, "shown": True} for text in texts]


def test_each_slide_is_a_chapter_and_signs_or_titles_of_a_film_are_none() -> None:
    talk = [
        *_shown(0, 8, "An open dataset of pictures", "Otto Brandt, University of Ostvik"),
        {"start": 1.0, "end": 7.0, "text": "Welcome to my talk about the dataset."},
        *_shown(8, 30, "What it holds", "four hundred million pairs"),
        *_shown(30, 52, "What it holds", "four hundred million pairs", "filtered by similarity"),
        *_shown(52, 100, "Why we made it", "Empower independent researchers"),
    ]
    titles = ("An open dataset of pictures", "What it holds", "Why we made it")
    assert chapters_of(talk, 100) == [
        {"start": start, "end": end, "title": title}
        for title, start, end in zip(titles, (0, 8, 52), (8, 52, 100), strict=True)
    ]
    film = [*_shown(12, 14, "57"), *_shown(54, 56, "SOAP", "BUNNER"), *_shown(214, 218, "Music", "Sound Design by us")]
    assert chapters_of(film, 230) == [] == chapters_of(_shown(0, 60, "The harbour", "with its two moles"), 60)


def test_a_line_on_every_slide_names_the_first_chapter_alone() -> None:
    points = ["Pipes join programs", "Filters read lines", "A shell starts them"] * 3
    slides = [_shown(10 * n, 10 * n + 10, "The course", text, "of 2010") for n, text in enumerate(points)]
    assert [chapter["title"] for chapter in chapters_of(chain(*slides), 90)] == ["The course", *points[1:]]
