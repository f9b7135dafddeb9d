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
    ["make demo", "RAGWEAVE_HOME=/srv/notes ragweave index " + "a" * 60]
    + [f"step {n} = done" for n in range(30)]
)


def parts(text: str) -> list[str]:
    return [text[a:b] for a, b in tables.spans(text)]


def told(text: str) -> list[str]:
    return [tables.as_sentence(text, a, b) for a, b in tables.spans(text) if not tables.is_heads(text, a, b)]


def test_a_row_is_one_part_whatever_stops_stand_in_it_and_prose_is_cut_into_sentences() -> None:
    assert parts(BOATS) == [
        "The boats of the island.",
        "They are old.",
        "boat | built | crew",
        "Marten | 1961 | 4. One sleeps ashore.",
        "Petrel | 1988 | 6",
        "After the table.",
    ]


def test_a_row_is_told_with_the_heads_of_its_columns_or_as_what_its_first_cell_names() -> None:
    assert told(BOATS)[2:4] == [
        "Marten: built 1961, crew 4. One sleeps ashore.",
        "Petrel: built 1988, crew 6",
    ]
    assert told(RULES) == ["the disk is full: the run ends. Nothing is lost.", "a file goes: it is forgotten"]
    assert told("Oslo | 1 | 2\nBergen | 3 | 4") == ["Oslo: 1, 2", "Bergen: 3, 4"]
    quarters = "| Three Months Ended July 1, 2023 | 2022\nNet income | $170 | $193\nTotal | 180 | 201"
    assert told(quarters)[0] == "Net income: Three Months Ended July 1, 2023 $170, 2022 $193"
    assert told("| 1,200 | 1,300\nTotal | 1 | 2") == ["1,200, 1,300", "Total: 1, 2"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("| 1 | 2", "1, 2"),
        ("a | | c", "a: c"),
        ("a |", "a"),
        ("- a point", "a point"),
        ("3) a point", "a point"),
    ],
)
def test_empty_cells_and_the_marks_of_lists_are_left_out(row: str, said: str) -> None:
    assert tables.as_sentence(row, 0, len(row)) == said


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
    assert all(isinstance(tables.as_sentence(text, a, b), str) for a, b in found)


DATED = [
    f"{day}  serviced by Kowalski Heating, in a cellar" for day in ("12.01.2024", "3.11.2024", "1/12/24")
]
WRAPPED = (
    "Feed the starter the evening before with rye and\nwater, and let it stand in a warm place\nall night."
)
PRICES = ["Merch prices", "T-shirt €20", "Hoodie €45", "LP “Wet Matches” €22"]
CONTACTS = [
    "Amara Quist, cello: 0331 9021",
    "Dr. Ilka Brandt, vet: 0331 5577",
    "Orla Finch, first floor, has our spare key",
]


@pytest.mark.parametrize(
    ("lines", "prose"),
    [
        (PRICES, "The coat costs 120\nand it is made of\nwool from a farm"),
        (
            DATED,
            (
                "It was serviced first on\n12.01.2024 by Kowalski and\nonce more in the spring of\nthat other"
                " year"
            ),
        ),
        (CONTACTS, WRAPPED),
    ],
    ids=["amounts", "days", "lines that end early"],
)
def test_a_listing_is_parted_by_its_lines_and_a_paragraph_is_not(lines: list[str], prose: str) -> None:
    assert parts("\n".join(lines)) == lines
    assert parts(prose) == [prose]
