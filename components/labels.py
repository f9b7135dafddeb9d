"""Find labels of an answer or a query that models translated, or wrote as headings."""

from __future__ import annotations

import re

from ragweave.models.answer_words import ANSWER

_SEARCH = (
    r"query|search"
    r" query|suchanfrage|suche|anfrage|requête|recherche|consulta|búsqueda|pesquisa|ricerca|zoekvraag"
    r"|zoekopdracht|sökfråga|søgning|haku|zapytanie|dotaz|keresés|запрос|запит|заявка|αναζήτηση|sorgu|arama"
    r"|استعلام|بحث|שאילתה|查询|查詢|検索|クエリ|쿼리|검색|truy vấn|คำค้น|kueri|पूछताछ|खोज"
)
_SET = r"(?:[*_`]|</?(?:b|strong|i|em|u)>)*"
"""Matches the signs and tags of bold or slanted words."""
_SYMBOLS = r"[^\w\s\[\](){}<>|\"'“”„«».,;:!?#*_`~/\\&%$§@+=-]{1,3}"
"""Matches pictures before a label."""


def _line(label: str, bare: str) -> re.Pattern[str]:
    """Return a pattern for a label that begins a line: with a colon, or alone as a heading or in bold.

    The label `bare` may also be alone without any sign, or before a dash.
    """
    begin = rf"^[^\S\n]*(?:>[^\S\n]*)?(?:{_SYMBOLS}[^\S\n]*)?(?:\d\.[^\S\n]+)?"
    colon = rf"(?:#{{1,6}}[^\S\n]*)?{_SET}(?:{label}){_SET}[^\S\n]*[:：]{_SET}"
    dash = rf"{_SET}{bare}{_SET}[^\S\n]+[–—-]+(?=\s)"
    heading = rf"#{{1,6}}[^\S\n]*[*_]*(?:{label})[*_]*|(?:\*\*|__)(?:{label})(?:\*\*|__)|{bare}"
    return re.compile(rf"{begin}(?:{colon}|{dash}|(?:{heading})[^\S\n]*(?=\n))[^\S\n]*", re.I | re.M)


_ANSWERS = _line(ANSWER, "final answer")
_QUERIES = _line(_SEARCH, "refined query")


def in_english(turn: str) -> str:
    """Return a turn with its labels replaced by those of our prompts; for turns with no known label."""
    if turn.lstrip()[:1] in ("{", "["):
        return turn
    if _ANSWERS.search(turn):
        return _ANSWERS.sub("Final Answer: ", turn, count=1)
    return _QUERIES.sub("Query: ", turn)


def named_otherwise(turn: str, since: int) -> bool:
    """Return whether a line at or behind `since` has a label of an answer in other words."""
    if turn.lstrip()[:1] in ("{", "["):
        return False
    return _ANSWERS.search(turn, since) is not None


def labelled(text: str) -> bool:
    """Return whether a turn begins with a label of an answer."""
    return _ANSWERS.match(text.lstrip()) is not None


def unlabelled(text: str) -> str:
    """Return the first sentence of an answer without a label before it."""
    head = len(text) - len(text.lstrip())
    found = _ANSWERS.match(f"{text[head:]}\n")
    if found is None:
        return text
    return text[:head] + text[head + found.end() :].lstrip()
