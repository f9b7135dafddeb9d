"""A language model in conversation with the retriever: it answers, or asks for more (Auto-RAG, section 3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from string import ascii_uppercase
from typing import Any

from pydantic import BaseModel, field_validator

from ragweave.corpora.meta import NAMES
from ragweave.minds.desk import Desk
from ragweave.minds.evidence import TEXT_LIMIT, Strip
from ragweave.minds.known import Decision, Known, Tell
from ragweave.minds.llm.look import Pictures, sees, showing, unlooked, watched
from ragweave.minds.llm.prose import boundary, long
from ragweave.minds.passages import headed, untitled
from ragweave.minds.small.choose import offered
from ragweave.models.chat_json import read_json
from ragweave.models.chat_reply import tokens_of, without_thoughts
from ragweave.models.errors import RagweaveError
from ragweave.models.text import clip
from ragweave.prompts import Messages, load, quote

REMINDER = (
    "That could not be read. Reply with “Final Answer:” and the answer, or with a line that begins with “Query:”."
)
REPEATED = "That was asked before. Ask for something else or in other words, or end with “Final Answer:”."
LAST = "Nothing more can be searched: reply with “Final Answer:”."
NOTHING = "No new document was found."
RECALLED = "From your own memory, not from the library"
_SAID = 500
"""Characters of one part of a turn that are kept."""
_ANSWER = 8_000
"""Characters of an answer that are kept; reading a reply stops here."""
_QUERIES = 3
"""Queries of one turn."""
_SHORTEST = 120
"""Characters to which documents are cut, at most, when even the last round does not fit."""


async def reason(desk: Desk, known: Known) -> Decision | None:
    """Take the model's next turn: its answer, or its next queries; None where no turn of it can be read.

    A turn that cannot be read, or asks only what was asked before, is asked for again once.
    """
    past = rounds(known, desk.context.method.turn_passages)
    opening = told(desk, known.question, await (await desk.library()).languages())
    messages = conversation(known.question, past, desk.context.method.turn_tokens, opening, desk.context.sentences)
    pictures = await _frames(desk, known, past)
    messages = [*messages[:-1], (messages[-1][0], messages[-1][1] + pictures.told)]
    last = known.last or not desk.meter.room(2, 2 * sum(tokens_of(text) for _, text in messages))
    if last:
        messages = [*messages[:-1], (messages[-1][0], f"{messages[-1][1]}\n\n{LAST}")]
    turn: Turn | None = None
    answering = Answering(known.tell, [i for r in past for i in r.shown], 2 * desk.context.sentences)
    if offered(desk.context, known.question)[1]:
        answering.tell = None
    for _ in range(2):
        reply = await _reply(desk, messages, pictures, answering)
        turn = read_turn(reply)
        new = [q for q in turn.queries if not known.asked(q)] if turn else []
        if turn is not None and (turn.enough or (new and not last)):
            turn = turn.model_copy(update={"queries": new})
            break
        problem = REMINDER if turn is None else LAST if last else REPEATED
        messages = [*messages, ("assistant", clip(reply, 1_000) or "(nothing)"), ("user", problem)]
    if turn is None:
        return None
    learnt = turn.learnt or (f"concluded: {clip(turn.answer, _SAID)}" if turn.answer else "")
    decision = Decision(learnt, "" if turn.enough else turn.missing, answer=turn.answer)
    if turn.enough:
        return replace(decision, shown=tuple(i for r in past for i in r.shown))
    return replace(decision, query=turn.queries[0], more=tuple(turn.queries[1:])) if turn.queries else decision


class Answering:
    """Tells the sentences of an answer while its turn arrives.

    Args:
        tell: takes a sentence and the ids of what the numbers in it mean; None keeps silent.
        shown: those ids.
        most: sentences of an answer that are told.

    Attributes:
        told: sentences that were.
    """

    def __init__(self, tell: Tell | None, shown: Sequence[str], most: int) -> None:
        self.tell, self._shown, self._most = tell, shown, most
        self.told = self._at = 0

    async def read(self, text: str, ended: bool = False) -> bool:
        """Tell what is complete of a turn that has arrived up to here; False where more need not be read."""
        marks = list(_LABEL.finditer(text)) if self.tell is not None else []
        first = next((m for m in marks if _KINDS.get(m["label"].lower(), m["label"].lower()) == _FINAL), None)
        if self.tell is None or first is None:
            return True
        end = next((m.start() for m in marks if m.start() > first.start()), None)
        answer = text[first.end() : end].lstrip(_DRESS)
        if not self.told and _UNKNOWN.match(answer):
            return True
        while self.told < self._most:
            stop = boundary(answer[self._at :])
            if stop is None and not (ended or end is not None):
                return True
            sentence = answer[self._at :][:stop].strip(_DRESS if stop is None else None)
            self._at += len(answer) if stop is None else stop
            if not sentence:
                return end is None
            self.told += 1
            await self.tell(sentence, self._shown)
        return False


async def _frames(desk: Desk, known: Known, past: Sequence[Round]) -> Pictures:
    """Return frames of the clips that came with the last round and that nobody looked at, for a model that can see."""
    if not past or not sees(desk, "reasoner"):
        return Pictures()
    rows, before = {e["id"]: e for e in known.rows}, sum(len(r.shown) for r in past[:-1])
    numbered = [(n, rows[i]) for n, i in enumerate(past[-1].shown, before + 1) if i in rows]
    return await watched(desk, await unlooked(desk, numbered))


async def _reply(desk: Desk, messages: Messages, pictures: Pictures, answering: Answering) -> str:
    """Read a reply as it is written, and no further than an answer is long; of a broken one, whole sentences."""
    text = ""
    try:
        async with aclosing(showing(desk, messages, pictures, "reasoner")) as stream:
            async for part in stream:
                text += part
                if not await answering.read(text) or len(text) > 2 * _ANSWER:
                    break
    except RagweaveError as error:
        whole = _WHOLE.match(text)
        if whole is None and not answering.told:
            raise
        desk.note(f"The answer was cut short: {error}")
        text = whole.group() if whole else text
    await answering.read(text, ended=True)
    return text.strip()


def today() -> str:
    """Return the date of the day."""
    return datetime.now(UTC).date().isoformat()


def told(desk: Desk, question: str, languages: Sequence[str]) -> str:
    """Return what the model is told before the question: the day, the languages held, the form of the answer."""
    lines = [f"Today is {today()}."]
    if len(languages) > 1:
        lines.append(f"The library is in {', '.join(NAMES.get(code, code) for code in languages)}.")
    if options := offered(desk.context, question)[1]:
        lettered = [f"{a}. {' '.join(o.split())}" for a, o in zip(ascii_uppercase, options, strict=False)]
        lines.append("Choose one answer; the final answer is its letter alone.")
        lines += lettered if desk.context.choices else []
    elif desk.context.answer_form == "short":
        lines.append("Answer in a few words: the name, number or phrase alone.")
    return "\n".join(lines) + "\n"


class Turn(BaseModel):
    """One turn of the model; queries mean that it wants to know more."""

    learnt: str = ""
    missing: str = ""
    query: str = ""
    queries: list[str] = []
    answer: str = ""
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
_FINAL = "final answer"
_DRESS = '*_` \n"“”<>'
"""What some models put around an answer."""
_KINDS = {
    "最终答案": _FINAL,
    "查询": "query",
    "refined query": "query",
    "已知": "learnt",
    "learned": "learnt",
    "缺少": "missing",
}
_CITES = re.compile(r"[\[【]\d{1,3}(?:\s*,\s*\d{1,3})*[\]】]")
_UNKNOWN = re.compile(r"\W*unknown\b[\s.:,;–—-]*", re.I)
_WHOLE = re.compile(r".*[.!?。！？](?:\s*[\[【][\d, ]+[\]】][.。]?)*", re.S)
_NONE = {"", "none", "n/a", "na", "nothing", "no query", "无", "-"}


def read_turn(reply: str) -> Turn | None:
    """Read a turn in the paper's form or as JSON, or return None.

    Labels count in any case, anywhere in a line, in bold or with a wide colon. A final answer wins over queries. What
    stands before the first label is what was learnt; prose without any label that cites documents is an answer.
    """
    text = without_thoughts(reply)[: 2 * _ANSWER].strip()
    turn = settled(read_json(text, Turn))
    if turn is not None:
        return turn
    marks = list(_LABEL.finditer(text))
    if not marks and (_CITES.search(text) or _UNKNOWN.match(text)):
        return settled(Turn(answer=text))
    parts: dict[str, str] = {}
    queries: list[str] = []
    for mark, end in zip(marks, [*(m.start() for m in marks[1:]), len(text)], strict=False):
        kind = _KINDS.get(mark["label"].lower(), mark["label"].lower())
        said = text[mark.end() : end]
        if kind == "query":
            queries.append(_clean(said, kind))
        elif said := said.strip(_DRESS) if kind == _FINAL else _clean(said, kind):
            parts[kind] = said
    before = " ".join(text[: marks[0].start()].split()).strip("*#> ") if marks else ""
    missing, answer = parts.get("missing", ""), parts.get(_FINAL, "")
    return settled(Turn(learnt=parts.get("learnt", before), missing=missing, queries=queries, answer=answer))


def settled(turn: Turn | None) -> Turn | None:
    """Apply the rule that a final answer wins over queries; None where a turn neither asks nor ends."""
    if turn is None:
        return None
    asked = [q.strip() for q in [turn.query, *turn.queries] if q.strip()]
    if not (asked or turn.answer.strip() or turn.enough):
        return None
    queries = [clip(q, _SAID) for q in dict.fromkeys(asked) if q.strip(" .").lower() not in _NONE]
    done = turn.enough or bool(turn.answer.strip()) or not queries
    return Turn(
        learnt=clip(turn.learnt.strip(), _SAID),
        missing=clip(turn.missing.strip(), _SAID),
        queries=[] if done else queries[:_QUERIES],
        answer=clip(turn.answer.strip(), _ANSWER),
        enough=done,
    )


def _clean(said: str, kind: str) -> str:
    """Take a part of a turn without its decoration; a query ends with its line."""
    said = said.strip()
    if kind == "query":
        said = re.sub(r"\[\w+\]\s*$", "", said.splitlines()[0] if said else "")
    return clip(" ".join(said.split()).strip("*_` \"'“”<>"), _SAID)


def unknown(answer: str) -> str | None:
    """Return what an answer says of why it is not known, or None where it says something else."""
    found = _UNKNOWN.match(answer)
    return None if found is None else " ".join(answer[found.end() :].split())


@dataclass(frozen=True)
class Round:
    """One round of the conversation.

    Attributes:
        query: what was asked.
        learnt: what the model said it had learnt before it asked.
        missing: what it said was missing.
        documents: (number, title, text) of what came back.
        recalled: the documents are the model's own words.
        also: what else was asked in the same turn.
        shown: ids of the documents.
    """

    query: str
    learnt: str
    missing: str
    documents: tuple[tuple[int, str, str], ...]
    recalled: bool = False
    also: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()


def rounds(known: Known, most: int) -> list[Round]:
    """Lay out the turn so far: what each round asked, and the best `most` documents that no earlier round had shown."""
    texts: dict[str, list[Strip]] = {}
    for s in known.strips:
        texts.setdefault(s["evidence"], []).append(s)
    rows = {e["id"]: e for e in known.rows}
    out: list[Round] = []
    seen: set[str] = set()
    learnt, missing = known.plan, ""
    for hop in known.hops:
        fresh = [i for i in hop["evidence"] if i in texts and i not in seen][:most]
        documents = tuple(
            (len(seen) + n, headed(texts[i][0]["title"], rows.get(i)), " […] ".join(untitled(s) for s in texts[i]))
            for n, i in enumerate(fresh, 1)
        )
        recalled = bool(fresh) and all(texts[i][0]["origin"] == "model" for i in fresh)
        also = tuple(hop.get("also", ()))
        out.append(Round(hop["query"], learnt, missing, documents, recalled, also, tuple(fresh)))
        seen.update(fresh)
        learnt, missing = hop["learnt"], hop["missing"]
    return out


def conversation(question: str, past: Sequence[Round], budget: int, told: str = "", sentences: int = 3) -> Messages:
    """Return the messages of the conversation, within a budget of estimated tokens; what was shown stays as it was.

    Where they do not fit, the documents of the oldest rounds are replaced by a line that names them (what was learnt
    from them stays); where the last round alone does not fit, its documents are cut.
    """
    opening = load("reason", question=question, told=told, length=long(sentences))
    folded, length = 0, TEXT_LIMIT
    while True:
        messages = [*opening]
        for n, r in enumerate(past):
            documents = documents_message(r, length, n < folded)
            if n == 0 and r.query == question and not r.learnt:
                messages[-1] = ("user", f"{messages[-1][1]}\n\n{documents}")
                continue
            messages.append(("assistant", turn_of(r.learnt, r.missing, (r.query, *r.also))))
            messages.append(("user", documents))
        fits = sum(tokens_of(text) for _, text in messages) <= budget
        if fits or (folded >= len(past) - 1 and length <= _SHORTEST):
            return messages
        if folded < len(past) - 1:
            folded += 1
        else:
            length //= 2


def turn_of(learnt: str, missing: str = "", queries: Sequence[str] = (), answer: str = "") -> str:
    """Return a turn of the model as it stands in the conversation, asked and learnt in one form."""
    said = [("Learnt", learnt), ("Missing", missing), *(("Query", q) for q in queries), ("Final Answer", answer)]
    return "\n".join(f"{label}: {text}" for label, text in said if text)


def documents_message(r: Round, length: int = TEXT_LIMIT, folded: bool = False) -> str:
    """Return what a round brought, as the user's turn: `length` characters of each document, or its name alone."""
    if not r.documents:
        return NOTHING
    if folded:
        named = "; ".join(f"[{n}] {title}" for n, title, _ in r.documents)
        return f"Read and summed up in your next turn: {named}"
    head = f"{RECALLED}:\n" if r.recalled else ""
    return head + "\n".join(f"[{n}] {title}\n{quote(clip(text, length))}" for n, title, text in r.documents)
