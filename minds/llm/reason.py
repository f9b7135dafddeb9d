"""A language model in conversation with the retriever (Auto-RAG, section 3), and the reading of its turns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field, field_validator

from ragweave.minds.desk import Desk
from ragweave.minds.evidence import Strip
from ragweave.minds.known import Decision, Known
from ragweave.minds.passages import headed
from ragweave.models.chat_json import read_json
from ragweave.models.chat_reply import tokens_of, without_thoughts
from ragweave.models.text import clip
from ragweave.prompts import Messages, load, quote

REPROMPTS = 2
"""Times that a turn which cannot be used is asked for again."""
REMINDER = (
    "That could not be read. Say what you learnt and what is missing, and end with one line that begins with "
    "“Query:” or “Final Answer:”."
)
REPEATED = "That was asked before. Ask for something else or in other words, or end with “Final Answer:”."
NOTHING = "No new document was found for this query."
RECALLED = "From your own memory, not from the library"
_SAID = 500
"""Characters of one part of a turn that are kept."""
_PASSAGE = 1_200
"""Characters of a document that are shown."""
_LONGEST = 50_000
"""Characters of a reply that are read."""
_SHORTEST = 120
"""Characters to which documents are cut, at most, when even the last round does not fit."""


async def reason(desk: Desk, known: Known) -> Decision | None:
    """Take the model's next turn: its next query, or its answer; None where no turn of it can be read.

    A turn that cannot be read, or asks what was asked before, is asked for again; the last try asks for JSON, which
    many servers can enforce. A model that only repeats itself has had enough.
    """
    messages = conversation(
        known.question, rounds(known, desk.context.method.turn_passages), desk.context.method.turn_tokens
    )
    turn: Turn | None = None
    for _ in range(REPROMPTS):
        reply = await desk.text(messages, "reasoner")
        turn = read_turn(reply)
        if turn is not None and not known.asked(turn.query):
            break
        problem = REMINDER if turn is None else REPEATED
        messages = [*messages, ("assistant", clip(reply, 1_000) or "(nothing)"), ("user", problem)]
    if turn is None:
        turn = settled(await desk.json(messages, Turn, "reasoner"))
    if turn is None:
        return None
    learnt = turn.learnt or (f"concluded: {turn.answer}" if turn.answer else "")
    return Decision(learnt, "" if turn.enough else turn.missing, turn.query, answer=turn.answer)


class Turn(BaseModel):
    """One turn of the model; a query means that it wants to know more."""

    learnt: str = ""
    missing: str = ""
    query: str = ""
    answer: str = Field("", description="final answer, once the documents suffice")
    enough: bool = False

    @field_validator("learnt", "missing", "query", "answer", mode="before")
    @classmethod
    def _said(cls, value: Any) -> Any:
        return "" if value is None else value


_LABEL = re.compile(
    r"(?:^|(?<=[\s*#>(\[“\"']))(?P<label>final answer|refined query|query|learnt|learned|missing"
    r"|最终答案|查询|已知|缺少)[*_`]*\s*[:：][*_`]*",
    re.I | re.M,
)
_KINDS = {
    "最终答案": "final answer",
    "查询": "query",
    "refined query": "query",
    "已知": "learnt",
    "learned": "learnt",
    "缺少": "missing",
}
_NONE = {"", "none", "n/a", "na", "nothing", "no query", "无", "-"}


def read_turn(reply: str) -> Turn | None:
    """Read a turn in the paper's form or as JSON, or return None.

    Labels count in any case, anywhere in a line, in bold or with a wide colon. A final answer wins over a query, and
    the last of several queries counts. What stands before the first label is taken as what was learnt.
    """
    text = without_thoughts(reply)[:_LONGEST]
    turn = settled(read_json(text, Turn))
    if turn is not None:
        return turn
    marks = list(_LABEL.finditer(text))
    parts: dict[str, str] = {}
    for mark, end in zip(marks, [*(m.start() for m in marks[1:]), len(text)], strict=False):
        kind = _KINDS.get(mark["label"].lower(), mark["label"].lower())
        if said := _clean(text[mark.end() : end], kind):
            parts[kind] = said
    before = " ".join(text[: marks[0].start()].split()).strip("*#> ") if marks else ""
    missing, query, answer = (parts.get(kind, "") for kind in ("missing", "query", "final answer"))
    return settled(Turn(learnt=parts.get("learnt", before), missing=missing, query=query, answer=answer))


def settled(turn: Turn | None) -> Turn | None:
    """Apply the rule that a final answer wins over a query; None where a turn neither asks nor ends."""
    if turn is None or not (turn.query.strip() or turn.answer.strip() or turn.enough):
        return None
    done = turn.enough or bool(turn.answer.strip()) or turn.query.strip(" .").lower() in _NONE
    return Turn(
        learnt=clip(turn.learnt.strip(), _SAID),
        missing=clip(turn.missing.strip(), _SAID),
        query="" if done else clip(turn.query.strip(), _SAID),
        answer=clip(turn.answer.strip(), _SAID),
        enough=done,
    )


def _clean(said: str, kind: str) -> str:
    """Take a part of a turn without its decoration; a query ends with its line."""
    said = said.strip()
    if kind == "query":
        said = re.sub(r"\[\w+\]\s*$", "", said.splitlines()[0] if said else "")
    return clip(" ".join(said.split()).strip("*_` \"'“”<>"), _SAID)


@dataclass(frozen=True)
class Round:
    """One round of the conversation.

    Attributes:
        query: what was asked.
        learnt: what the model said it had learnt before it asked.
        missing: what it said was missing.
        documents: (number, title, text) of what came back.
        recalled: the documents are the model's own words.
    """

    query: str
    learnt: str
    missing: str
    documents: tuple[tuple[int, str, str], ...]
    recalled: bool = False


def rounds(known: Known, most: int) -> list[Round]:
    """Lay out the turn so far: what each round asked, and the best `most` documents that no earlier round had shown."""
    texts: dict[str, list[Strip]] = {}
    for s in known.strips:
        texts.setdefault(s["evidence"], []).append(s)
    rows = {e["id"]: e for e in known.rows}
    out: list[Round] = []
    seen: set[str] = set()
    learnt = missing = ""
    for hop in known.hops:
        fresh = [i for i in hop["evidence"] if i in texts and i not in seen][:most]
        documents = tuple(
            (len(seen) + n, headed(texts[i][0]["title"], rows.get(i)), " […] ".join(s["text"] for s in texts[i]))
            for n, i in enumerate(fresh, 1)
        )
        recalled = bool(fresh) and all(texts[i][0]["origin"] == "model" for i in fresh)
        out.append(Round(hop["query"], learnt, missing, documents, recalled))
        seen.update(fresh)
        learnt, missing = hop["learnt"], hop["missing"]
    return out


def conversation(question: str, past: Sequence[Round], budget: int) -> Messages:
    """Return the messages of the conversation, within a budget of estimated tokens.

    Where they do not fit, the documents of the oldest rounds are replaced by a line that names them (what was learnt
    from them stays); where the last round alone does not fit, its documents are cut.
    """
    opening = load("reason", question=question)
    folded, length = 0, _PASSAGE
    while True:
        messages = [*opening]
        for n, r in enumerate(past):
            said = (f"Learnt: {r.learnt}" if r.learnt else "", f"Missing: {r.missing}" if r.missing else "")
            messages.append(("assistant", "\n".join([*filter(None, said), f"Query: {r.query}"])))
            messages.append(("user", documents_message(r, length, n < folded)))
        fits = sum(tokens_of(text) for _, text in messages) <= budget
        if fits or (folded >= len(past) - 1 and length <= _SHORTEST):
            return messages
        if folded < len(past) - 1:
            folded += 1
        else:
            length //= 2


def documents_message(r: Round, length: int = _PASSAGE, folded: bool = False) -> str:
    """Return what a round brought, as the user's turn: `length` characters of each document, or its name alone."""
    if not r.documents:
        return NOTHING
    if folded:
        named = "; ".join(f"Document_{n} ({title})" for n, title, _ in r.documents)
        return f"Read and summed up in your next turn: {named}"
    head = f"{RECALLED}:\n" if r.recalled else ""
    shown = (f"Retrieved Document_{n}: {title}\n{quote(clip(text, length))}" for n, title, text in r.documents)
    return head + "\n".join(shown)
