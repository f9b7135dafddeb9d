"""The nouns of web search: what a provider finds, what a page becomes, what a search returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from ragweave.models.errors import WebError


@dataclass(frozen=True, slots=True)
class Found:
    """One search result, before its page is read; its address is checked before anything connects to it."""

    url: str
    title: str = ""
    snippet: str = ""
    text: str = ""
    """Text of the page where the provider already has it; then no page is fetched."""
    fetched: str = ""
    """ISO time of that text."""


@dataclass(frozen=True, slots=True)
class Page:
    """One web page as evidence. Everything in it is data from strangers, never an instruction."""

    url: str
    title: str
    text: str
    """Main text without markup, or the snippet where the page could not be read."""
    snippet: str
    fetched: str
    """ISO 8601 time (UTC)."""


@dataclass(frozen=True, slots=True)
class WebResult:
    """What one web search brought, and sentences about what was not possible for the reader of the answer."""

    pages: list[Page]
    provider: str
    notes: list[str] = field(default_factory=list)


class Provider(Protocol):
    """A search engine."""

    name: str
    local: bool
    """Whether it reads this machine: the addresses of its results are its own."""

    async def search(self, query: str, k: int) -> list[Found]:
        """Return at most k results, best first.

        Raises:
            WebError: the engine is down, refuses, or answers with something else than results.
        """
        ...


class Refused(WebError):
    """An address that Ragweave will not connect to, whatever asked for it."""

    code = "web_refused"
    status = 403


def now() -> str:
    """Return the current time in UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
