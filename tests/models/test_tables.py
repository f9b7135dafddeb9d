from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.models import tables

BOATS = """The boats of the island. They are old.
boat | built | crew
Marten | 1961 | 4. One sleeps ashore.
Petrel | 1988 | 6
After the table.
"""
RULES = """what happens | what a library does
the disk is full | the run ends. Nothing is lost.
a file goes | it is forgotten"""
LISTING = "\n".join(
    ["make demo", "RAGWEAVE_HOME=/srv/notes ragweave index " + "a" * 60] + [f"step {n} = done" for n in range(30)]
)


def parts(text: str) -> list[str]:
    return [text[a:b] for a, b in tables.spans(text)]


def told(text: str) -> list[str]:
    return [tables.told(text, a, b) for a, b in tables.spans(text) if not tables.is_heads(text, a, b)]


def test_a_row_is_one_part_whatever_stops_stand_in_it_and_prose_is_cut_into_sentences() -> None:
    assert parts(BOATS) == [
        "The boats of the island.",
        "They are old.",
        "boat | built | crew",
        "Marten | 1961 | 4. One sleeps ashore.",
        "Petrel | 1988 | 6",
        "After the table.",
    ]


def test_a_long_row_is_told_with_the_heads_of_its_columns() -> None:
    assert told(BOATS)[2:4] == ["Marten: built 1961, crew 4. One sleeps ashore.", "Petrel: built 1988, crew 6"]


def test_a_row_of_two_cells_is_told_as_what_its_first_cell_names() -> None:
    assert told(RULES) == ["the disk is full: the run ends. Nothing is lost.", "a file goes: it is forgotten"]


def test_heads_are_not_told_and_a_first_row_with_figures_is_no_heads() -> None:
    assert told("a | b | c\n1 | 2 | 3") == ["1: b 2, c 3"]
    assert told("Oslo | 1 | 2\nBergen | 3 | 4") == ["Oslo: 1, 2", "Bergen: 3, 4"]


@pytest.mark.parametrize(
    ("row", "said"),
    [("| 1 | 2", "1, 2"), ("a | | c", "a: c"), ("a |", "a"), ("- a point", "a point"), ("3) a point", "a point")],
)
def test_empty_cells_and_the_marks_of_lists_are_left_out(row: str, said: str) -> None:
    assert tables.told(row, 0, len(row)) == said


def test_a_long_listing_is_parted_by_its_lines_and_wrapped_prose_is_not() -> None:
    assert "make demo" in parts(LISTING)
    prose = "\n".join(["word " * 15 + "end"] * 8)
    assert len(parts(prose)) == 1


@given(st.text(alphabet="ab1 .|\n-", max_size=120))
def test_parts_stand_in_order_and_hold_every_character_that_is_not_white(text: str) -> None:
    found = tables.spans(text)
    assert all(a < b for a, b in found)
    assert all(b <= c for (_, b), (c, _) in pairwise(found))
    assert "".join("".join(text[a:b].split()) for a, b in found) == "".join(text.split())
    assert all(isinstance(tables.told(text, a, b), str) for a, b in found)


def test_lines_that_end_in_amounts_are_a_listing_and_lines_of_a_paragraph_are_none() -> None:
    prices = ["Merch prices", "T-shirt €20", "Hoodie €45", "LP “Wet Matches” €22"]
    assert [("\n".join(prices))[a:b] for a, b in tables.spans("\n".join(prices))] == prices
    prose = "The coat costs 120\nand it is made of\nwool from a farm"
    assert len(tables.spans(prose)) == 1


@pytest.mark.parametrize("days", [("12.01.2024", "3.11.2024", "14.01.2025"), ("1/12/24", "2/12/24", "3/12/24")])
def test_lines_that_open_with_a_day_are_a_listing(days: tuple[str, ...]) -> None:
    lines = [f"{day}  serviced by Kowalski Heating, in cellar {n}" for n, day in enumerate(days)]
    assert [("\n".join(lines))[a:b] for a, b in tables.spans("\n".join(lines))] == lines
    prose = "It was serviced first on\n12.01.2024 by Kowalski and\nonce more in the spring of\nthe year after that one"
    assert len(tables.spans(prose)) == 1
