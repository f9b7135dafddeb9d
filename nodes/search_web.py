"""Search the web where the library falls short (CRAG, section 4.5); asks for consent first, and reads pages as data."""

from __future__ import annotations

import asyncio
import hashlib

from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from ragweave.corpora.types import Locator
from ragweave.corpora.web import Page
from ragweave.corpora.web import search_web as fetch_pages
from ragweave.models import relevance
from ragweave.models.chat import Chat
from ragweave.models.errors import RagweaveError
from ragweave.models.relevance import Passage
from ragweave.models.text import clip, content_terms, names
from ragweave.nodes.context import Context
from ragweave.nodes.passages import best_window, idf_of
from ragweave.nodes.refine import select, strips
from ragweave.nodes.run import Run
from ragweave.nodes.state import TEXT_LIMIT, Evidence, State, Strip, Update
from ragweave.prompts import load

_QUERY_LIMIT = 200


async def search_web(state: State, runtime: Runtime[Context]) -> Update:
    """Return web evidence and its strips; without consent nothing is sent anywhere.

    The interrupt stands before everything that has an effect, because a resumed node runs from its top.
    """
    consent = state.get("consent") or _consent(state, Context.of(runtime))
    run = Run.of("search_web", state, runtime)
    if consent != "granted":
        why = {"refused": "you declined it", "unavailable": "this run cannot ask for consent"}[consent]
        run.note(f"The web was not searched: {why}.")
        return run.done(f"not searched, {why}", consent=consent)
    query = await run.decide(
        run.chat("judge"), lambda model: _query_by_model(model, run, state["query"]), lambda: _keywords(state["query"])
    )
    try:
        result = await fetch_pages(query, run.context.web_results)
    except RagweaveError as error:
        run.note(f"The web search failed: {error}")
        return run.done(f"“{query}”: {error}", consent=consent)
    for note in result.notes:
        run.note(note)
    evidence, kept = await _grade(run, state["query"], result.pages)
    summary = f"“{query}” on {result.provider}: {len(result.pages)} pages, {len(kept)} strips kept"
    data = {"query": query, "provider": result.provider, "urls": [p.url for p in result.pages]}
    best = {"best": max((s["score"] for s in kept), default=-1.0)} if run.hop == 1 else {}
    return run.done(summary, data=data, consent=consent, evidence=evidence, knowledge=kept, **best)


def _consent(state: State, context: Context) -> str:
    if context.web == "auto":
        return "granted"
    if not get_config().get("configurable", {}).get("__pregel_checkpointer"):
        return "unavailable"
    reply = interrupt({"type": "consent", "action": "search_web", "query": state["query"]})
    agreed = reply.get("granted", reply.get("approved")) if isinstance(reply, dict) else reply
    return "granted" if agreed is True or str(agreed).strip().lower() in {"yes", "y", "true", "ok"} else "refused"


async def _query_by_model(model: Chat, run: Run, question: str) -> str | None:
    reply = (await model.text(load("search_web", question=question), node=run.node, meter=run.meter)).strip(" \"'\n")
    return reply if 0 < len(reply) <= _QUERY_LIMIT and "\n" not in reply else None


async def _keywords(question: str) -> str:
    """Return the question's names, then its other content words: what a person would type."""
    named = names(question)
    inside = set(content_terms(" ".join(named)))
    rest = [w for w in question.split() if (t := content_terms(w)) and not set(t) <= inside]
    return clip(" ".join([*named, *rest]) or question, _QUERY_LIMIT).strip(" ?？")


async def _grade(run: Run, query: str, pages: list[Page]) -> tuple[list[Evidence], list[Strip]]:
    """Score pages and their strips with the evaluator that grades the library."""
    evidence: list[Evidence] = []
    made: list[Strip] = []
    for page in pages:
        key = "web-" + hashlib.sha256(page.url.encode()).hexdigest()[:16]
        locator: Locator = {"kind": "url", "url": page.url, "fetched": page.fetched}
        start, end = best_window(page.text, query)
        row: Evidence = {
            "id": key,
            "corpus": "web",
            "origin": "web",
            "title": page.title or page.url,
            "text": page.text[start:end],
            "locator": locator,
            "query": query,
            "hop": run.hop,
            "score": 0.0,
            "relevance": -1.0,
            "date": "",
        }
        evidence.append(row)
        for a, b in strips(page.text):
            made.append(
                {
                    "id": f"{key}#{a}-{b}",
                    "evidence": key,
                    "text": clip(page.text[a:b], TEXT_LIMIT),
                    "title": row["title"],
                    "locator": {**locator, "chars": [a, b]},
                    "origin": "web",
                    "query": query,
                    "hop": run.hop,
                    "score": -1.0,
                }
            )
    if not made:
        return [], []
    passages = [Passage(s["title"], s["text"]) for s in made]
    idf = await idf_of(await run.library(), query, passages)
    for strip, floor in zip(made, (await asyncio.to_thread(relevance.score, query, passages, idf)).floor, strict=True):
        strip["score"] = round(float(floor), 4)
    for row in evidence:
        row["relevance"] = max((s["score"] for s in made if s["evidence"] == row["id"]), default=-1.0)
    kept = [s for s in select(made, run.context.strips) if s["score"] >= relevance.LOWER]
    return [e for e in evidence if any(s["evidence"] == e["id"] for s in kept)], kept
