"""Search the web and read what was found."""

from __future__ import annotations

import asyncio
import logging
from typing import NamedTuple
from urllib.parse import urlsplit

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.web.clean import PAGE_CHARS, clean
from ragweave.corpora.web.fetch import Fetcher
from ragweave.corpora.web.plain import one_line, plain
from ragweave.corpora.web.providers import TIMEOUT, chosen, make, too_slow
from ragweave.corpora.web.types import Found, Page, Provider, Refused, WebResult, now
from ragweave.models.errors import InputError, RagweaveError, WebError

logger = logging.getLogger(__name__)

MAX_PAGES = 20
MAX_QUERY = 400
_SNIPPET = 1_000


def available() -> str:
    """Return the name of the provider that a search would ask, "" where none is configured.

    Raises:
        InputError: the settings name a provider that does not exist.
    """
    return chosen(corpora_settings())


async def search_web(query: str, k: int = 5, *, provider: str | None = None) -> WebResult:
    """Search the web, by the settings' provider or another, and return the main text of at most k pages, 1 to 20.

    A page that cannot be read gives its snippet instead and a note; the other pages go on.

    Raises:
        WebError: no provider is configured, or it is down, refuses or answers nonsense.
        InputError: the query is empty, or there is no provider of that name.
        MissingExtra: the provider's package is not installed.
    """
    return await Searcher(make(provider), Fetcher()).search(query, k)


class Searcher(NamedTuple):
    """One provider, and what reads the pages that it brings no text of."""

    provider: Provider
    fetcher: Fetcher
    timeout: float = TIMEOUT
    """Seconds for the provider's answer."""

    async def search(self, query: str, k: int = 5) -> WebResult:
        """Search, then read the best k pages side by side. See `search_web`."""
        query = one_line(query, MAX_QUERY)
        if not query:
            raise InputError("The web search has no words to search for", "ask a question in words")
        if not 1 <= k <= MAX_PAGES:
            raise InputError(f"A web search reads 1 to {MAX_PAGES} pages, not {k}")
        notes: list[str] = []
        try:
            async with asyncio.timeout(self.timeout):
                rows = await self.provider.search(query, min(2 * k, MAX_PAGES))
        except TimeoutError as exc:
            raise too_slow(self.provider.name, self.timeout) from exc
        found = self._admit(rows, notes)[:k]
        if not found:
            notes.append(f"The web search ({self.provider.name}) found nothing for “{query}”.")
        return WebResult(await self._read_all(found, notes), self.provider.name, notes)

    def _admit(self, found: list[Found], notes: list[str]) -> list[Found]:
        """Drop doubles and addresses that must not be fetched."""
        kept: dict[str, Found] = {}
        refused = 0
        for row in found:
            try:
                url = row.url if self.provider.local else self.fetcher.check(row.url).url
            except Refused:
                refused += 1
                continue
            kept.setdefault(url, Found(url, one_line(row.title), plain(row.snippet, _SNIPPET), row.text, row.fetched))
        if refused:
            lead = "result leads" if refused == 1 else "results lead"
            notes.append(f"{refused} search {lead} to no public web address.")
        return list(kept.values())

    async def _read_all(self, found: list[Found], notes: list[str]) -> list[Page]:
        """Read pages side by side; one that cannot be read gives its snippet."""
        pages: list[Page] = []
        read = await asyncio.gather(*(self._read(row) for row in found), return_exceptions=True)
        for row, page in zip(found, read, strict=True):
            if isinstance(page, Page):
                pages.append(page)
                continue
            if not isinstance(page, RagweaveError):
                logger.error("reading %s failed", row.url, exc_info=page)
            why = page.what if isinstance(page, RagweaveError) else f"The page of {_host(row.url)} could not be read"
            notes.append(f"{why}; {'its search snippet is used instead' if row.snippet else 'it is left out'}.")
            if row.snippet:
                pages.append(Page(row.url, row.title, row.snippet, row.snippet, now()))
        return pages

    async def _read(self, row: Found) -> Page:
        if row.text:
            return Page(row.url, row.title, plain(row.text, PAGE_CHARS), row.snippet, row.fetched or now())
        body = await self.fetcher.fetch(row.url)
        cleaned = await asyncio.to_thread(clean, body.data, body.type, body.charset)
        if not cleaned.text:
            what = "shows a cookie wall or a robot check" if cleaned.wall else "has no text"
            raise WebError(f"The page of {_host(body.url)} {what}")
        return Page(body.url, cleaned.title or row.title, cleaned.text, row.snippet, now())


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").lower()
