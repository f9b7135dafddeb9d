"""A quote as a reader sees it, as Markdown and as HTML."""

from __future__ import annotations

from typing import Any

from ragweave.serve.quotes import as_html, as_markdown, best_of


def quote(before: str, best: str, after: str = "") -> dict[str, Any]:
    return {"text": before + best + after, "marked": [len(before), len(before) + len(best)]}


def test_the_best_sentence_is_bold_in_markdown_and_marked_in_html_between_its_neighbours() -> None:
    said = quote("It was old. … ", "It was painted\nred.", " It stands.")
    assert as_markdown(said) == "> It was old. … **It was painted red.** It stands."
    assert as_html(said) == "<p>It was old. … <mark>It was painted red.</mark> It stands.</p>"
    assert best_of(said) == "It was painted red."


def test_rows_become_a_table_under_their_heads_and_the_best_row_is_marked_cell_by_cell() -> None:
    said = quote("Prices.\nticket | adult\n", "single | 60 crowns", "\n…\nten | 420 crowns")
    assert as_markdown(said).split("\n") == [
        "> Prices.",
        ">",
        "> | ticket | adult |",
        "> |---|---|",
        "> | **single** | **60 crowns** |",
        "> | … |  |",
        "> | ten | 420 crowns |",
    ]
    assert "<tr><th>ticket</th><th>adult</th></tr>" in as_html(said)
    assert "<tr><td><mark>single</mark></td><td><mark>60 crowns</mark></td></tr>" in as_html(said)


def test_rows_without_heads_get_none() -> None:
    said = quote("single | 60 crowns\n", "ten | 420 crowns")
    assert as_markdown(said).startswith("> |   |   |\n> |---|---|\n> | single | 60 crowns |")
    assert "<th>" not in as_html(said)


def test_what_a_source_says_is_no_markup() -> None:
    said = quote("# One <b>big</b> [link](http://x) ", "1. `two` *three*")
    assert as_markdown(said) == "> \\# One \\<b>big\\</b> \\[link\\](http://x) **1. \\`two\\` \\*three\\***"
    assert "<b>" not in as_html(said) and "&lt;b&gt;" in as_html(said)
