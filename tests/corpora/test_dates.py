from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.dates import known, noted, of_heading, stated
from ragweave.corpora.split import split


def on(title: str = "", *lines: str, stem: str = "notes", headings: tuple[str, ...] = ()) -> str:
    blocks = [Block(h, "heading", 1) for h in headings] + [Block(line, "text") for line in lines]
    found = stated(title, blocks, stem)
    return found.date().isoformat() if found else ""


@pytest.mark.parametrize(
    ("title", "lines", "stem", "when"),
    [
        ("Minutes of 14 March 2024", ("Valid from 1 May 2025",), "notes", "2024-03-14"),
        ("Fares", ("Valid from 1 September 2025",), "fares-2023", "2025-09-01"),
        ("Preise", ("Stand: 3. Mai 2024",), "preise", "2024-05-03"),
        ("Tarifs", ("Valable à partir du 1er juin 2025",), "tarifs", "2025-06-01"),
        ("Membres", ("Il y a 40 membres. À jour au 2 mai 2023.",), "m", "2023-05-02"),
        ("Prices", ("Prices from 1 February 2025",), "prices", "2025-02-01"),
        ("时刻表", ("日期:2023年4月16日",), "t", "2023-04-16"),
        ("", ("x",), "board 2025-03-20", "2025-03-20"),
        (
            "FORM 10-Q",
            ("For the quarterly period ended April 1, 2023", "As of May 2, 2023, 9 shares"),
            "q",
            "2023-04-01",
        ),
        ("Lease", ("It is long.", "a", "b", "c", "d", "Date: 2 November 2023"), "lease", "2023-11-02"),
        ("A letter", ("Dear all,", "Harbour Street, 20 August 2025"), "letter", "2025-08-20"),
    ],
)
def test_a_date_is_what_the_document_states(title: str, lines: tuple[str, ...], stem: str, when: str) -> None:
    assert on(title, *lines, stem=stem) == when


@pytest.mark.parametrize(
    ("title", "stem", "language"),
    [
        ("Review 2009-2024", "review", "en"),
        ("Annual report 2024", "report", "en"),
        ("Report, Q3 2025", "q3_2025", ""),
        ("Night rota, winter 2025/26", "rota", "en"),
        ("04.01.2023 10Q Document", "intel", "en"),
        ("", "price_list_2024", ""),
    ],
)
def test_a_year_a_quarter_a_range_and_a_day_that_may_be_either_are_no_date(
    title: str, stem: str, language: str
) -> None:
    assert stated(title, [Block("In 2009, 2012 and 2024 it was mended.", "text")], stem, language) is None
    assert stated("04.01.2023 Protokoll", [], "p", "de") == datetime(2023, 1, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    "line",
    [
        "The bridge was opened on 3 May 1990 by the mayor, after eleven years of work and two floods.",
        "Call 0171 2025 or come by.",
        "Birthday: 14 February 1986",
        "Discovery: Pluto, 18 February 1930",
        "The next survey, which nobody looks forward to, is due in June 2027 or a little after that.",
    ],
)
def test_a_date_that_the_text_only_speaks_of_is_not_its_own(line: str) -> None:
    assert on("The bridge", "It is long.", line, "It is old.", "And it is high.", stem="bridge") == ""


def test_the_last_of_dated_headings_is_that_of_the_document() -> None:
    assert on("Changes", "x", headings=("Changes", "2.1 (2025-08-21)", "2.0 (2024-01-30)")) == "2025-08-21"


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
