"""SearxNG and Tavily are asked over loopback, by a server that answers with given bytes."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.web.providers import Searx, Tavily, available, make
from ragweave.corpora.web.search import search
from ragweave.corpora.web.types import Provider
from ragweave.models.errors import InputError, MissingExtra, WebDown, WebError


@dataclass
class Server:
    url: str = ""
    status: str = "200 OK"
    body: str = ""
    wait: float = 0.0
    seen: list[str] = field(default_factory=list)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.seen.append((await reader.readuntil(b"\r\n\r\n")).decode())
        await asyncio.sleep(self.wait)
        head = (
            f"HTTP/1.1 {self.status}\r\nContent-Length: {len(self.body.encode())}\r\nConnection:"
            " close\r\n\r\n"
        )
        writer.write((head + self.body).encode())
        writer.close()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    found = Server()
    listening = await asyncio.start_server(found.answer, "127.0.0.1", 0)
    found.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    yield found
    listening.close()


MAKERS: dict[str, Callable[[str, float], Provider]] = {
    "searx": Searx,
    "tavily": lambda url, timeout: Tavily("tvly-secret", timeout, httpx.AsyncClient(base_url=url)),
}
both = pytest.mark.parametrize("name", MAKERS)


def row(url: Any, **more: Any) -> dict[str, Any]:
    return {"url": url, "title": "A", "content": "about a", "engines": ["x"], "category": "general", **more}


@both
async def test_results_are_read_as_data(name: str, server: Server) -> None:
    rows = [
        row("https://a.example/", raw_content="All of it."),
        row("https://b.example/", title=None, content=7),
    ]
    server.body = json.dumps({"results": [*rows, row(None), row("https://c.example/")]})
    found = await MAKERS[name](server.url, 5).search("who & what? ü", 3)
    text = "All of it." if name == "tavily" else ""
    shown = [(p.url, p.title, p.text, p.snippet) for p in found]
    assert shown[:2] == [("https://a.example/", "A", text, "about a"), ("https://b.example/", "", "", "")]
    if name == "searx":
        parts = ("GET /search?", "q=who+%26+what?+%C3%BC", "format=json", "language=auto")
        assert all(part in server.seen[0] for part in parts)
    else:
        assert (
            "POST /search" in server.seen[0] and "authorization: bearer tvly-secret" in server.seen[0].lower()
        )


@both
async def test_nothing_found_is_no_error_but_silent_engines_are(name: str, server: Server) -> None:
    server.body = '{"results": [], "unresponsive_engines": []}'
    assert await MAKERS[name](server.url, 5).search("x", 3) == []
    server.body = '{"results": [], "unresponsive_engines": [["google", "timeout"]]}'
    with pytest.raises(WebDown, match="None of the engines"):
        await Searx(server.url).search("x", 3)


@pytest.mark.parametrize(
    ("status", "searx", "tavily"),
    [
        ("400 Bad Request", r"refused the request \(400\)", r"refused the request \(400\)"),
        ("401 Unauthorized", r"refused the request \(401\)", "does not know the key"),
        ("403 Forbidden", "allow the json format", "what its plan allows is used up"),
        ("429 Too Many Requests", r"no requests left \(429\)", r"no requests left \(429\)"),
        ("432 Plan", r"refused the request \(432\)", "what its plan allows is used up"),
        ("500 Internal Server Error", r"is down \(500\)", r"is down \(500\)"),
    ],
)
@both
async def test_an_error_status_is_a_sentence_with_a_remedy_and_without_the_key(
    name: str, status: str, searx: str, tavily: str, server: Server
) -> None:
    server.status, server.body = status, '{"detail": {"error": "no, tvly-secret"}}'
    with pytest.raises(WebError, match={"searx": searx, "tavily": tavily}[name]) as caught:
        await MAKERS[name](server.url, 5).search("x", 3)
    assert caught.value.remedy and "secret" not in str(caught.value) and len(server.seen) == 1


@pytest.mark.parametrize(
    "body",
    ["<html>Results</html>", "", "{", "[]", "3", '{"results": null}', '{"results": [3]}', "[" * 100_000],
)
@both
async def test_something_else_than_results_is_a_sentence(name: str, body: str, server: Server) -> None:
    server.body = body
    with pytest.raises(WebError, match="something else than results"):
        await MAKERS[name](server.url, 5).search("x", 3)


@both
async def test_a_slow_or_missing_server_is_a_sentence(name: str, server: Server) -> None:
    server.wait = 30
    with pytest.raises(WebDown, match=r"did not answer within 0\.2 s"):
        await MAKERS[name](server.url, 0.2).search("x", 3)
    with pytest.raises(WebDown, match="could not be reached"):
        await MAKERS[name]("http://127.0.0.1:9", 5).search("x", 3)


async def test_no_address_that_a_provider_names_is_opened(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.body = json.dumps({"results": [row(f"{server.url}/admin"), row("http://localhost/", content="")]})
    monkeypatch.setenv("RAGWEAVE_WEB_SEARX_URL", server.url)
    assert [p.text for p in (await search(make(), "lighthouse", 5)).pages] == ["about a"]
    assert len(server.seen) == 1


@both
def test_a_missing_package_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("tavily", "langchain_community.utilities.searx_search"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[web\]"):
        MAKERS[name]("http://127.0.0.1:9", 5)


FOLDER = {"RAGWEAVE_WEB_FOLDER": "/pages"}
SEARX = {"RAGWEAVE_WEB_SEARX_URL": "http://127.0.0.1:8888"}
OWN_KEY = {"RAGWEAVE_TAVILY_KEY": "tvly-own"}
FOUND_KEY = {"TAVILY_API_KEY": "tvly-found"}
OFFLINE = {"RAGWEAVE_OFFLINE": "true"}


@pytest.mark.parametrize(
    ("environment", "provider"),
    [
        ({}, ""),
        (FOLDER | SEARX | OWN_KEY, "folder"),
        (SEARX | OWN_KEY, "searx"),
        (OWN_KEY | FOUND_KEY, "tavily"),
        (FOUND_KEY, ""),
        (OFFLINE | SEARX | OWN_KEY, ""),
        (OFFLINE | FOLDER | SEARX, "folder"),
        ({"RAGWEAVE_WEB_FOLDER": "", "RAGWEAVE_WEB_SEARX_URL": "", "RAGWEAVE_TAVILY_KEY": ""}, ""),
    ],
)
def test_only_what_was_configured_on_purpose_is_asked(
    environment: dict[str, str], provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in environment.items():
        monkeypatch.setenv(key, value)
    assert available() == provider
    if provider:
        assert make().name == provider
        return
    why = "RAGWEAVE_OFFLINE" if "RAGWEAVE_OFFLINE" in environment else "No web search is configured"
    with pytest.raises(WebError, match=why):
        make()


async def test_no_key_of_the_environment_is_used_no_key_shown_and_no_odd_address_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-found")
    with pytest.raises(WebError, match="RAGWEAVE_TAVILY_KEY"):
        Tavily("")
    monkeypatch.setenv("RAGWEAVE_TAVILY_KEY", "tvly-own")
    assert "tvly-own" not in repr(corpora_settings())
    corpora_settings.cache_clear()
    monkeypatch.setenv("RAGWEAVE_WEB_SEARX_URL", "file:///etc")
    with pytest.raises(InputError, match="RAGWEAVE_WEB_SEARX_URL cannot be used"):
        make()
