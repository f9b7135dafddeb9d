"""What a statement says of itself: the rows that its condition matches, and those that its result shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

_TOKEN = re.compile(
    r"(?P<space>\s+|--[^\n]*|/\*.*?\*/)|(?P<text>'(?:[^']|'')*')"
    r"|(?P<name>\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|\w+)"
    r"|(?P<sign>.)",
    re.S,
)
_ENDS = {"group", "having", "order", "limit", "window"}
_SEVERAL = {"union", "except", "intersect"}
_JOINS = {",", "join"}
_ADDS = {"count", "sum", "avg", "min", "max", "total", "group_concat"}


class Token(NamedTuple):
    """A word or sign of a statement in small letters, its place, and how deep it is in brackets."""

    said: str
    start: int
    end: int
    depth: int
    is_word: bool


class Anatomy(NamedTuple):
    """What a statement over one table rests on.

    Attributes:
        condition: what is behind WHERE, or "".
        matched: a statement that gives the row that each row of the result is made of: all that the condition
            matches.
        numbers: the same, of those that the result shows, where each row of it is a row of the table.
    """

    condition: str
    matched: str
    numbers: str


def tokens(statement: str) -> Iterator[Token]:
    """Yield the words and signs of a statement, without blanks, comments and texts."""
    depth = 0
    for m in _TOKEN.finditer(statement):
        if m.lastgroup in ("space", "text"):
            continue
        said = m.group()
        depth -= said == ")"
        yield Token(said.lower(), *m.span(), depth, bool(re.fullmatch(r"\w+", said)))
        depth += said == "("


def trimmed(statement: str) -> str:
    """Return a statement without the semicolon and the comments behind it."""
    last = 0
    for m in _TOKEN.finditer(statement):
        if m.lastgroup != "space" and m.group() != ";":
            last = m.end()
    return statement[:last].strip()


def anatomy(statement: str, table: str) -> Anatomy | None:
    """Return what a plain statement (one SELECT from one table) rests on; None if it has another form."""
    top = [t for t in tokens(statement) if t.depth == 0]
    words = [t.said for t in top]
    if not _is_one_select(words):
        return None
    at = words.index("from")
    if at + 1 >= len(top) or top[at + 1].said.strip('"`[]') != table.lower():
        return None
    end = at
    while end < len(words) and words[end] not in _ENDS:
        end += 1
    where = at
    while where < end and words[where] != "where":
        where += 1
    if not _JOINS.isdisjoint(words[at + 2 : where]):
        return None
    stop = top[end].start if end < len(top) else len(statement)
    condition = statement[top[where].end : stop].strip() if where < end else ""
    source = statement[top[at].start : stop].strip()
    matched = f"SELECT row {source}"
    if _is_added(statement, words, at, top):
        return Anatomy(condition, matched, matched)
    return Anatomy(condition, matched, f"SELECT row {statement[top[at].start :]}")


def _is_one_select(words: list[str]) -> bool:
    """Return whether a statement is one SELECT with one FROM."""
    if words[:1] != ["select"] or words.count("select") != 1 or words.count("from") != 1:
        return False
    return _SEVERAL.isdisjoint(words)


def _is_added(statement: str, words: list[str], at: int, top: list[Token]) -> bool:
    """Return whether a row of the result may be made of several rows of the table."""
    if {"group", "having", "distinct"} & {*words}:
        return True
    for token in tokens(statement[: top[at].start]):
        if token.is_word and token.said in _ADDS:
            return True
    return False


def table_of(statement: str) -> str:
    """Return the name behind the first FROM of a statement, or ""."""
    for word, behind in pairwise(tokens(statement)):
        if word.said == "from" and behind.said != "(":
            return behind.said.strip('"`[]')
    return ""
