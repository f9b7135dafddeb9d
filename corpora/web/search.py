"""Search the web and read what was found."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ragweave.corpora.web.plain import one_line, plain
from ragweave.corpora.web.providers import chosen, make
from ragweave.corpora.web.settings import WebSettings, web_settings
from ragweave.corpora.web.types import Found, Page, Provider, Refused, WebResult, now
from ragweave.models.errors import InputError, RagweaveError, WebError

if TYPE_CHECKING:
    from ragweave.corpora.web.cache import Cache
    from ragweave.corpora.web.fetch import Fetcher

logger = logging.getLogger(__name__)

MAX_PAGES = 20
MAX_QUERY = 400
_SNIPPET = 1_000


def available() -> str:
    """Return the name of the provider that a search would ask, "" where none is configured.

    Raises:
        InputError: the settings name a provider that does not exist.
    """
    return chosen(web_settings())


async def search_web(query: str, k: int = 5, *, provider: str | None = None, prefer: str = "") -> WebResult:
    """Search the web and return the main text of at most k pages.

    A page that cannot be read gives its snippet instead and a note; the other pages go on.

    Args:
        query: what to search for; at most 400 characters of it are sent.
        k: pages, 1 to 20.
        provider: name of the provider; None follows the settings.
        prefer: part of a host name, such as "wikipedia"; pages from there come first.

    Returns:
        Pages, the provider's name, and notes about what was not possible.

    Raises:
        WebError: no provider is configured, or it is down, refuses or answers nonsense.
        InputError: the query is empty, or there is no provider of that name.
        MissingExtra: the provider's package is not installed.
    """
    settings = web_settings()
    return await Searcher.of(settings, make(settings, provider)).search(query, k, prefer)


@dataclass(frozen=True, slots=True)
class Searcher:
    """One provider, one fetcher and one cache.

    Attributes:
        provider: is asked for results.
        fetcher: reads pages.
        cache: keeps searches and pages.
        settings: limits.
    """

    provider: Provider
    fetcher: Fetcher
    cache: Cache
    settings: WebSettings

    @classmethod
    def of(cls, settings: WebSettings, provider: Provider) -> Searcher:
        """Build a searcher from the settings."""
        from ragweave.corpora.web.cache import Cache
        from ragweave.corpora.web.fetch import Fetcher

        cache = Cache(settings.home / "cache" / "web.sqlite", settings.cache_hours * 3600, settings.cache_bytes)
        fetcher = Fetcher(max_bytes=settings.page_bytes, timeout=settings.page_timeout)
        return cls(provider, fetcher, cache, settings)

    async def search(self, query: str, k: int = 5, prefer: str = "") -> WebResult:
        """Search, then read the best k pages side by side. See `search_web`."""
        query = one_line(query, MAX_QUERY)
        if not query:
            raise InputError("The web search has no words to search for", "ask a question in words")
        if not 1 <= k <= MAX_PAGES:
            raise InputError(f"A web search reads 1 to {MAX_PAGES} pages, not {k}")
        notes: list[str] = []
        found = self._admit(await self._ask(query, min(2 * k, MAX_PAGES)), prefer, notes)[:k]
        if not found:
            notes.append(f"The web search ({self.provider.name}) found nothing for “{query}”.")
        return WebResult(await self._read_all(found, notes), self.provider.name, notes)

    async def _ask(self, query: str, n: int) -> list[Found]:
        if self.provider.local:
            return await self.provider.search(query, n)
        key = hashlib.sha256(json.dumps([self.provider.name, query.casefold(), n]).encode()).hexdigest()
        kept = await asyncio.to_thread(self.cache.get, "search", key)
        if kept is not None:
            return [Found(**row) for row in kept]
        try:
            async with asyncio.timeout(self.settings.search_timeout):
                found = await self.provider.search(query, n)
        except TimeoutError as exc:
            raise WebError(
                f"The web search {self.provider.name} did not answer within {self.settings.search_timeout:g} s",
                "try again later",
            ) from exc
        if found:
            await asyncio.to_thread(self.cache.put, "search", key, [asdict(row) for row in found])
        return found

    def _admit(self, found: list[Found], prefer: str, notes: list[str]) -> list[Found]:
        """Drop doubles and addresses that must not be fetched; put preferred hosts first."""
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
            notes.append(
                f"{refused} search {'result leads' if refused == 1 else 'results lead'} to no public web address."
            )
        wanted = prefer.strip().lower()
        return sorted(kept.values(), key=lambda row: bool(wanted) and wanted not in _host(row.url))

    async def _read_all(self, found: list[Found], notes: list[str]) -> list[Page]:
        """Read pages side by side; what is not there at the deadline gives its snippet."""
        gate = asyncio.Semaphore(self.settings.width)
        tasks = [asyncio.create_task(self._read(row, gate)) for row in found]
        try:
            if tasks:
                await asyncio.wait(tasks, timeout=self.settings.page_timeout)
        finally:
            late = [task for task in tasks if task.cancel()]
            await asyncio.gather(*late, return_exceptions=True)
        pages: list[Page] = []
        for row, task in zip(found, tasks, strict=True):
            page, why = _outcome(task, row.url)
            if page is None and row.snippet:
                page = Page(row.url, row.title, row.snippet, row.snippet, now())
            if why:
                rest = "its search snippet is used instead" if page else "it is left out"
                notes.append(f"{why}; {rest}.")
            if page:
                pages.append(page)
        return pages

    async def _read(self, row: Found, gate: asyncio.Semaphore) -> Page:
        if row.text:
            text = plain(row.text, self.settings.page_chars)
            return Page(row.url, row.title, text, row.snippet, row.fetched or now())
        async with gate:
            kept = await asyncio.to_thread(self.cache.get, "page", row.url)
            if kept is None:
                kept = await self._fetch(row.url)
                await asyncio.to_thread(self.cache.put, "page", row.url, kept)
        return Page(kept["url"], kept["title"] or row.title, kept["text"], row.snippet, kept["fetched"])

    async def _fetch(self, url: str) -> dict[str, Any]:
        from ragweave.corpora.web.clean import clean

        body = await self.fetcher.fetch(url)
        cleaned = await asyncio.to_thread(clean, body.data, body.type, body.charset, self.settings.page_chars)
        if not cleaned.text:
            what = "shows a cookie wall or a robot check" if cleaned.wall else "has no text"
            raise WebError(f"The page of {_host(body.url)} {what}")
        return {"url": body.url, "title": cleaned.title, "text": cleaned.text, "fetched": now()}


def _outcome(task: asyncio.Task[Page], url: str) -> tuple[Page | None, str]:
    """Return the page of a finished task, or None and why there is none."""
    if task.cancelled():
        return None, f"{_host(url)} was too slow"
    error = task.exception()
    if error is None:
        return task.result(), ""
    if isinstance(error, RagweaveError):
        return None, error.what
    logger.error("reading %s failed", url, exc_info=error)
    return None, f"The page of {_host(url)} could not be read"


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").lower()
