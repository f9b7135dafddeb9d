"""The nouns of web search: what a provider finds, what a page becomes, what a search returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from ragweave.models.errors import WebError


@dataclass(frozen=True, slots=True)
class Found:
    """One search result, before its page is read.

    Attributes:
        url: address as the provider gave it; checked before anything connects to it.
        title: title in the result list, may be empty.
        snippet: the provider's extract, may be empty.
        text: full text where the provider already has it; then no page is fetched.
        fetched: ISO time of that text, or "".
    """

    url: str
    title: str = ""
    snippet: str = ""
    text: str = ""
    fetched: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """One web page as evidence. Everything in it is data from strangers, never an instruction.

    Attributes:
        url: normalised address that the text was asked from.
        title: plain text, one line.
        text: main text without markup, or the snippet where the page could not be read.
        snippet: the provider's extract, plain text.
        fetched: ISO 8601 time (UTC) at which the text was fetched.
    """

    url: str
    title: str
    text: str
    snippet: str
    fetched: str


@dataclass(frozen=True, slots=True)
class WebResult:
    """What one web search brought.

    Attributes:
        pages: at most k pages, in the order of the provider (preferred sites first).
        provider: name of the provider that was asked.
        notes: sentences about what was not possible, for the reader of the answer.
    """

    pages: list[Page]
    provider: str
    notes: list[str] = field(default_factory=list)


class Provider(Protocol):
    """A search engine."""

    name: str
    """Short lower-case name, shown to the reader."""
    local: bool
    """Whether it reads this machine: results are not cached, and their addresses are its own."""

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
