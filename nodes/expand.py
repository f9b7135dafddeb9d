"""Expand the hop's query into further phrasings (RAG-Fusion, step 1), where a first look says that they may help."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime
from pydantic import BaseModel, field_validator

from ragweave.corpora.store.library import Library
from ragweave.minds.context import Context
from ragweave.minds.evidence import Phrasings
from ragweave.minds.passages import idf_of, passage_of
from ragweave.models import relevance
from ragweave.models.chat import Chat
from ragweave.models.text import content_terms, fold, names, script, words
from ragweave.nodes.run import Run
from ragweave.nodes.state import State, Update
from ragweave.prompts import load

FIRST_LOOK = 5
"""Hits of each list that the gate reads."""
STRONG = 0.7
"""Relevance of the best first hit from which rewrites are skipped: half the calls for .005 recall (docs/fusion.md)."""
_LONGEST = 300
"""Characters of a rewrite; a longer line is prose."""

_MARK = re.compile(
    r"^\s*(?:[-*•–]+\s+|[-*•](?=\w)|[(\[]?\d{1,2}(?:[.):、](?!\d)|\])\s*|(?:query|question|查询|问题)\s*\d*\s*[:：.]\s*)+",
    re.I,
)
_ANNOUNCES = re.compile(
    r"^(?:(?:sure|certainly|of course|absolutely|okay|ok|here|these are|below|the following|i(?:['’]ve| have| can)"
    r"|let me|hope)\b|好的|当然|以下|下面|这里是)",
    re.I,
)
_ABOUT_REWRITES = re.compile(
    r"quer(?:y|ies)|question|search|phras|rewrit|version|variant|alternative|help|查询|问题|改写|检索", re.I
)
_CLAUSE = re.compile(r"\s*[;；]\s*|,?\s+(?:and|or|but|while|whereas|than|und|et|y)\s+|[，、]|以及|还是|和|与", re.I)


class Rewrites(BaseModel):
    """What the model is asked for."""

    queries: list[str]

    @field_validator("queries", mode="before")
    @classmethod
    def _texts(cls, value: Any) -> Any:
        """Take what is text: some models write one string with a line per query, or objects with a text inside."""
        if isinstance(value, str):
            return value.splitlines()
        if not isinstance(value, list):
            return value
        inner = [next((v for v in q.values() if isinstance(v, str)), None) if isinstance(q, dict) else q for q in value]
        return [q for q in inner if isinstance(q, str)]


async def expand(state: State, runtime: Runtime[Context]) -> Update:
    """Return further phrasings of the hop's query; the query itself is always searched and is not among them.

    A model that fails or cannot be read leaves the query alone. Its replies are cached with their prompt and model.
    """
    run = Run.of("expand", state, runtime)
    query, context = state["query"], run.context
    rewrites: list[str] = []
    off = context.phrasings == 0 or context.expand_when == "never"
    model = None if off else run.chat("judge")
    if off or (model is None and not _by_rule(query, context)):
        run.by = "off" if off else run.by
    elif context.expand_when == "auto" and await _strong(run, query):
        run.by = "gate"
    else:
        made = await run.decide(
            model, lambda m: _by_model(m, run, query), lambda: _without_model(model, query, context)
        )
        rewrites = clean(made, query, context.phrasings)
    row: Phrasings = {"hop": run.hop, "query": query, "rewrites": rewrites, "by": run.by}
    told = {"gate": "the first look is strong, no rewrites", "off": "rewrites are off"}
    summary = " | ".join(rewrites) if rewrites else told.get(run.by, "no useful rewrite")
    return run.done(summary, data={"phrasings": row}, queries=[row])


async def _strong(run: Run, query: str) -> bool:
    """Tell whether the first retrieval already holds a passage that answers."""
    library = await run.library()
    if not (await library.counts()).get("paragraph"):
        return False
    return await first_look(library, query, run.context.sources) >= (
        STRONG if run.context.strong is None else run.context.strong
    )


async def first_look(library: Library, query: str, sources: Sequence[str] = ()) -> float:
    """Return the calibrated relevance, in [-1, 1], of the best paragraph that one plain search finds."""
    (lists,) = await library.search("paragraph", [query], FIRST_LOOK, sources)
    items = await library.items([h.id for h in (*lists.lexical, *lists.dense)])
    if not items:
        return -1.0
    passages = [passage_of(i, query) for i in items.values()]
    idf = await idf_of(library, query, passages)
    scores = await asyncio.to_thread(relevance.score, query, passages, idf)
    return float(scores.floor.max())


async def _by_model(model: Chat, run: Run, query: str) -> list[str] | None:
    messages = load(
        "rephrase" if run.context.phrasing == "rephrase" else "diverse", count=run.context.phrasings, question=query
    )
    reply = await model.json(messages, Rewrites, node=run.node, meter=run.meter)
    return reply.queries if isinstance(reply, Rewrites) else None


async def _without_model(failed: Chat | None, query: str, context: Context) -> list[str]:
    """Return the small mind's phrasings; none in place of a model that failed, because the query alone is safer."""
    return _by_rule(query, context) if failed is None else []


def _by_rule(query: str, context: Context) -> list[str]:
    return [*(clauses(query) if context.clauses else []), *([keyword_form(query)] if context.keywords else [])]


def clauses(query: str) -> list[str]:
    """Return the clauses of a compound question, each with the names of the whole, as questions of their own."""
    parts = [c.strip(" ?？.。") for c in _CLAUSE.split(query) if len(content_terms(c)) >= 2]
    if len(parts) < 2:
        return []
    named = names(query)
    return [" ".join([*(n for n in named if fold(n) not in fold(c)), c]) for c in parts]


def keyword_form(query: str) -> str:
    """Return the words of a question that carry content, as they stand in it."""
    return " ".join(w.strip("?,.!;:？，。！；：\"'“”‘’") for w in query.split() if content_terms(w))


def clean(rewrites: list[str], query: str, limit: int) -> list[str]:
    """Return what can be searched of a reply, at most `limit` lines.

    Dropped are numbering, bullets, quotes, blanks, duplicates, copies of the query, prose, lines that only announce
    others, and lines in a script of which the query has no letter.
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
        if written and script(text) not in {*written, ""}:
            continue
        kept.setdefault(key, text)
    return list(kept.values())[:limit]


def _key(text: str) -> str:
    return " ".join(words(text))
