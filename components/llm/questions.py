"""Questions that passages answer, written by a language model in one call, each with the sentence that answers it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel

from ragweave.models.chat import Chat
from ragweave.models.chat_json import read_json
from ragweave.models.meter import Meter
from ragweave.prompts import load, quote

PASSAGE = 1_200
"""Characters of a passage that are read."""
_QUESTION = 200


class WrittenQuestion(BaseModel):
    """A question, and the sentence of the passage of that number which answers it."""

    passage: int
    question: str
    answer: str


class Written(BaseModel):
    """What the model is asked for."""

    questions: list[WrittenQuestion] = []


async def questions_of(passages: Sequence[str], model: Chat, meter: Meter) -> list[tuple[int, str, int, int]]:
    """Return questions, each with the index of its passage and where in it the sentence stands, [start, end).

    One whose sentence does not stand in its passage is left out.
    """
    told = "\n\n".join(f"{n}.\n{quote(text[:PASSAGE])}" for n, text in enumerate(passages, 1))
    reply = read_json(await model.text(load("questions", passages=told), node="questions", meter=meter), Written)
    found = []
    for row in reply.questions if reply else []:
        words = row.answer.split()
        if not (words and 0 < row.passage <= len(passages) and row.question.strip()[-1:] in "?？"):
            continue
        said = re.search(r"\s+".join(map(re.escape, words)), passages[row.passage - 1][:PASSAGE])
        if said and 0 < len(row.question) <= _QUESTION:
            found.append((row.passage - 1, " ".join(row.question.split()), said.start(), said.end()))
    return found
