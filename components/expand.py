"""Have a model rephrase a query in one call, and clean its reply (RAG-Fusion, step 1)."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, field_validator

from ragweave.components.ask import Outcome, first_of, model_of
from ragweave.components.run_context import RunContext
from ragweave.corpora.meta import NAMES, guess_language
from ragweave.models.chat_json import read_json
from ragweave.models.chat_reply import without_thoughts
from ragweave.models.text import script, words
from ragweave.prompts import load

PHRASINGS = 4
"""Rewrites to request."""
PUBLISHED = ("seed", "article")
"""Methods whose prompt is quoted from a publication."""
_SAME = "Keep the language of the question."
_LONGEST = 300
"""Characters of a rewrite; a longer line is prose."""

_MARK = re.compile(
    r"^\s*(?:[-*•–]+\s+|[-*•](?=\w)|[(\[]?\d{1,2}(?:[.):、"
    r"](?!\d)|\])\s*|(?:query|question|查询|问题)\s*\d*\s*[:：.]\s*)+",
    re.I,
)
_ANNOUNCES = re.compile(
    r"^(?:(?:sure|certainly|of course|absolutely|okay|ok|here|these are|below|the following|i(?:['’]ve| have|"
    r" can)"
    r"|let me|hope)\b|好的|当然|以下|下面|这里是)",
    re.I,
)
_ABOUT_REWRITES = re.compile(
    r"quer(?:y|ies)|question|search|phras|rewrit|version|variant|alternative|help|查询|问题|改写|检索", re.I
)
_NO_QUERY = re.compile(r"^[<{\[`]|[.!。！:：]$")
"""Matches a line of markup, a statement, or the announcement of a list."""


class Rewrites(BaseModel):
    """The queries that a model writes."""

    queries: list[str]

    @field_validator("queries", mode="before")
    @classmethod
    def _texts(cls, value: Any) -> Any:
        """Keep the texts: some models write one string, a query a line, or objects with a text inside."""
        if isinstance(value, str):
            return value.splitlines()
        if not isinstance(value, list):
            return value
        texts = []
        for query in value:
            text = _first_text(query)
            if text is not None:
                texts.append(text)
        if value and not texts:
            raise ValueError("no query")  # “[1] a query”, say, is a line and not a list
        return texts

    @classmethod
    def read(cls, text: str) -> list[str]:
        """Return the queries of a reply: from JSON, or else the whole reply."""
        found = read_json(text, cls)
        return [without_thoughts(text)] if found is None else found.queries

    @classmethod
    def read_plain(cls, text: str) -> Rewrites | None:
        """Read one query a line: two or more numbered or bulleted lines, or else two or more bare ones."""
        lines = []
        for line in without_thoughts(text).splitlines():
            if line.strip():
                lines.append(line.strip())
        found = [line for line in lines if _MARK.match(line)]
        if len(found) < 2:
            found = [line for line in lines if not _NO_QUERY.search(line)]
        return cls(queries=found) if len(found) > 1 else None


def _first_text(query: Any) -> str | None:
    """Return a query that is a text, or the first text of an object; None if there is none."""
    values = query.values() if isinstance(query, dict) else [query]
    for value in values:
        if isinstance(value, str):
            return value
    return None


async def rephrase(run: RunContext, query: str) -> Outcome[list[str]]:
    """Return further phrasings of a query, without the query itself."""
    return await first_of(run, model_of(run.context), by_model, locally, query)


async def locally(run: RunContext, query: str) -> list[str]:
    """Return no phrasing: rules that cut a question into clauses or keywords did not help when measured."""
    return []


async def by_model(run: RunContext, query: str) -> list[str] | None:
    """Return further phrasings of a query, without the query itself; None if the reply has none."""
    form = run.context.method.phrasing
    if form in PUBLISHED:
        return await _published(run, query, form)
    others = await _other_languages(run, query)
    language = _SAME
    if others:
        named = " and one in ".join(others)
        language = f"Write one of them in {named}, the others in the language of the question."
    messages = load(form, count=PHRASINGS, question=query, language=language)

    def usable(queries: list[str]) -> list[str]:
        return clean(queries, query, PHRASINGS, anywhere=bool(others))

    reply = await run.json(messages, Rewrites, good=lambda read: bool(usable(read.queries)))
    return None if reply is None else usable(reply.queries)


async def _published(run: RunContext, query: str, form: str) -> list[str]:
    """Return further phrasings by a published prompt."""
    messages = load(f"queries_{form}", count=PHRASINGS, question=query)

    def usable(text: str) -> list[str]:
        return clean(Rewrites.read(text), query, PHRASINGS, anywhere=form == "article")

    return usable(await run.text(messages, good=lambda text: bool(usable(text))))


async def _other_languages(run: RunContext, query: str) -> list[str]:
    """Return the name of the library's most frequent language that is not the query's.

    Few words do not show their language surely. If the guess is unsure, or not a language of the library,
    return its two most frequent languages, so that the most frequent one is never left out.
    """
    languages = await (await run.library()).languages()
    guess = guess_language(query)
    known = guess in NAMES and guess in languages
    names = []
    for code in languages:
        if code in NAMES and not (known and code == guess):
            names.append(NAMES[code])
    return names[:1] if known else names[:2]


def clean(rewrites: list[str], query: str, limit: int, anywhere: bool = False) -> list[str]:
    """Return the queries of a reply, at most `limit` lines.

    Numbering, bullets, quotes, blanks, duplicates, copies of the query, prose, and lines that only announce
    others are dropped. Lines in a script that the query does not use are dropped unless `anywhere`.
    """
    kept: dict[str, str] = {}
    scripts = {script(letter) for letter in query if letter.isalpha()}
    lines = "\n".join(rewrites).splitlines()
    for line in lines:
        text = _MARK.sub("", line).strip().strip("\"'“”‘’«»`*_").strip()
        key = _key(text)
        if key == _key(query) or not _is_query(text):
            continue
        if scripts and not anywhere and script(text) not in {*scripts, ""}:
            continue
        kept.setdefault(key, text)
    return list(kept.values())[:limit]


def _is_query(text: str) -> bool:
    """Return whether a line is neither empty nor prose nor the announcement of a list."""
    if not words(text) or len(text) > _LONGEST or text.endswith((":", "：")):
        return False
    return not (_ANNOUNCES.match(text) and _ABOUT_REWRITES.search(text))


def _key(text: str) -> str:
    """Return the words of a text, by which duplicates are found."""
    return " ".join(words(text))
