"""Count which replies of models are read right: `python benchmarks/replies.py [--kind KIND] [-v]`.

`sets/replies.jsonl` holds a reply a line. In a reply, §THOUGHT§ and §ANSWER§ are placeholders for a text that
is no answer and for the answer. A reply of the kinds *thoughts*, *citations*, *debris* and *labels* is right
if a reader sees the answer alone, with the numbers of its documents. A reply of *text* only resembles these
and has to stay as it is. A reply of *json* is right if its object is read, or nothing if it holds none.

Every reply is read twice, as the writer's and as the reasoner's, whole and in parts of several lengths. It is
right if all these readings are.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

from printed import emit, options
from pydantic import BaseModel

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.answer_object import without_object
from ragweave.components.evidence import Strip
from ragweave.components.labels import unlabelled
from ragweave.components.prose import as_shown, begins_cited, complete_sentences, split, tell
from ragweave.components.turn import Answering, begins_turn, read_turn
from ragweave.models.chat_json import read_json
from ragweave.models.chat_reply import can_be_shown, without_thoughts
from ragweave.models.thoughts import ThoughtReader

CASES = Path(__file__).resolve().parent / "sets" / "replies.jsonl"
THOUGHT = "Document [1] says 1804, no wait.\n\nFinal Answer: maybe 1804 [1]. Hmm, no."
ANSWER = "The lamp was first lit on 3 October 1874 [1]."
SHOWN = "The lamp was first lit on 3 October 1874."
TITLES = ("The light", "The boat", "The harbour", "The school", "The inn")
WIDTHS = (1, 2, 3, 5, 11, 100_000)
"""Characters of the parts in which a reply arrives."""
READ_AS_TURN = ("thoughts", "citations", "debris", "labels")
"""Kinds that are read as replies of the reasoner as well."""
Read = tuple[list[str], list[list[int]]]
"""Sentences as they are shown, and the documents that each cites."""


class Grade(BaseModel):
    """The object of the replies in JSON."""

    verdict: str
    score: float = 0.0


def documents() -> list[list[Strip]]:
    """Return the documents that the model was shown, by number."""
    rows: list[list[Strip]] = []
    for n in range(1, len(TITLES) + 1):
        strip: Strip = {
            "id": f"{n}#0-9", "evidence": f"{n}", "text": f"Text number {n}.", "title": TITLES[n - 1],
            "locator": {"kind": "heading"}, "origin": "library", "query": "q", "hop": 1, "score": 0.5,
        }  # fmt: skip
        rows.append([strip])
    return rows


class Reader:
    """Collect the sentences that a reader sees."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.cites: list[list[int]] = []
        self.rows = documents()
        self.builder = AnswerBuilder(self._emit, {}, {}, self._mark)

    def _emit(self, n: int, sentence: Any, citations: Any) -> None:
        self.texts.append(sentence.text)
        self.cites.append(sorted([int(citation.id) for citation in citations]))

    def _mark(self, n: int, sentence: Any, citations: Any) -> None:
        self.cites[n - 1] = sorted([int(citation.id) for citation in citations])

    def tell(self, raw: str) -> None:
        """Show a sentence of the model."""
        tell(raw, self.rows, self.builder)

    @property
    def read(self) -> Read:
        """What was shown."""
        self.builder.close()
        return self.texts, self.cites


async def arriving(reply: str, width: int, begins: Callable[[str], bool]) -> AsyncIterator[str]:
    """Yield the answer in a reply that arrives in parts, as `Chat.stream` does."""
    reader = ThoughtReader()
    given = ""
    for at in range(0, len(reply), width):
        given += reader.add(reply[at : at + width])
        waiting = given or reader.waiting
        if waiting and (not reader.holds or (can_be_shown(waiting) and begins(waiting))):
            yield given + reader.release()
            given = ""
    yield given + reader.rest()


async def as_writer(reply: str, width: int) -> Read:
    """Return what is shown of a reply of the writer."""
    seen = Reader()
    first = True
    async for sentence in complete_sentences(without_object(arriving(reply, width, begins_cited))):
        raw = unlabelled(sentence) if first else sentence
        first = first and not as_shown(raw)
        seen.tell(raw)
    return seen.read


async def as_reasoner(reply: str, width: int) -> Read:
    """Return what is shown of a reply of the reasoner while it arrives."""
    seen = Reader()
    text = ""

    async def take(sentence: str, _: object) -> None:
        seen.tell(sentence)

    answering = Answering(take, [], 99)
    async for part in arriving(reply, width, begins_turn):
        text += part
        await answering.read(text)
    await answering.read(text, ended=True)
    return seen.read if answering.shown_count else as_turn(text)


def as_turn(reply: str) -> Read:
    """Return what is shown of a whole reply of the reasoner."""
    seen = Reader()
    turn = read_turn(without_thoughts(reply))
    for sentence in split(turn.answer if turn else ""):
        seen.tell(sentence)
    return seen.read


async def readings(case: dict[str, Any]) -> AsyncIterator[tuple[str, Read]]:
    """Yield each reading of a case with its name."""
    reply = case["reply"].replace("§THOUGHT§", THOUGHT)
    whole = reply.replace("§ANSWER§", ANSWER)
    for width in WIDTHS:
        yield f"writer, {width}", await as_writer(whole, width)
    if case["kind"] not in READ_AS_TURN:
        return
    turn = reply.replace("§ANSWER§", f"Final Answer: {ANSWER}")
    if case["kind"] == "labels":
        turn = whole
    elif turn == reply:
        turn = f"Final Answer: {reply}"
    for width in WIDTHS:
        yield f"writer with a label, {width}", await as_writer(turn, width)
        yield f"reasoner, {width}", await as_reasoner(turn, width)
    yield "turn", as_turn(turn)


async def wrong(case: dict[str, Any]) -> str:
    """Return the first reading of a case that is not right, in words, or ""."""
    if case["kind"] == "json":
        read = read_json(case["reply"], Grade)
        score = None if read is None or read.verdict != "yes" else read.score
        return "" if score == case["score"] else f"read {read!r}"
    expected = (case.get("shown", [SHOWN]), case.get("cites", [[1]]))
    async for name, got in readings(case):
        if got != expected:
            return f"{name}: {got[0]} {got[1]}"
    return ""


def cases(kind: str) -> Iterator[dict[str, Any]]:
    """Yield the cases of a kind, or all of them."""
    for line in CASES.read_text(encoding="utf-8").rstrip("\n").split("\n"):
        case = json.loads(line)
        if kind in ("", case["kind"]):
            yield case


async def measure(kind: str, verbose: bool) -> dict[str, str]:
    """Return by kind how many replies are read right, and of how many."""
    right: dict[str, list[bool]] = {}
    for case in cases(kind):
        found = await wrong(case)
        right.setdefault(case["kind"], []).append(not found)
        if found and verbose:
            print(f"{case['kind']}: {case['name']}: {found}")
    return {name: f"{sum(row)} of {len(row)}" for name, row in right.items()}


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("--kind", default="", help="read the cases of this kind only")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what is not read right")
    given = parser.parse_args()
    emit(asyncio.run(measure(given.kind, given.verbose)), given.json)
