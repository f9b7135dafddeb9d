"""Expand the hop's query into further phrasings (RAG-Fusion, step 1), where a first look says that they may help."""

from __future__ import annotations

import asyncio
import re

from langgraph.runtime import Runtime
from pydantic import BaseModel

from ragweave.models import relevance
from ragweave.models.chat import Chat
from ragweave.models.text import content_terms, fold, names, words
from ragweave.nodes.context import Context
from ragweave.nodes.passages import idf_of, passage_of
from ragweave.nodes.run import Run
from ragweave.nodes.state import Phrasings, State, Update
from ragweave.prompts import load

_FIRST_LOOK = 5
_LINE = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.):](?!\d))\s*")
_CLAUSE = re.compile(r"\s*[;；]\s*|,?\s+(?:and|or|but|while|whereas|than|und|et|y)\s+|[，、]|以及|还是|和|与", re.I)


class Rewrites(BaseModel):
    """What the model is asked for."""

    queries: list[str]


async def expand(state: State, runtime: Runtime[Context]) -> Update:
    """Return further phrasings of the hop's query; the query itself is always searched and is not among them."""
    run = Run.of("expand", state, runtime)
    query = state["query"]
    rewrites: list[str] = []
    if run.context.phrasings == 0 or run.context.expand_when == "never":
        run.by = "off"
    elif run.context.expand_when == "auto" and await _strong(run, query):
        run.by = "gate"
    else:
        made = await run.decide(run.chat("judge"), lambda model: _by_model(model, run, query), lambda: _by_rule(query))
        rewrites = clean(made, query, run.context.phrasings)
    row: Phrasings = {"hop": run.hop, "query": query, "rewrites": rewrites, "by": run.by}
    told = {"gate": "the first look is strong, no rewrites", "off": "rewrites are off"}
    summary = " | ".join(rewrites) if rewrites else told.get(run.by, "no useful rewrite")
    return run.done(summary, data={"phrasings": row}, queries=[row])


async def _strong(run: Run, query: str) -> bool:
    """Tell whether the first retrieval already holds a passage that the evaluator calls correct."""
    library = await run.library()
    if not (await library.counts()).get("paragraph"):
        return False
    (lists,) = await library.search("paragraph", [query], _FIRST_LOOK, run.context.sources)
    items = await library.items([h.id for h in (*lists.lexical, *lists.dense)])
    if not items:
        return False
    passages = [passage_of(i) for i in items.values()]
    idf = await idf_of(library, query, passages)
    scores = await asyncio.to_thread(relevance.score, query, passages, idf)
    return bool(scores.floor.max() >= relevance.UPPER)


async def _by_model(model: Chat, run: Run, query: str) -> list[str] | None:
    messages = load("expand", count=run.context.phrasings, question=query)
    reply = await model.json(messages, Rewrites, node=run.node, meter=run.meter)
    return reply.queries if isinstance(reply, Rewrites) else None


async def _by_rule(query: str) -> list[str]:
    """Return the clauses of a compound question, each with the names of the whole, as questions of their own."""
    clauses = [c.strip(" ?？.。") for c in _CLAUSE.split(query) if len(content_terms(c)) >= 2]
    if len(clauses) < 2:
        return []
    named = names(query)
    return [" ".join([*(n for n in named if fold(n) not in fold(c)), c]) for c in clauses]


def clean(rewrites: list[str], query: str, limit: int) -> list[str]:
    """Drop numbering, bullets, quotes, blanks, duplicates, copies of the query and lines that only announce others."""
    kept: dict[str, str] = {}
    asked = _key(query)
    for line in (part for r in rewrites for part in r.splitlines()):
        text = _LINE.sub("", line).strip().strip("\"'“”`").strip()
        key = _key(text)
        if not words(text) or key == asked or text.endswith(":") or len(text) > 500:
            continue
        kept.setdefault(key, text)
    return list(kept.values())[:limit]


def _key(text: str) -> str:
    return " ".join(content_terms(text)) or fold(text)
