"""Running lines of a PDF: what repeats or counts the pages goes, what says something of its page stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ragweave.corpora.formats.pdf import parse
from ragweave.tests.support.pdfs import pdf_bytes

Make = Callable[..., Any]
DAYS = ("first", "second", "third", "fourth")


def text_of(
    write: Make, *lines: Callable[[int], tuple[float, float, float, str, str]], count: int = 4
) -> list[str]:
    """Return the texts of a PDF with a sentence on each page and further lines, each made of the page's number."""
    pages = [
        [
            *(line(n) for line in lines),
            (72.0, 500.0, 11.0, "F1", f"The reading of the {DAYS[n - 1]} day was fair."),
        ]
        for n in range(1, count + 1)
    ]
    return [b.text for b in parse(write("a.pdf", pdf_bytes(pages))).blocks]


def at(
    y: float, said: Callable[[int], str], size: float = 11
) -> Callable[[int], tuple[float, float, float, str, str]]:
    return lambda n: (72.0, y, size, "F1", said(n))


@pytest.mark.parametrize(
    "said",
    [
        lambda n: f"Sample {881 + 7 * (n - 1)}",
        lambda n: f"Invoice {4710 + n}",
        lambda n: f"Meter {n}",
        lambda n: f"Month: {n:02}/2024",
        lambda n: f"Net paid on 28.0{n}.2024: {2400 + 9 * n}",
        lambda n: f"{n * n * 120}",
        lambda n: f"Form {n} of {n + 5}",
    ],
)
@pytest.mark.parametrize("y", [800, 40])
def test_a_line_that_differs_in_more_than_a_page_number_stays(
    write: Make, said: Callable[[int], str], y: float
) -> None:
    found = "\n".join(text_of(write, at(y, said)))
    assert all(said(n) in found for n in range(1, 5))


@pytest.mark.parametrize(
    ("said", "size"),
    [
        (lambda n: f"{n}", 11),
        (lambda n: f"- {n + 20} -", 11),
        (lambda n: f"Page {n}", 11),
        (lambda n: f"{n}/4", 11),
        (lambda n: f"Sida {n} av 4", 11),
        (lambda n: ("i", "ii", "iii", "iv")[n - 1], 9),
        (lambda n: f"Harbour Office, {n}", 9),
    ],
)
@pytest.mark.parametrize("y", [800, 40])
def test_page_numbers_are_left_out(write: Make, said: Callable[[int], str], size: float, y: float) -> None:
    assert text_of(write, at(y, said, size)) == [f"The reading of the {day} day was fair." for day in DAYS]


@pytest.mark.parametrize("y", [800, 40])
def test_a_line_that_repeats_as_it_is_is_read_once(write: Make, y: float) -> None:
    found = text_of(write, at(y, lambda _: "Harbour Office of Skerry Holm"))
    assert sorted(found) == [
        "Harbour Office of Skerry Holm",
        *sorted(f"The reading of the {d} day was fair." for d in DAYS),
    ]


def test_a_line_that_repeats_what_the_text_says_is_left_out(write: Make) -> None:
    found = text_of(
        write, lambda n: (72, 600, 11, "F1", "Tides" if n == 1 else f"Of {n}"), at(800, lambda _: "Tides", 9)
    )
    assert sum(text.count("Tides") for text in found) == 1


def test_a_repeated_line_below_one_that_differs_is_part_of_its_text(write: Make) -> None:
    found = text_of(write, at(800, lambda n: f"Month: {n}"), at(786, lambda _: "Employee: Ada Tamm"))
    assert sum("Employee: Ada Tamm" in text for text in found) == 4


def test_the_last_line_of_each_page_stays_where_it_is_set_as_the_text_is(write: Make) -> None:
    found = "\n".join(text_of(write, at(600, lambda n: f"Tax {n}"), at(460, lambda n: f"Total {n * 50}")))
    assert all(f"Total {n * 50}" in found for n in range(1, 5))


def test_a_document_whose_every_line_repeats_keeps_all_of_them(write: Make) -> None:
    pages: Sequence[Any] = [[(72, 800, 11, "F1", "Voucher"), (72, 786, 11, "F1", "Worth 20 crowns")]] * 3
    assert [b.text for b in parse(write("a.pdf", pdf_bytes(pages))).blocks] == ["Voucher Worth 20 crowns"] * 3
