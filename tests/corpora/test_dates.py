from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.dates import known, noted, of_heading, stated
from ragweave.corpora.split import split

ROWS = (Path(__file__).parent / "golden" / "dates.txt").read_text(encoding="utf-8").splitlines()
"""Of each document its date, title, file name, language and lines, of which headings begin with `#`."""


@pytest.mark.parametrize("row", ROWS)
def test_a_date_is_what_the_document_states_and_none_that_it_only_speaks_of(row: str) -> None:
    when, title, stem, language, lines = json.loads(row)
    blocks = [
        Block(line.lstrip("# "), "heading" if line[0] == "#" else "text", int(line[0] == "#"))
        for line in lines
    ]
    found = stated(title, blocks, stem, language)
    assert (found.date().isoformat() if found else "") == when


def test_a_section_has_the_date_of_its_heading() -> None:
    blocks = (
        Block("Changes", "heading", 1),
        Block("2.1 (2025-08-21)", "heading", 2),
        Block("Hold it for six seconds.", "text"),
        Block("2.0 (2024-01-30)", "heading", 2),
        Block("Hold it for ten seconds.", "text"),
    )
    items = [i for i in split("s", "c.md", Parsed("Changes", blocks)) if i.corpus == "paragraph"]
    assert [i.date and i.date.date().isoformat() for i in items] == ["2025-08-21", "2024-01-30"]
    assert of_heading(["Concerts", "2022"]) is None


def test_what_a_program_noted_yields_to_a_text_that_speaks_of_a_later_time() -> None:
    made = datetime(2019, 5, 1, tzinfo=UTC)
    assert noted(made, [Block("We met in June 2018.", "text")]) == made
    assert noted(made, [Block("We met in June 2024.", "text")]) is None
    assert noted(made, [], "Annual report 2018") is None and noted(made, [], "Report 2019", "a") == made


@pytest.mark.parametrize(
    ("when", "names", "text", "told"),
    [
        ("2024-03-01", ("Minutes, March 2024",), "On 1 March 2024 the pump failed.", "2024-03"),
        ("2024-03-01", ("2024-03_minutes",), "", "2024-03"),
        ("2025-01-01", ("Fees",), "Valid from 1 January 2025", "2025-01-01"),
        ("2025-03-01", ("2025-03-01 board",), "", "2025-03-01"),
        ("2024-03-11", ("Meeting",), "", "2024-03-11"),
        ("2025-03-01T18:40", ("Offer",), "", "2025-03-01"),
    ],
)
def test_of_a_date_no_more_is_told_than_the_document_says(
    when: str, names: tuple[str, ...], text: str, told: str
) -> None:
    assert known(datetime.fromisoformat(when), names, text) == told
