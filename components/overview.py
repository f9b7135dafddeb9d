"""Describe a library in three sentences and by questions that it answers, in one call of a model."""

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
"""Characters of a passage that the prompt includes."""
_QUESTION = 200
_TITLES = 3_000
"""Characters of the titles that the prompt includes."""
_SUMMARY = 3
"""Sentences that a summary keeps."""
_LONGEST = 800
"""Characters that a summary keeps."""


class WrittenQuestion(BaseModel):
    """A question, the number of its passage, and the sentence there that answers it."""

    passage: int
    question: str
    answer: str


class Written(BaseModel):
    """The reply of the model."""

    summary: str = ""
    questions: list[WrittenQuestion] = []


async def overview_of(
    titles: Sequence[str], passages: Sequence[str], model: Chat, meter: Meter
) -> tuple[str, list[tuple[int, str, int, int]]]:
    """Return a summary and questions, each with the index of its passage and its answer there, [start, end).

    A question is left out if its passage does not contain its answer.
    """
    numbered = [f"{number}.\n{quote(text[:PASSAGE])}" for number, text in enumerate(passages, 1)]
    listed = quote(clip("\n".join(titles), _TITLES))

    def good(text: str) -> bool:
        summary, questions = _used(read_json(text, Written), passages)
        return bool(summary or questions)

    messages = load("overview", titles=listed, passages="\n\n".join(numbered))
    text = await model.text(messages, node="overview", meter=meter, good=good)
    return _used(read_json(text, Written), passages)


def _used(reply: Written | None, passages: Sequence[str]) -> tuple[str, list[tuple[int, str, int, int]]]:
    """Return the summary of a reply, and its questions that can be used."""
    if reply is None:
        return "", []
    found = []
    for row in reply.questions:
        answer = _answer_span(row, passages)
        if answer is not None and 0 < len(row.question) <= _QUESTION:
            start, end = answer
            found.append((row.passage - 1, " ".join(row.question.split()), start, end))
    summary = " ".join(reply.summary.split())
    parts = [summary[start:end] for start, end in sentences(summary)[:_SUMMARY]]
    return clip(" ".join(parts), _LONGEST), found


def _answer_span(row: WrittenQuestion, passages: Sequence[str]) -> tuple[int, int] | None:
    """Return [start, end) of the answer in its passage, or None if the row is no question with an answer."""
    words = row.answer.split()
    is_question = row.question.strip()[-1:] in "?？"
    if not words or not is_question or not 0 < row.passage <= len(passages):
        return None
    pattern = r"\s+".join(map(re.escape, words))
    found = re.search(pattern, passages[row.passage - 1][:PASSAGE])
    return None if found is None else found.span()
