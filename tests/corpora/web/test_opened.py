"""Pages that SearxNG names are opened within limits, and only where they lie in the public web."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.web import fetch, opened
from ragweave.corpora.web.providers import Searx
from ragweave.corpora.web.search import search

PAGE = (
    "<html><body><nav>Menu</nav><main><p>The tea house was opened in 1911 by Ada Ostrander, a merchant.</p>"
    "</main><script>steal()</script></body></html>"
)


@dataclass
class Web:
    """A SearxNG server and the pages that it names, under one port."""

    port: int = 0
    results: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = head.split()[1]
        self.asked.append(path.partition("?")[0])
        kind, body = "text/html; charset=utf-8", PAGE
        if path.startswith("/search"):
            rows = [
                {"url": u, "title": "Tea", "content": "a tea house", "engines": ["x"], "category": "general"}
                for u in self.results
            ]
            kind, body = "application/json", json.dumps({"results": rows})
        elif path == "/slow":
            await asyncio.sleep(3)
        elif path == "/large":
            body = "x" * 5_000
        elif path == "/program":
            kind = "application/x-msdownload"
        lines = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body.encode())}"
        writer.write(f"{lines}\r\nConnection: close\r\n\r\n{body}".encode())
        writer.close()

    def named(self, *paths: str) -> list[str]:
        return [f"http://tea.test:{self.port}{path}" for path in paths]


@pytest.fixture
async def web(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Web]:
    """A server on this machine that stands for the public web under the name tea.test."""
    looked_up = socket.getaddrinfo

    def lookup(host: str, *rest: object, **options: object) -> object:
        return looked_up("127.0.0.1" if host == "tea.test" else host, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    monkeypatch.setattr(fetch, "_is_public", lambda place: place == "127.0.0.1")
    monkeypatch.setattr(opened, "SECONDS", 1.0)
    monkeypatch.setattr(opened, "BYTES", 4_000)
    found = Web()
    listening = await asyncio.start_server(found.answer, "127.0.0.1", 0)
    found.port = listening.sockets[0].getsockname()[1]
    yield found
    listening.close()


def searx(web: Web) -> Searx:
    return Searx(f"http://127.0.0.1:{web.port}")


async def test_the_main_text_of_a_page_takes_the_place_of_its_snippet(web: Web) -> None:
    web.results = web.named("/tea")
    result = await search(searx(web), "tea house", 5)
    (page,) = result.pages
    assert page.text == "The tea house was opened in 1911 by Ada Ostrander, a merchant."
    assert page.snippet == "a tea house" and page.url == web.results[0] and not result.notes


async def test_what_is_slow_large_or_no_text_keeps_its_snippet_and_a_note_counts_it(web: Web) -> None:
    web.results = web.named("/tea", "/slow", "/large", "/program")
    result = await search(searx(web), "tea house", 5)
    assert [p.text[:13] for p in result.pages] == ["The tea house", *["a tea house"] * 3]
    assert result.notes == [
        "3 of 4 pages of the web could not be opened: only what the search engine says of them was read."
    ]


async def test_no_address_of_a_private_network_is_opened(web: Web) -> None:
    web.results = ["http://127.0.0.2/admin", "http://169.254.169.254/latest", *web.named("/tea")]
    result = await search(searx(web), "tea house", 5)
    assert [p.text for p in result.pages][:2] == ["a tea house", "a tea house"]
    assert web.asked == ["/search", "/tea"]


async def test_no_more_pages_are_opened_than_are_read(web: Web) -> None:
    web.results = web.named(*(f"/tea{n}" for n in range(9)))
    assert len((await search(searx(web), "tea house", 2)).pages) == 2
    assert sorted(web.asked) == ["/search", "/tea0", "/tea1"]


async def test_pages_stay_closed_if_the_settings_say_so(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_WEB_OPEN", "false")
    corpora_settings.cache_clear()
    web.results = web.named("/tea")
    result = await search(searx(web), "tea house", 5)
    assert result.pages[0].text == "a tea house" and web.asked == ["/search"] and not result.notes
    corpora_settings.cache_clear()
