"""Search the web and make the results plain."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.web.folder import Folder
from ragweave.corpora.web.opened import opened
from ragweave.corpora.web.plain import one_line, plain
from ragweave.corpora.web.providers import TIMEOUT, too_slow
from ragweave.corpora.web.types import Provider, WebPage, WebResult
from ragweave.models.errors import InputError

MAX_PAGES = 20
MAX_QUERY = 400
PAGE_CHARS = 20_000
"""Longest text kept of a page."""
_SNIPPET = 1_000
_REST = r"://[^\s\\<>\"\x00-\x20\x7f-\xa0]{1,2000}"
_ADDRESS = re.compile("https?" + _REST)
"""An address that is shown with a page."""
_SAVED = re.compile("(?:https?|file)" + _REST)
"""The same for a page of the folder; only the folder may name files."""


async def search(provider: Provider, query: str, k: int, timeout: float = TIMEOUT) -> WebResult:
    """Search the web and return at most k pages, 1 to 20.

    Raises:
        WebError: the provider is down, refuses the request, or returns no results that can be read.
        InputError: the query is empty, or k is out of range.
    """
    query = one_line(query, MAX_QUERY)
    if not query:
        raise InputError("The web search has no words to search for", "ask a question in words")
    if not 1 <= k <= MAX_PAGES:
        raise InputError(f"A web search reads 1 to {MAX_PAGES} pages, not {k}")
    try:
        async with asyncio.timeout(timeout):
            found = await provider.search(query, min(2 * k, MAX_PAGES))
    except TimeoutError as exc:
        raise too_slow(provider.name, timeout) from exc
    address = _SAVED if provider.name == Folder.name else _ADDRESS
    kept: dict[str, WebPage] = {}
    for page in map(_plain, found):
        if page.text and address.fullmatch(page.url):
            kept.setdefault(page.url, page)
    pages = list(kept.values())[:k]
    notes = [] if kept else [f"The web search ({provider.name}) found nothing for “{query}”."]
    if corpora_settings().web_open and not provider.brings_text:
        pages, unread = await opened(pages)
        pages = list(map(_plain, pages))
        notes += unread
    return WebResult(pages, provider.name, notes)


def _plain(page: WebPage) -> WebPage:
    """Return a page with plain text, and its address without a fragment."""
    snippet = plain(page.snippet, _SNIPPET)
    text = plain(page.text, PAGE_CHARS) or snippet
    return replace(
        page, url=page.url.partition("#")[0], title=one_line(page.title), text=text, snippet=snippet
    )
