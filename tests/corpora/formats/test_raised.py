"""Raised and lowered text: numbers stay what they are, and marks of notes stand apart."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import docx
import pytest

from ragweave.corpora.formats import parse
from ragweave.corpora.formats.probe import probe

Write = Callable[[str, str | bytes], Path]

CASES = [
    ("3 × 10<sup>6</sup> watts", "3 × 10^6 watts"),
    ("<b>10</b><sup>−3</sup> m", "10^−3 m"),
    ("2<sup>n</sup> nodes", "2^n nodes"),
    ("(a + b)<sup>2</sup>", "(a + b)^2"),
    ("101<sub>2</sub> is five", "101_2 is five"),
    ("H<sub>2</sub>O, CO<sub>2</sub>", "H2O, CO2"),
    ("70 m<sup>2</sup> and 5 km<sup>2</sup>", "70 m2 and 5 km2"),
    ("x<sup>2</sup>", "x2"),
    ("the 1<sup>st</sup> and 2<sup>e</sup>", "the 1st and 2e"),
    ("Ca<sup>2+</sup> and <sup>14</sup>C", "Ca2+ and 14C"),
    ("Nob<sup>1</sup> keeps it.<sup>2, 3</sup>", "Nob [1] keeps it. [2, 3]"),
    ('in 1990<sup><a href="#n4">4</a></sup> or<a href="#n5"><sup>5</sup></a>', "in 1990 [4] or [5]"),
    ('Nob<sup class="reference"><a href="#c">[1]</a></sup> said', "Nob [1] said"),
    ("Nob<sup>[a]</sup> said", "Nob [a] said"),
    ("<sup>1</sup> Nob means Norbert", "1 Nob means Norbert"),
    ("E = mc<sup>2</sup>", "E = mc2"),
]


@pytest.mark.parametrize(("body", "text"), CASES)
def test_what_is_raised_in_a_page_is_no_part_of_the_number_or_word_before(write: Write, body: str, text: str) -> None:
    page = f"<html><body><p>{body}</p></body></html>"
    assert parse(write("a.html", page), "html").blocks[0].text == text


def test_what_is_raised_in_a_table_or_heading_is_so_too(write: Write) -> None:
    page = "<h1>10<sup>6</sup> watts</h1><table><tr><th>a</th><th>b</th></tr><tr><td>10<sup>9</sup></td><td>x</td></tr>"
    first, second = parse(write("a.html", f"<html><body>{page}</table></body></html>"), "html").blocks
    assert (first.text, second.text) == ("10^6 watts", "a | b\n10^9 | x")


def test_what_is_raised_in_markdown_is_so_too(write: Write) -> None:
    text = "# Powers\n\nHelios makes 3 x 10<sup>6</sup> watts<sup>1</sup> of H<sub>2</sub>O, <sup>unclosed.\n\nNext.\n"
    blocks = parse(write("a.md", text), "markdown").blocks
    assert [b.text for b in blocks[1:]] == ["Helios makes 3 x 10^6 watts [1] of H2O, unclosed.", "Next."]


def test_what_is_raised_in_a_word_document_is_so_too(write: Write) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("The reactor makes 10")
    for text, script in (("1", "super"), ("2", "super"), (" watts", ""), ("7", "super"), (" of H", ""), ("2", "sub")):
        run = paragraph.add_run(text)
        if script:
            setattr(run.font, f"{script}script", True)
    paragraph.add_run("O.")
    out = io.BytesIO()
    document.save(out)
    path = write("a.docx", out.getvalue())
    assert parse(path, probe(path)).blocks[0].text == "The reactor makes 10^12 watts [7] of H2O."
