"""Quotes, formulas and chapters as a reader sees them: Markdown, and no markup out of a source."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest

from ragweave.components.markdown import as_markdown, in_markdown
from ragweave.serve.chapters import chapters_of


def quote(text: str, *words: str) -> dict[str, Any]:
    found = [(text.index(word), text.index(word) + len(word)) for word in words]
    return {"text": text, "marked": found}


def test_what_matches_is_bold_in_markdown_and_paragraphs_stay_apart() -> None:
    said = quote("It was old, and painted\nred.\n\nIt stands.", "old", "painted\nred", "stands")
    assert as_markdown(**said) == "> It was **old**, and **painted red**.\n>\n> It **stands**."


def test_rows_become_a_table_under_their_heads_if_any_and_words_in_cells_are_bold() -> None:
    said = quote("Prices.\nticket | adult\nsingle | 60 crowns\n\nten | 420 crowns", "single", "60")
    rows = ["> Prices.", ">", "> | ticket | adult |", "> |---|---|", "> | **single** | **60** crowns |"]
    assert as_markdown(**said).split("\n") == [*rows, "> | ten | 420 crowns |"]
    headless = quote("single | 60 crowns\nten | 420 crowns", "ten")
    assert as_markdown(**headless).startswith(
        "> |   |   |\n> |---|---|\n> | single | 60 crowns |\n> | **ten** |"
    )


def test_what_a_source_says_is_no_markup() -> None:
    said = quote("# One <b>big</b> [link](http://x) 1. `two` *three*", "big", "`two`")
    assert (
        as_markdown(**said)
        == "> \\# One \\<b>**big**\\</b> \\[link\\](http://x) 1. **\\`two\\`** \\*three\\*"
    )


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
    film = [
        *_shown(12, 14, "57"),
        *_shown(54, 56, "SOAP", "BUNNER"),
        *_shown(214, 218, "Music", "Sound Design by us"),
    ]
    assert chapters_of(film, 230) == [] == chapters_of(_shown(0, 60, "The harbour", "with its two moles"), 60)


def test_a_line_on_every_slide_names_the_first_chapter_alone() -> None:
    points = ["Pipes join programs", "Filters read lines", "A shell starts them"] * 3
    slides = [_shown(10 * n, 10 * n + 10, "The course", text, "of 2010") for n, text in enumerate(points)]
    assert [chapter["title"] for chapter in chapters_of(chain(*slides), 90)] == ["The course", *points[1:]]
