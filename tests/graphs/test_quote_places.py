"""Over whole libraries, each quote holds words of the place that it cites and of no other."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ragweave.app.api import aask, aindex, asearch
from ragweave.app.commands.search import passages_for
from ragweave.components.answer import Answer
from ragweave.components.context import Context
from ragweave.corpora.store.library import open_library
from ragweave.corpora.types import Locator
from ragweave.evals.sets import folder_of
from ragweave.models.tables import heads_above

ROOT = Path(__file__).parents[2]
SETS = ("canalboat", "campsite")
PLAIN = (".txt", ".csv")
"""Files whose lines are read as they are."""
QUESTIONS = (
    "What does the ferry cost?",
    "When was the lamp lit?",
    "How many seats has the cinema?",
    "茶室几点开门?",
    "Who keeps the lighthouse?",
    "When does the last boat leave on Sundays?",
    "Which picture shows the harbour?",
)


async def answers_over(folder: Path) -> list[Answer]:
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    await aindex([folder / "library"], folder.name)
    context = Context(library=folder.name, mode="extractive")
    return [await aask(row["question"], context=context) for row in rows[::3]]


async def test_no_quote_holds_words_of_another_place_than_the_cited_one(home: Path) -> None:
    seen = on_lines = 0
    for folder in map(folder_of, SETS):
        for answer in await answers_over(folder):
            library = await open_library(folder.name)
            items = await library.items([c.id for c in answer.citations])
            cited = {c.n: c for c in answer.citations}
            for sentence in (s for s in answer.sentences if s.support == "quoted"):
                (number,) = sentence.citations
                place, item = cited[number].locator, items[cited[number].id]
                start, end = place["chars"]
                piece = item.text[start:end]
                rest = bare(sentence.text).replace(bare(piece), "", 1)
                assert rest in ("", bare(heads_above(item.text, start))), sentence.text
                pages = {s.page for s in item.spans if s.start < end and s.end > start and s.page}
                assert pages <= {place.get("page")}, sentence.text
                seen += 1
                if (line := cited_line(place)) is not None:
                    assert bare(first_words(piece)) in bare(line), sentence.text
                    on_lines += 1
    assert seen >= 200 and on_lines >= 20


async def test_search_lists_the_quotes_of_an_answer_first_and_in_their_order(home: Path) -> None:
    await aindex([ROOT / "examples" / "library"], "demo")
    context = Context(library="demo", mode="extractive")
    for question in QUESTIONS:
        quotes = [s.text for s in (await aask(question, context=context)).sentences if s.support == "quoted"]
        listed = [text for text, _ in (await passages_for(question, context))[1]]
        assert quotes and listed[: len(quotes)] == quotes


@pytest.mark.parametrize("whole", [False, True], ids=["page", "model"])
async def test_the_first_three_files_of_search_and_of_an_answer_agree(home: Path, whole: bool) -> None:
    await aindex([ROOT / "examples" / "library"], "demo")
    context = Context(library="demo", mode="extractive")
    for question in QUESTIONS:
        answer = await aask(question, context=context)
        cited = {c.n: c.locator["file"] for c in answer.citations}
        shown = [cited[s.citations[0]] for s in answer.sentences if s.support == "quoted"]
        found = [row["locator"]["file"] for row in await asearch(question, context=context, whole=whole)]
        first = list(dict.fromkeys(shown))
        assert first and list(dict.fromkeys(found))[: len(first)] == first, question


def cited_line(place: Locator) -> str | None:
    """Return the cited line of a file that is read as it is, None of any other."""
    file = Path(place["file"])
    if file.suffix not in PLAIN or not place.get("line"):
        return None
    return file.read_text("utf-8", "replace").splitlines()[place["line"] - 1]


def bare(text: str) -> str:
    return re.sub(r"[\W_]", "", text)


def first_words(text: str) -> str:
    return " ".join(re.split(r"[^\w]+", text.split("\n")[0].strip())[:2])
