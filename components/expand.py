"""Put a query into further phrasings, by a model in one call, and clean them (RAG-Fusion, step 1)."""

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
"""Rewrites that are asked for."""
PUBLISHED = ("seed", "article")
"""Phrasings that are asked for by a quoted prompt."""
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
"""A line of markup, a statement, or what announces a list."""


class Rewrites(BaseModel):
    """What the model is asked for."""

    queries: list[str]

    @field_validator("queries", mode="before")
    @classmethod
    def _texts(cls, value: Any) -> Any:
        """Take what is text: some models write one string, a line a query, or objects with a text inside."""
        if isinstance(value, str):
            return value.splitlines()
        if not isinstance(value, list):
            return value
        inner = [
            next((v for v in q.values() if isinstance(v, str)), None) if isinstance(q, dict) else q
            for q in value
        ]
        texts = [q for q in inner if isinstance(q, str)]
        if value and not texts:
            raise ValueError("no query")  # “[1] a query”, say, is a line and no list
        return texts

    @classmethod
    def read(cls, text: str) -> list[str]:
        """Return the queries of a reply in whatever form they come: JSON, or a query a line."""
        found = read_json(text, cls)
        return [without_thoughts(text)] if found is None else found.queries

    @classmethod
    def read_plain(cls, text: str) -> Rewrites | None:
        """Read a query a line in a reply that is no JSON: numbered or bulleted lines, or two and more bare ones."""
        lines = [line.strip() for line in without_thoughts(text).splitlines() if line.strip()]
        listed = [line for line in lines if _MARK.match(line)]
        found = listed if len(listed) > 1 else [line for line in lines if not _NO_QUERY.search(line)]
        return cls(queries=found) if len(found) > 1 else None


async def rephrase(run: RunContext, query: str) -> Outcome[list[str]]:
    """Return further phrasings of a query, without the query itself."""
    return await first_of(run, model_of(run.context), by_model, locally, query)


async def locally(run: RunContext, query: str) -> list[str]:
    """Return no phrasing: rules that cut a question into clauses or keywords were measured as no help."""
    return []


async def by_model(run: RunContext, query: str) -> list[str] | None:
    """Return further phrasings of a query, without the query itself; None where the reply holds none."""
    form, count = run.context.method.phrasing, PHRASINGS
    if form in PUBLISHED:
        messages = load(f"queries_{form}", count=count, question=query)
        anywhere = form == "article"
        text = await run.text(
            messages, good=lambda text: bool(clean(Rewrites.read(text), query, count, anywhere))
        )
        return clean(Rewrites.read(text), query, count, anywhere)
    others = await _other_languages(run, query)
    named = " and one in ".join(others)
    language = (
        f"Write one of them in {named}, the others in the language of the question." if others else _SAME
    )
    messages = load(form, count=count, question=query, language=language)
    anywhere = bool(others)
    reply = await run.json(
        messages, Rewrites, good=lambda read: bool(clean(read.queries, query, count, anywhere))
    )
    return None if reply is None else clean(reply.queries, query, count, anywhere)


async def _other_languages(run: RunContext, query: str) -> list[str]:
    """Return the name of the library's most frequent language that is not the query's.

    Few words hardly tell their language. If the guess is unsure, or none of the library's, its two most
    frequent languages are named, so that the one in which most is written is never left out.
    """
    held = [code for code in await (await run.library()).languages() if code in NAMES]
    guess = guess_language(query)
    if guess in held:
        return [NAMES[code] for code in held if code != guess][:1]
    return [NAMES[code] for code in held][:2]


def clean(rewrites: list[str], query: str, limit: int, anywhere: bool = False) -> list[str]:
    """Return what can be searched of a reply, at most `limit` lines.

    Dropped are numbering, bullets, quotes, blanks, duplicates, copies of the query, prose, lines that only
    announce others, and, unless they may be written `anywhere`, lines in a script of which the query has no
    letter.
    """
    kept: dict[str, str] = {}
    asked = _key(query)
    written = {script(c) for c in query if c.isalpha()}
    for line in (part for r in rewrites for part in r.splitlines()):
        text = _MARK.sub("", line).strip().strip("\"'“”‘’«»`*_").strip()
        key = _key(text)
        if not words(text) or key == asked or len(text) > _LONGEST or text.endswith((":", "：")):
            continue
        if _ANNOUNCES.match(text) and _ABOUT_REWRITES.search(text):
            continue
        if written and not anywhere and script(text) not in {*written, ""}:
            continue
        kept.setdefault(key, text)
    return list(kept.values())[:limit]


def _key(text: str) -> str:
    return " ".join(words(text))
