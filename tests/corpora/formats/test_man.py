from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ragweave.corpora.formats import parse

Write = Callable[[str, str], Path]
SOURCE = r""".\" A comment.
.TH TIDE 1 "June 2024" "Harbour tools"
.SH NAME
tide \- print the height of the \fBtide\fP
.SH OPTIONS
.TP
.B \-n
print the next ebb,
and nothing else
.SH FILES
.I /etc/tide.conf
"""
PRINTED = """TIDE(1)                    Harbour tools                    TIDE(1)

NAME
       tide - print the height of the tide

EXIT STATUS
       0      all went well
       3      the gauge did not answer

Harbour tools              June 2024                        TIDE(1)
"""


def shape(path: Path) -> list[tuple[str, str, int]]:
    return [(b.kind, b.text, b.line) for b in parse(path, "text").blocks]


def test_the_source_of_a_manual_page_is_read_without_its_macros(write: Write) -> None:
    path = write("tide.1", SOURCE)
    assert parse(path, "text").title == "tide(1)"
    assert shape(path) == [
        ("heading", "NAME", 3),
        ("text", "tide - print the height of the tide", 4),
        ("heading", "OPTIONS", 5),
        ("text", "-n\nprint the next ebb, and nothing else", 7),
        ("heading", "FILES", 10),
        ("text", "/etc/tide.conf", 11),
    ]


def test_a_printed_manual_page_has_sections_and_neither_head_nor_foot(write: Write) -> None:
    path = write("tide.txt", PRINTED)
    assert parse(path, "text").title == "tide(1)"
    found = shape(path)
    assert [row for row in found if row[0] == "heading"] == [("heading", "NAME", 3), ("heading", "EXIT STATUS", 6)]
    assert not any("Harbour tools" in text for _, text, _ in found)
    assert found[1] == ("text", "tide - print the height of the tide", 4)


def test_a_text_that_is_no_manual_page_is_read_as_before(write: Write) -> None:
    path = write("a.txt", "NAME\nA list of names.\n\nSEE (1) below.\n")
    assert shape(path) == [("text", "NAME\nA list of names.", 1), ("text", "SEE (1) below.", 4)]
