"""Search the web if the library is insufficient (CRAG, section 4.5), with consent; pages are data."""

from __future__ import annotations

import asyncio
import re

from ragweave.components.answer import NodeUsage
from ragweave.components.ask import Outcome
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
"""Pages to read per search."""
_AUTHORITY = re.compile(r"^https?://(?:[\w-]+\.)*wikipedia\.org/", re.I)


async def search_web(state: State, runtime: NodeRuntime) -> Update:
    """Return web evidence and its strips; without consent no search is sent.

    The interrupt comes before every effect except the writing of the query, because a resumed node runs from
    its start. If no search is possible, consent is not requested.
    """
    provider, obstacle = await asyncio.to_thread(_provider)
    run = NodeRun("search_web", state, runtime)
    if obstacle:
        run.note(f"The web was not searched: {obstacle}")
        return run.done(f"not searched: {obstacle}")
    turn = state["turn"]
    consent, written, usage = turn["consent"], None, list[NodeUsage]()
    if not consent:
        consent, written, usage = await reader.ask(run, state["query"], provider)
    update: Update = {"turn": {**turn, "consent": consent}, "usage": usage}
    if consent != "granted":
        why = "you declined it" if consent == "refused" else "this run cannot ask for consent"
        run.note(f"The web was not searched: {why}.")
        return run.done(f"not searched, {why}", **update)
    if _server(provider) in run.turn.down:  # an earlier round has noted it
        return run.done(f"not searched: {provider} did not answer before", **update)
    written = written or await query_for_web(run, state["query"])
    return await _search(run, state["query"], written, provider, update)


def _server(provider: str) -> str:
    """Return the name of a provider among the servers that are down."""
    return f"web search {provider}"


async def _search(
    run: NodeRun, question: str, written: Outcome[str], provider: str, update: Update
) -> Update:
    """Return `update` with the evidence of a web search, or with a note if the search failed."""
    query = written.value
    try:
        result = await _searched(run, query)
    except RagweaveError as error:
        run.note(f"The web search failed: {error}")
        if isinstance(error, WebDown):
            run.turn.down.add(_server(provider))
        return run.done(f"“{query}”: {error}", written, **update)
    run.notes += result.notes
    pages = _preferred(result.pages) if run.context.method.form == "crag" else result.pages
    evidence, kept = await _grade(run, question, pages)
    found = f"{counted(len(pages), 'page')}, {counted(len(kept), 'part')} kept"
    data = {"query": query, "provider": result.provider, "urls": [page.url for page in pages]}
    summary = f"“{query}” on {result.provider}: {found}"
    return run.done(summary, written, data=data, **update, evidence=evidence, knowledge=kept)


def _preferred(pages: list[WebPage]) -> list[WebPage]:
    """Return the first pages, those of Wikipedia before all others (CRAG, section 4.5)."""
    return sorted(pages, key=lambda p: not _AUTHORITY.search(p.url))[:WEB_RESULTS]


async def _searched(run: NodeRun, query: str) -> WebResult:
    """Search within the remaining seconds of the run.

    Raises:
        RagweaveError: as `search` does, and BudgetSpent if the time is over.
    """
    count = WEB_RESULTS * (2 if run.context.method.form == "crag" else 1)
    try:
        async with asyncio.timeout(run.meter.seconds_left):
            return await search(make(), query, count)
    except TimeoutError as error:  # a timeout of the search itself is a WebDown
        run.meter.out_of_time()
        raise run.meter.cut_off(run.node) from error


def _provider() -> tuple[str, str]:
    """Return the name of the provider, or the reason why there is none, with a remedy."""
    try:
        return make().name, ""
    except RagweaveError as error:
        return "", str(error)


async def _grade(run: NodeRun, query: str, pages: list[WebPage]) -> tuple[list[Evidence], list[Strip]]:
    """Cut pages into strips and keep those that are relevant, by the evaluator of the library's strips."""
    method = run.context.method
    texts = [(page, inert(page.text)) for page in pages]
    cuts: list[Strip] = []
    for page, text in texts:
        for start, end in cut(text, method.strip_mode, query):
            cuts.append(web_strip(page, text, start, end, query, run.hop))
    made = (await score_strips(run, query, cuts)).value
    least = min(relevance.LOWER, THRESHOLD)
    kept = []
    for strip in select(made, method):
        if strip["score"] >= least:
            kept.append(strip)
    best: dict[str, float] = {}
    for strip in made:
        best[strip["evidence"]] = max(strip["score"], best.get(strip["evidence"], strip["score"]))
    cited = {strip["evidence"] for strip in kept}
    rows: list[Evidence] = []
    for page, text in texts:
        key = key_of(page)
        if key in cited:
            rows.append(web_row(page, text, best[key], query, run.hop))
    return rows, kept
