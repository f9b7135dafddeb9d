from pathlib import Path

import pytest

from ragweave.app.api import astate
from ragweave.minds.context import Context
from ragweave.minds.small.answer.overview import subject_of
from ragweave.tests.support import build_library

NOTES = {
    "mill.md": """# The mill at Orme

## Building

The mill was built by Ada Brook in 1871. It has four floors. Nobody knows why.

## Fire

In 1903 the mill burned for two days. It was wet. The roof was lost.

## Today

The museum opens the mill on 12 days a year. People like it.
""",
    "ferry.md": "# The ferry\n\nThe ferry sails four times a day from Orme.\n",
}


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("Summarise the minutes", "the minutes"),
        ("Give me a short history of the mill.", "the mill"),
        ("What's in the boiler manual?", "the boiler manual"),
        ("What is the contract about?", "the contract"),
        ("What was decided at the spring meeting?", "the spring meeting"),
        ("Fasse den Vertrag zusammen", "den Vertrag"),
        ("What is the price?", None),
        ("Who wrote about the mill?", None),
    ],
)
def test_what_asks_for_an_overview_is_told_from_what_asks_for_a_fact(question, subject):
    assert subject_of(question) == subject


async def ask(question: str):
    return (await astate(question, context=Context(mind="small")))["answer"]


async def test_a_file_is_told_by_its_headings_and_a_cited_sentence_of_each(tmp_path: Path, home: Path) -> None:
    await build_library(tmp_path / "notes", NOTES)
    answer = await ask("What is the mill at Orme about?")
    head, *said = answer.sentences
    assert head.text.startswith("Excerpts from “The mill at Orme”") and "Building; Fire; Today" in head.text
    assert {"Building", "Fire", "Today"} == {s.text.split(":")[0] for s in said}
    assert all(s.citations for s in answer.sentences)
    quotes = [c.quote for c in answer.citations[1:]]
    assert all(quote in NOTES["mill.md"] for quote in quotes)


async def test_a_library_is_told_by_its_files(tmp_path: Path, home: Path) -> None:
    await build_library(tmp_path / "notes", NOTES)
    answer = await ask("What is in my library?")
    assert "2 files" in answer.text and "The ferry" in answer.text and "The mill at Orme" in answer.text
    assert len(answer.citations) == 2


async def test_a_thing_that_no_file_is_named_after_is_asked_for_as_ever(tmp_path: Path, home: Path) -> None:
    await build_library(tmp_path / "notes", NOTES)
    assert "Excerpts" not in (await ask("What is in the red box?")).text
