"""A turn of a language model in the form of Auto-RAG (section 3): read whole, or while it arrives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, field_validator

from ragweave.components.knowledge import Tell
from ragweave.components.labels import in_english, labelled, named_otherwise
from ragweave.components.prose import Room, boundary, marked, settled_to, trimmed
from ragweave.models.chat_json import read_json
from ragweave.models.chat_reply import without_thoughts
from ragweave.models.text import clip, sentences

NEED = re.compile(r"\b(?:however|no information|find|refine)\b", re.I)
"""Words by which reasoning says that something is still missing (Auto-RAG, section 3.2)."""
SAID = 500
"""Characters of one part of a turn that are kept."""
ANSWER = 8_000
"""Characters of an answer that are kept; reading a reply stops here."""
_QUERIES = 3
"""Queries of one turn."""


class ModelTurn(BaseModel):
    """One turn of the model; queries mean that it wants to know more."""

    learnt: str = ""
    missing: str = ""
    query: str = ""
    queries: list[str] = []
    answer: str = ""
    enough: bool = False
    table: str = ""
    statement: str = ""

    @field_validator("learnt", "missing", "query", "answer", "table", "statement", mode="before")
    @classmethod
    def _said(cls, value: Any) -> Any:
        return "" if value is None else value


_LABEL = re.compile(
    r"(?:^|(?<=[\s*#>(\[“\"']))(?:(?P<label>final answer|refined query|query|learnt|learned|missing"
    r"|最终答案|查询|已知|缺少)[*_`]*\s*[:：][*_`]*"
    r"|(?P<table>table\s+\[?(?:\d{1,3}|library)\]?)[*_`]*\s*[:：][\s*_`]*(?:sql\s)?\s*(?=(?:select|with)\b))",
    re.I | re.M,
)
ASKS_TABLE = re.compile(r"Table (?:\d{1,3}|library): ")
"""How a question to a table begins in the trace of a turn."""
_BEGINS = re.compile(r"(?:^|[.!?。！？\n\]】])[\s*#>(\[“\"'_`]*$")
"""What stands before the begin of a sentence."""
_BEFORE = 50
"""Characters before a label by which that is judged."""
_LABEL_LINE = 120
"""Characters of a line that is or begins with a label in other words."""
_FINAL = "final answer"
_TABLE = "table"
_STATEMENT_ENDS = re.compile(r";|\n\s*\n|```")
"""What ends a statement: its semicolon, an empty line, the fence around it."""
_DRESS = '*_ \n"“”<>'
"""What some models put around an answer."""
_TAGGED = re.compile(r"</\w+\s*>\s*\Z")
_KINDS = {
    "最终答案": _FINAL,
    "查询": "query",
    "refined query": "query",
    "已知": "learnt",
    "learned": "learnt",
    "缺少": "missing",
}
_CITES = re.compile(r"[\[【]\d{1,3}(?:\s*,\s*\d{1,3})*[\]】]")
_OBJECT = re.compile(r"\s*(?:```\w*\s*)?\{.*\}\s*(?:```\s*)?", re.S)
_UNKNOWN = re.compile(r"\W*unknown\b[\s.:,;–—-]*", re.I)
_NONE = {"", "none", "n/a", "na", "nothing", "no query", "not given", "not stated", "无", "-"}


def _labels(text: str) -> list[tuple[str, re.Match[str]]]:
    """Return the labels of a turn by kind; “Two keys are missing: ...” within a final answer is none."""
    out: list[tuple[str, re.Match[str]]] = []
    answers = False
    for m in _LABEL.finditer(text):
        label = m["label"] or _TABLE
        kind = _KINDS.get(label.lower(), label.lower())
        if (
            answers
            and label.islower()
            and kind != _TABLE
            and not _BEGINS.search(text, max(0, m.start() - _BEFORE), m.start())
        ):
            continue
        answers = answers or kind == _FINAL
        out.append((kind, m))
    return out


def _readable(text: str) -> str:
    """Return a turn with a label that is known, where it has one in other words."""
    return text if _LABEL.search(text) else in_english(text)


def begins_turn(begun: str) -> bool:
    """Tell whether a reply begins with a label, as a turn does."""
    head = begun[:_BEFORE].lstrip(_DRESS + "#`\n")
    return _LABEL.match(head) is not None or labelled(begun)


def _apart(text: str, marks: Sequence[tuple[str, re.Match[str]]], *kinds: str) -> Iterator[re.Match[str]]:
    """Yield the labels of these kinds outside braces: what JSON says as a value is no label of the turn."""
    depth = at = 0
    prose = not text.lstrip().startswith(("{", "[", "```"))
    for kind, m in marks:
        depth = max(0, depth + text.count("{", at, m.start()) - text.count("}", at, m.start()))
        at = m.start()
        if prose and kind == _FINAL and text[max(0, at - _BEFORE) : at].rstrip("*#>_ ").endswith("\n"):
            depth = 0  # a brace of the prose before, of code or of a formula that was cut, is closed no more
        if not depth and kind in kinds:
            yield m


def needed(reasoning: str) -> str:
    """Return the last sentence of a reasoning that says that something is still missing, or ""."""
    said = [reasoning[a:b] for a, b in sentences(reasoning)]
    return next((s.strip() for s in reversed(said) if NEED.search(s)), "")


def read_turn(reply: str, needs: bool = False) -> ModelTurn | None:
    """Read a turn in the paper's form or as JSON, or return None.

    With `needs` a reasoning without a label that says what is missing asks for that, as in training.

    Labels count in any case, anywhere in a line, in bold or with a wide colon; words in the middle of a
    sentence of a final answer are none. A final answer wins over queries. What stands before the first label
    is what was learnt; prose without any label that cites documents is an answer. Next to a labelled answer
    or query JSON is a quotation.
    """
    text = _readable(without_thoughts(reply)[: 2 * ANSWER].strip())
    marks = _labels(text)
    turn = None if any(_apart(text, marks, _FINAL, _TABLE, "query")) else settled(read_json(text, ModelTurn))
    if turn is not None:
        return turn
    if not marks and needs and (missing := needed(text)):
        return settled(ModelTurn(learnt=text, query=missing))
    if not marks and (_CITES.search(marked(text)) or _UNKNOWN.match(text)):
        return settled(ModelTurn(answer=text))
    parts: dict[str, str] = {}
    queries: list[str] = []
    table = statement = ""
    for (kind, mark), end in zip(marks, [*(m.start() for _, m in marks[1:]), len(text)], strict=False):
        said = _unwrapped(text[mark.end() : end], kind)
        if kind == _TABLE:
            if not statement:
                table, statement = _table(mark), _statement(text[mark.end() : end])
        elif kind == "query":
            queries.append(_clean(said, kind))
        elif said := _bare(said) if kind == _FINAL else _clean(said, kind):
            parts[kind] = said
    before = " ".join(text[: marks[0][1].start()].split()).strip("*#> ") if marks else ""
    missing, answer = parts.get("missing", ""), parts.get(_FINAL, "")
    known = {"learnt": parts.get("learnt", before), "missing": missing, "answer": answer}
    return settled(ModelTurn(**known, queries=queries, table=table, statement=statement))


def settled(turn: ModelTurn | None) -> ModelTurn | None:
    """Apply the rule that a final answer wins over queries; None where a turn neither asks nor ends."""
    if turn is None:
        return None
    asked = [q.strip() for q in [turn.query, *turn.queries] if q.strip()]
    statement = "" if turn.answer.strip() else turn.statement.strip()
    if not (asked or statement or turn.answer.strip() or turn.enough):
        return None
    queries = [clip(q, SAID) for q in dict.fromkeys(asked) if q.strip(" .").lower() not in _NONE]
    done = turn.enough or bool(turn.answer.strip()) or not (queries or statement)
    return ModelTurn(
        learnt=clip(turn.learnt.strip(), SAID),
        missing=clip(turn.missing.strip(), SAID),
        queries=[] if done else queries[:_QUERIES],
        answer=clip(turn.answer.strip(), ANSWER),
        enough=done,
        table=turn.table.strip() if statement and not done else "",
        statement="" if done else statement[:ANSWER],
    )


def _table(mark: re.Match[str]) -> str:
    """Return the table that a label names: “Table 3”, “Table library”."""
    return f"Table {mark['table'].split()[-1].strip('[]').lower()}"


def _statement(said: str) -> str:
    """Return a statement up to its end, on one line; a semicolon in a text of it ends nothing."""
    for m in _STATEMENT_ENDS.finditer(said):
        if m.group() != ";" or said.count("'", 0, m.start()) % 2 == 0:
            said = said[: m.start()]
            break
    return re.sub(r"\s*\n\s*", " ", said).strip("` \n*")


def _unwrapped(said: str, kind: str) -> str:
    """Return an answer or query as it is said, or out of the JSON where that is all that is said."""
    found = read_json(said, ModelTurn) if kind in (_FINAL, "query") and _OBJECT.fullmatch(said) else None
    return said if found is None else (found.answer if kind == _FINAL else found.query) or said


def _bare(said: str, left: bool = True, right: bool = True) -> str:
    """Return an answer without what some models put around it, on either side; the signs of code stay."""
    if left:
        said = said.lstrip(_DRESS)
        if said[:1] == "`" and said[1:2].isspace():  # of a label in code
            said = said[1:].lstrip(_DRESS)
    return said.rstrip(_DRESS) if right and not _TAGGED.search(said) else said


def _clean(said: str, kind: str) -> str:
    """Take a part of a turn without its decoration; a query ends with its line."""
    said = said.strip()
    if kind == "query":
        said = re.sub(r"\[\w+\]\s*$", "", said.splitlines()[0] if said else "")
    return clip(" ".join(said.split()).strip("*_` \"'“”<>"), SAID)


def unknown(answer: str) -> str | None:
    """Return what an answer says of why it is not known, or None where it says something else."""
    found = _UNKNOWN.match(answer)
    return None if found is None else " ".join(answer[found.end() :].split())


def turn_of(
    learnt: str, missing: str = "", queries: Sequence[str] = (), answer: str = "", published: bool = False
) -> str:
    """Return a turn of the model as it stands in the conversation, asked and learnt in one form.

    As published, it reasons in prose before its label.
    """
    asked = [("", q) if ASKS_TABLE.match(q) else ("Query", q) for q in queries]
    said = [("Learnt", learnt), ("Missing", missing), *asked, ("Final Answer", answer)]
    prose = [" ".join(filter(None, (learnt, missing)))] if published else []
    lines = [f"{label}: {text}" if label else text for label, text in said[2 if published else 0 :] if text]
    return "\n".join(filter(None, [*prose, *lines]))


class Answering:
    """Tells the sentences of an answer while its turn arrives.

    Args:
        tell: takes a sentence and the ids of what the numbers in it mean; None keeps silent.
        shown: those ids.
        most: sentences of an answer that are told; rows, items, code and framing lines do not count.

    Attributes:
        told: what was told.
        cut: more was written than is told.
    """

    def __init__(self, tell: Tell | None, shown: Sequence[str], most: int) -> None:
        self.tell, self._shown, self._room = tell, shown, Room(most)
        self.told = self._at = self._judged = self._looked = 0
        self.cut = self._labelled = self._foreign = False

    async def read(self, text: str, ended: bool = False) -> bool:
        """Tell what is complete of a turn that has arrived up to here; False where more need not be read."""
        since = max(0, self._looked - _LABEL_LINE)
        self._foreign = self._foreign or (not self._labelled and named_otherwise(text, since))
        text = in_english(text) if self._foreign else text
        # What is without a label yet may be long, and comes letter by letter.
        self._labelled = self._labelled or _LABEL.search(text, max(0, self._looked - _BEFORE)) is not None
        self._looked = len(text)
        marks = _labels(text) if self.tell is not None and self._labelled else []
        first = next(_apart(text, marks, _FINAL), None)
        if self.tell is None or first is None:
            return True
        end = next((m.start() for _, m in marks if m.start() > first.start()), None)
        answer = _bare(text[first.end() : end], right=False)
        if not self.told and _UNKNOWN.match(answer):
            return True
        while True:
            rest = answer[self._at :]
            stop = boundary(rest, self._judged)
            if stop is None and not (ended or end is not None):
                self._judged = settled_to(rest, self._judged)
                return True
            sentence = trimmed(_bare(rest, left=False) if stop is None else rest[:stop])
            self._at, self._judged = self._at + (len(answer) if stop is None else stop), 0
            if not sentence:
                return end is None
            if not self._room.takes(sentence):
                self.cut = True
                return False
            self.told += 1
            await self.tell(sentence, self._shown)
