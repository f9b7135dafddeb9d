"""The conversation of a language model with the retriever (Auto-RAG, section 3), and the reading of its turns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field, field_validator

from ragweave.minds.evidence import Strip
from ragweave.minds.passages import headed
from ragweave.models.chat_json import read_json, without_thoughts
from ragweave.models.chat_reply import tokens_of
from ragweave.models.text import clip
from ragweave.nodes.state import State
from ragweave.prompts import Messages, load, quote

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

_LABEL = re.compile(
    r"(?:^|(?<=[\s*#>(\[“\"']))(?P<label>final answer|refined query|query|learnt|learned|missing"
    r"|最终答案|查询|已知|缺少)[*_`]*\s*[:：][*_`]*",
    re.I | re.M,
)
_NONE = {"", "none", "n/a", "na", "nothing", "no query", "无", "-"}
_KINDS = {
    "最终答案": "final answer",
    "查询": "query",
    "refined query": "query",
    "已知": "learnt",
    "learned": "learnt",
    "缺少": "missing",
}


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


def read_turn(reply: str) -> Turn | None:
    """Read a turn in the paper's form or as JSON, or return None.

    Labels count in any case, anywhere in a line, in bold or with a wide colon. A final answer wins over a query, and
    the last of several queries counts. What stands before the first label is taken as what was learnt.
    """
    text = without_thoughts(reply)[:_LONGEST]
    turn = settled(read_json(text, Turn))
    return turn if turn is not None else _labelled(text)


def _labelled(text: str) -> Turn | None:
    marks = list(_LABEL.finditer(text))
    parts: dict[str, str] = {}
    for mark, end in zip(marks, [*(m.start() for m in marks[1:]), len(text)], strict=False):
        kind = _KINDS.get(mark["label"].lower(), mark["label"].lower())
        said = _clean(text[mark.end() : end], kind)
        if said:
            parts[kind] = said
    if "final answer" not in parts and "query" not in parts:
        return None
    before = " ".join(text[: marks[0].start()].split()).strip("*#> ")
    return settled(
        Turn(
            learnt=parts.get("learnt", before),
            missing=parts.get("missing", ""),
            query=parts.get("query", ""),
            answer=parts.get("final answer", ""),
        )
    )


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
        said = said.splitlines()[0] if said else ""
        said = re.sub(r"\[\w+\]\s*$", "", said)
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


def rounds(state: State, strips: Sequence[Strip], shown_per_turn: int) -> list[Round]:
    """Lay out the turn so far: what each round asked, and the best documents in it that no earlier round had shown.

    Args:
        state: its hops are the rounds before; the last round is the one that was just searched.
        strips: knowledge of all rounds.
        shown_per_turn: documents that a round shows at most.
    """
    texts: dict[str, list[Strip]] = {}
    for s in strips:
        texts.setdefault(s["evidence"], []).append(s)
    rows = {e["id"]: e for e in state.get("evidence", [])}
    past = state.get("hops", [])
    asked = [*((h["query"], h["evidence"]) for h in past), (asked_now(state), fetched_now(state))]
    said = [("", ""), *((h["learnt"], h["missing"]) for h in past)]
    out: list[Round] = []
    seen: set[str] = set()
    for (query, ids), (learnt, missing) in zip(asked, said, strict=True):
        fresh = [i for i in ids if i in texts and i not in seen][:shown_per_turn]
        documents = tuple(
            (len(seen) + n, headed(texts[i][0]["title"], rows.get(i)), " […] ".join(s["text"] for s in texts[i]))
            for n, i in enumerate(fresh, 1)
        )
        recalled = bool(fresh) and all(texts[i][0]["origin"] == "model" for i in fresh)
        out.append(Round(query, learnt, missing, documents, recalled))
        seen.update(fresh)
    return out


def recalling(state: State) -> bool:
    """Tell whether the round just ended was one of recall, and not of search."""
    return state.get("recalls", 0) > sum(h["corpora"] == ["model"] for h in state.get("hops", []))


def asked_now(state: State) -> str:
    """Return what the round just ended had asked."""
    task = next(iter(state.get("tasks", [])), None)
    return state["query"] if recalling(state) or task is None else task["queries"][0]


def fetched_now(state: State) -> list[str]:
    """Return the ids of what the round just ended brought: the library's items, best first, then pages of the web.

    A recalled passage has the number of its round in its id.
    """
    rows = state.get("evidence", [])
    if recalling(state):
        ending = f"-{state['recalls']}"
        return [e["id"] for e in rows if e["origin"] == "model" and e["id"].endswith(ending)]
    return [*state.get("candidates", []), *(e["id"] for e in rows if e["origin"] == "web" and e["hop"] == state["hop"])]


def conversation(question: str, past: Sequence[Round], budget: int) -> Messages:
    """Return the messages of the conversation, within a budget of tokens.

    Where they do not fit, the documents of the oldest rounds are replaced by a line that names them (what was learnt
    from them stays); where the last round alone does not fit, its documents are cut.

    Args:
        question: question of the turn.
        past: rounds so far.
        budget: estimated tokens that the messages may take.
    """
    opening = load("reason", question=question)
    folded, length = 0, _PASSAGE
    while True:
        messages = [*opening, *_turns(past, folded, length)]
        if sum(tokens_of(text) for _, text in messages) <= budget:
            return messages
        if folded < len(past) - 1:
            folded += 1
        elif length > _SHORTEST:
            length //= 2
        else:
            return messages


def _turns(past: Sequence[Round], folded: int, length: int) -> Messages:
    out: Messages = []
    for n, r in enumerate(past):
        lines = [f"Learnt: {r.learnt}" if r.learnt else "", f"Missing: {r.missing}" if r.missing else ""]
        out.append(("assistant", "\n".join([*filter(None, lines), f"Query: {r.query}"])))
        out.append(("user", documents_message(r, length, n < folded)))
    return out


def documents_message(r: Round, length: int = _PASSAGE, folded: bool = False) -> str:
    """Return what a round brought, as the user's turn.

    Args:
        r: the round.
        length: characters of a document that are shown.
        folded: name the documents only.
    """
    if not r.documents:
        return NOTHING
    if folded:
        return "Read and summed up in your next turn: " + "; ".join(
            f"Document_{n} ({title})" for n, title, _ in r.documents
        )
    head = "" if not r.recalled else f"{RECALLED}:\n"
    return head + "\n".join(
        f"Retrieved Document_{n}: {title}\n{quote(clip(text, length))}" for n, title, text in r.documents
    )
