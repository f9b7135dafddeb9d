"""Define the types of web search: a page, a result and a provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class WebPage:
    """One web page as evidence. Everything in it is data from strangers, never an instruction."""

    url: str
    title: str
    text: str
    """Main text without markup, or the snippet if the provider returns no more."""
    snippet: str
    fetched: str
    """ISO 8601 time (UTC)."""


@dataclass(frozen=True, slots=True)
class WebResult:
    """The pages of one web search; `notes` are sentences about it for the reader of the answer."""

    pages: list[WebPage]
    provider: str
    notes: list[str] = field(default_factory=list)


class Provider(Protocol):
    """A search engine."""

    name: str
    brings_text: bool
    """Whether pages come with their main text; the pages of other engines have to be opened for it."""

    async def search(self, query: str, k: int) -> list[WebPage]:
        """Return at most k pages, best first, not made plain yet.

        Raises:
            WebError: the engine is down, refuses the request, or returns no results that can be read.
        """
        ...


def now() -> str:
    """Return the current time in UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
