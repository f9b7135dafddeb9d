"""Search the web where the library falls short (CRAG, section 4.5); asks for consent first, and reads pages as data."""

from __future__ import annotations

import asyncio
import re

from ragweave.components.evidence import Evidence, Strip
from ragweave.components.search_web import query_for_web
from ragweave.components.strips import THRESHOLD, cut, select
from ragweave.components.web_evidence import key_of, web_row, web_strip
from ragweave.corpora.web.plain import inert
from ragweave.corpora.web.providers import make
from ragweave.corpora.web.search import search
from ragweave.corpora.web.types import WebPage, WebResult
from ragweave.models import relevance
from ragweave.models.errors import RagweaveError, WebDown
from ragweave.models.text import counted
from ragweave.nodes import consent as reader
from ragweave.nodes.refine import score_strips
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import State, Update

WEB_RESULTS = 5
"""Pages read per search."""
_AUTHORITY = re.compile(r"^https?://(?:[\w-]+\.)*wikipedia\.org/", re.I)


async def search_web(state: State, runtime: NodeRuntime) -> Update:
    """Return web evidence and its strips; without consent no search is sent anywhere.

    The interrupt stands before everything that has an effect but the writing of the query, because a resumed
    node runs from its top. Where no search could be made anyway, nothing is asked.
    """
    provider, obstacle = await asyncio.to_thread(_provider)
    run = NodeRun("search_web", state, runtime)
    if obstacle:
        run.note(f"The web was not searched: {obstacle}")
        return run.done(f"not searched: {obstacle}")
    turn = state["turn"]
    said = turn["consent"]
    consent, written, usage = (said, None, []) if said else await reader.ask(run, state["query"], provider)
    told: Update = {"turn": {**turn, "consent": consent}, "usage": usage}
    if consent != "granted":
        why = "you declined it" if consent == "refused" else "this run cannot ask for consent"
        run.note(f"The web was not searched: {why}.")
        return run.done(f"not searched, {why}", **told)
    server = f"web search {provider}"
    if server in run.turn.down:  # an earlier round has noted it
        return run.done(f"not searched: {provider} did not answer before", **told)
    written = written or await query_for_web(run, state["query"])
    query = written.value
    try:
        result = await _searched(run, query)
    except RagweaveError as error:
        run.note(f"The web search failed: {error}")
        if isinstance(error, WebDown):
            run.turn.down.add(server)
        return run.done(f"“{query}”: {error}", written, **told)
    run.notes += result.notes
    pages = _preferred(result.pages) if run.context.method.form == "crag" else result.pages
    evidence, kept = await _grade(run, state["query"], pages)
    summary = (
        f"“{query}” on {result.provider}: {counted(len(pages), 'page')}, {counted(len(kept), 'part')} kept"
    )
    data = {"query": query, "provider": result.provider, "urls": [p.url for p in pages]}
    return run.done(summary, written, data=data, **told, evidence=evidence, knowledge=kept)


def _preferred(pages: list[WebPage]) -> list[WebPage]:
    """Return the first pages, those of Wikipedia before all others (CRAG, section 4.5)."""
    return sorted(pages, key=lambda p: not _AUTHORITY.search(p.url))[:WEB_RESULTS]


async def _searched(run: NodeRun, query: str) -> WebResult:
    """Search within what is left of the run's seconds; raises as `search` does, and BudgetSpent when they are over."""
    try:
        async with asyncio.timeout(run.meter.seconds_left):
            return await search(make(), query, WEB_RESULTS * (2 if run.context.method.form == "crag" else 1))
    except TimeoutError as error:  # that of the search itself is a WebDown
        run.meter.out_of_time()
        raise run.meter.cut_off(run.node) from error


def _provider() -> tuple[str, str]:
    """Return the name of the provider that would be asked, or why none can be, with the remedy."""
    try:
        return make().name, ""
    except RagweaveError as error:
        return "", str(error)


async def _grade(run: NodeRun, query: str, pages: list[WebPage]) -> tuple[list[Evidence], list[Strip]]:
    """Cut pages into strips and keep those that the evaluator of the library's strips finds relevant."""
    method = run.context.method
    texts = [(page, inert(page.text)) for page in pages]
    cuts = [
        web_strip(page, text, a, b, query, run.hop)
        for page, text in texts
        for a, b in cut(text, method.strip_mode, query)
    ]
    made = (await score_strips(run, query, cuts)).value
    kept = [s for s in select(made, method) if s["score"] >= min(relevance.LOWER, THRESHOLD)]
    best = {s["evidence"]: max(t["score"] for t in made if t["evidence"] == s["evidence"]) for s in kept}
    rows = [web_row(p, text, best[key_of(p)], query, run.hop) for p, text in texts if key_of(p) in best]
    return rows, kept
