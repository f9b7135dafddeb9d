"""Describe a library in three sentences and with questions that it answers, in one call of a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel

from ragweave.models.chat import Chat
from ragweave.models.chat_json import read_json
from ragweave.models.meter import Meter
from ragweave.models.text import clip, sentences
from ragweave.prompts import load, quote

PASSAGE = 1_200
"""Characters of a passage that are read."""
_QUESTION = 200
_TITLES = 3_000
"""Characters of the titles that are read."""
_SUMMARY = 3
"""Sentences of a summary."""
_LONGEST = 800
"""Characters of a summary."""


class WrittenQuestion(BaseModel):
    """A question, and the sentence of the passage of that number which answers it."""

    passage: int
    question: str
    answer: str


class Written(BaseModel):
    """What the model is asked for."""

    summary: str = ""
    questions: list[WrittenQuestion] = []


async def overview_of(
    titles: Sequence[str], passages: Sequence[str], model: Chat, meter: Meter
) -> tuple[str, list[tuple[int, str, int, int]]]:
    """Return a summary and questions, each with the index of its passage and its answer there, [start, end).

    A question whose answer does not stand in its passage is left out.
    """
    told = "\n\n".join(f"{n}.\n{quote(text[:PASSAGE])}" for n, text in enumerate(passages, 1))
    listed = quote(clip("\n".join(titles), _TITLES))

    def good(text: str) -> bool:
        return any(_used(read_json(text, Written), passages))

    messages = load("overview", titles=listed, passages=told)
    text = await model.text(messages, node="overview", meter=meter, good=good)
    return _used(read_json(text, Written), passages)


def _used(reply: Written | None, passages: Sequence[str]) -> tuple[str, list[tuple[int, str, int, int]]]:
    """Return the summary and the questions of a reply that can be used."""
    found = []
    for row in reply.questions if reply else []:
        words = row.answer.split()
        if not (words and 0 < row.passage <= len(passages) and row.question.strip()[-1:] in "?？"):
            continue
        said = re.search(r"\s+".join(map(re.escape, words)), passages[row.passage - 1][:PASSAGE])
        if said and 0 < len(row.question) <= _QUESTION:
            found.append((row.passage - 1, " ".join(row.question.split()), said.start(), said.end()))
    summary = " ".join((reply.summary if reply else "").split())
    parts = [summary[start:end] for start, end in sentences(summary)][:_SUMMARY]
    return clip(" ".join(parts), _LONGEST), found
