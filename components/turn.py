"""Read the reasoning turns of a language model (Auto-RAG, section 3), whole or while they arrive."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import AliasChoices, BaseModel, Field, field_validator

from ragweave.components.knowledge import Tell
from ragweave.components.labels import in_english, labelled, named_otherwise
from ragweave.components.prose import Room, marked, trimmed
from ragweave.components.sentence_ends import boundary, settled_to
from ragweave.components.turn_parts import DECORATION, bare, clean, statement_of, table_name
from ragweave.models.chat_json import read_json
from ragweave.models.chat_reply import without_thoughts
from ragweave.models.text import clip, sentences

NEED = re.compile(r"\b(?:however|no information|find|refine)\b", re.I)
"""Words that show that reasoning lacks something (Auto-RAG, section 3.2)."""
SAID = 500
"""Characters that one part of a turn keeps."""
ANSWER = 8_000
"""Characters of an answer that are kept; reading a reply stops here."""
_QUERIES = 3
"""Queries that one turn may ask at most."""


class ModelTurn(BaseModel):
    """One turn of the model; with queries it asks for another search."""

    learnt: str = ""
    missing: str = ""
    query: str = ""
    queries: list[str] = []
    answer: str = Field("", validation_alias=AliasChoices("answer", "final_answer", "response"))
    enough: bool = False
    table: str = ""
    statement: str = ""

    @field_validator("learnt", "missing", "query", "answer", "table", "statement", mode="before")
    @classmethod
    def _null_as_empty(cls, value: Any) -> Any:
        return "" if value is None else value


_LABEL = re.compile(
    r"(?:^|(?<=[\s*#>(\[“\"']))(?:(?P<label>final answer|refined query|query|learnt|learned|missing"
    r"|最终答案|查询|已知|缺少)[*_`]*\s*[:：](?:</\w{1,6}>|[*_`])*"
    r"|(?P<table>table\s+\[?(?:\d{1,3}|library)\]?)[*_`]*\s*[:：][\s*_`]*(?:sql\s)?\s*(?=(?:select|with)\b))",
    re.I | re.M,
)
ASKS_TABLE = re.compile(r"Table (?:\d{1,3}|library): ")
"""Matches the beginning of a statement over a table in the trace of a run."""
_SENTENCE_BEGINS = re.compile(r"(?:^|[.!?。！？\n\]】])[\s*#>(\[“\"'_`]*$")
"""Matches a text behind which a sentence begins."""
_BEFORE = 50
"""Characters before a label that decide whether it begins a sentence."""
_LABEL_LINE = 120
"""Characters of a line that can be, or begin with, a label in other words."""
_FINAL = "final answer"
_TABLE = "table"
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
    """Return the labels of a turn with their kinds.

    A word such as “missing:” in the middle of a sentence is not a label; “query:” is one outside the answer.
    """
    out: list[tuple[str, re.Match[str]]] = []
    in_answer = False
    for match in _LABEL.finditer(text):
        label = match["label"] or _TABLE
        kind = _KINDS.get(label.lower(), label.lower())
        may_be_word = kind in ("learnt", "missing") or (in_answer and kind != _TABLE)
        if may_be_word and label.islower() and not _begins_sentence(text, match.start()):
            continue
        in_answer = in_answer or kind == _FINAL
        out.append((kind, match))
    return out


def _begins_sentence(text: str, at: int) -> bool:
    """Return whether a sentence begins at a position."""
    return _SENTENCE_BEGINS.search(text, max(0, at - _BEFORE), at) is not None


def _with_known_labels(text: str) -> str:
    """Return a turn with its labels in English, if it has none that are known."""
    return text if _LABEL.search(text) else in_english(text)


def begins_turn(begun: str) -> bool:
    """Return whether a reply begins with a label, as a turn does."""
    head = begun[:_BEFORE].lstrip(DECORATION + "#`\n")
    return _LABEL.match(head) is not None or labelled(begun)


def _outside_json(
    text: str, labels: Sequence[tuple[str, re.Match[str]]], *kinds: str
) -> Iterator[re.Match[str]]:
    """Yield the labels of these kinds outside braces: a value in JSON is not a label of the turn."""
    depth = 0
    at = 0
    is_prose = not text.lstrip().startswith(("{", "[", "```"))
    for kind, match in labels:
        start = match.start()
        depth = max(0, depth + text.count("{", at, start) - text.count("}", at, start))
        at = start
        if is_prose and kind == _FINAL and text[max(0, at - _BEFORE) : at].rstrip("*#>_ ").endswith("\n"):
            # An answer on a line of its own ends braces left open by code or a formula that was cut.
            depth = 0
        if not depth and kind in kinds:
            yield match


def needed(reasoning: str) -> str:
    """Return the last sentence of a reasoning that says that something is missing, or ""."""
    for start, end in reversed(sentences(reasoning)):
        sentence = reasoning[start:end]
        if NEED.search(sentence):
            return sentence.strip()
    return ""


def read_turn(reply: str, needs: bool = False) -> ModelTurn | None:
    """Read a turn in the paper's form or as JSON, or return None if it is neither.

    Labels count in any case, anywhere in a line, in bold or with a wide colon, but not in the middle of a
    sentence of a final answer. A final answer wins over queries. The text before the first label is what was
    learnt. Prose without a label is an answer if it cites documents. JSON next to a labelled answer or query
    is a quotation.

    Args:
        reply: the reply of the model.
        needs: whether reasoning without a label that says what is missing is a query, as in training.
    """
    text = _with_known_labels(without_thoughts(reply)[: 2 * ANSWER].strip())
    labels = _labels(text)
    if next(_outside_json(text, labels, _FINAL, _TABLE, "query"), None) is None:
        turn = settled(read_json(text, ModelTurn))
        if turn is not None:
            return turn
    if labels:
        return settled(_labelled_turn(text, labels))
    missing = needed(text) if needs else ""
    if missing:
        return settled(ModelTurn(learnt=text, query=missing))
    if _CITES.search(marked(text)) or _UNKNOWN.match(text):
        return settled(ModelTurn(answer=text))
    return None


def _labelled_turn(text: str, labels: Sequence[tuple[str, re.Match[str]]]) -> ModelTurn:
    """Return the turn that a text with labels states, part by part."""
    before = " ".join(text[: labels[0][1].start()].split()).strip("*#> ")
    turn = ModelTurn(learnt=before)
    ends = [match.start() for _, match in labels[1:]] + [len(text)]
    for (kind, match), end in zip(labels, ends, strict=True):
        part = text[match.end() : end]
        if kind == _TABLE:
            if not turn.statement:
                turn.table = table_name(match["table"])
                turn.statement = statement_of(part)
            continue
        part = _unwrapped(part, kind)
        if kind == "query":
            turn.queries.append(clean(part, SAID, first_line=True))
        elif kind == _FINAL:
            turn.answer = bare(part) or turn.answer
        elif kind == "missing":
            turn.missing = clean(part, SAID) or turn.missing
        else:
            turn.learnt = clean(part, SAID) or turn.learnt
    return turn


def settled(turn: ModelTurn | None) -> ModelTurn | None:
    """Return a turn in which a final answer wins over queries, or None if it neither asks nor ends."""
    if turn is None:
        return None
    answer = turn.answer.strip()
    statement = "" if answer else turn.statement.strip()
    asked = list(filter(None, map(str.strip, [turn.query, *turn.queries])))
    if not (asked or statement or answer or turn.enough):
        return None
    queries = []
    for query in dict.fromkeys(asked):
        if query.strip(" .").lower() not in _NONE:
            queries.append(clip(query, SAID))
    done = turn.enough or bool(answer) or not (queries or statement)
    return ModelTurn(
        learnt=clip(turn.learnt.strip(), SAID),
        missing=clip(turn.missing.strip(), SAID),
        queries=[] if done else queries[:_QUERIES],
        answer=clip(answer, ANSWER),
        enough=done,
        table=turn.table.strip() if statement and not done else "",
        statement="" if done else statement[:ANSWER],
    )


def _unwrapped(part: str, kind: str) -> str:
    """Return an answer or a query; if it is a JSON object alone, the value in it."""
    if kind not in (_FINAL, "query") or not _OBJECT.fullmatch(part):
        return part
    found = read_json(part, ModelTurn)
    if found is None:
        return part
    value = found.answer if kind == _FINAL else found.query
    return value or part


def unknown(answer: str) -> str | None:
    """Return the reason that an answer gives for UNKNOWN, or None if it is another answer."""
    found = _UNKNOWN.match(answer)
    return None if found is None else " ".join(answer[found.end() :].split())


def turn_of(
    learnt: str, missing: str = "", queries: Sequence[str] = (), answer: str = "", published: bool = False
) -> str:
    """Return a turn of the model as the conversation shows it, in one form however it was written.

    In the published form it reasons in prose before its label.
    """
    lines = []
    if published:
        lines.append(" ".join(filter(None, (learnt, missing))))
    else:
        lines.append(_line("Learnt", learnt))
        lines.append(_line("Missing", missing))
    for query in queries:
        lines.append(query if ASKS_TABLE.match(query) else _line("Query", query))
    lines.append(_line("Final Answer", answer))
    return "\n".join(filter(None, lines))


def _line(label: str, text: str) -> str:
    """Return a line with a label, or "" without a text."""
    return f"{label}: {text}" if text else ""


class Answering:
    """Show the sentences of an answer while its turn arrives.

    Args:
        tell: takes a sentence and the ids that its numbers mean; without it nothing is shown.
        shown: those ids.
        most: sentences of an answer to show. Rows, items, code and framing lines do not count.

    Attributes:
        shown_count: sentences shown so far.
        cut: whether the model wrote more than is shown.
    """

    def __init__(self, tell: Tell | None, shown: Sequence[str], most: int) -> None:
        self.shown_count = 0
        self.cut = False
        self._tell = tell
        self._shown = shown
        self._room = Room(most)
        self._at = 0
        self._judged = 0
        self._searched = 0
        self._has_label = False
        self._has_foreign_label = False

    async def read(self, text: str, ended: bool = False) -> bool:
        """Show the complete sentences of a turn; return False once the rest need not be read.

        Args:
            text: the turn up to here.
            ended: whether nothing more will arrive.
        """
        text = self._find_label(text)
        if self._tell is None or not self._has_label:
            return True
        labels = _labels(text)
        first = next(_outside_json(text, labels, _FINAL), None)
        if first is None:
            return True
        end = _next_start(labels, first.start())
        answer = bare(text[first.end() : end], right=False)
        if not self.shown_count and _UNKNOWN.match(answer):
            return True
        return await self._show(self._tell, answer, ended, answer_closed=end is not None)

    def _find_label(self, text: str) -> str:
        """Return a turn with known labels; note whether it has one.

        A turn without a label may be long and arrives letter by letter, so only the new part is searched.
        """
        if not self._has_label and not self._has_foreign_label:
            self._has_foreign_label = named_otherwise(text, max(0, self._searched - _LABEL_LINE))
        if self._has_foreign_label:
            text = in_english(text)
        if not self._has_label:
            self._has_label = _LABEL.search(text, max(0, self._searched - _BEFORE)) is not None
        self._searched = len(text)
        return text

    async def _show(self, tell: Tell, answer: str, ended: bool, answer_closed: bool) -> bool:
        """Show the complete sentences of an answer that were not shown yet, as long as there is room."""
        while True:
            rest = answer[self._at :]
            stop = boundary(rest, self._judged)
            if stop is None and not ended and not answer_closed:
                self._judged = settled_to(rest, self._judged)
                return True
            if stop is None:
                sentence = trimmed(bare(rest, left=False))
                self._at += len(answer)
            else:
                sentence = trimmed(rest[:stop])
                self._at += stop
            self._judged = 0
            if not sentence:
                return not answer_closed
            if not self._room.takes(sentence):
                self.cut = True
                return False
            self.shown_count += 1
            await tell(sentence, self._shown)


def _next_start(labels: Sequence[tuple[str, re.Match[str]]], at: int) -> int | None:
    """Return where the first label behind a position begins."""
    for _, match in labels:
        if match.start() > at:
            return match.start()
    return None
