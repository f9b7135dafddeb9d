from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ragweave.corpora.web.providers import Searx
from ragweave.models.errors import WebError

ROWS = [
    {"url": "https://a.example/", "title": "A", "content": "about a", "engine": "x"},
    {"url": "https://b.example/", "title": None, "content": 7},
    {"title": "no address"},
    "no row",
    {"url": "https://c.example/", "title": "C"},
]


def searx(site: Any, base: str = "", timeout: float = 5.0) -> Searx:
    return Searx(site.url(base), timeout)


async def test_results_are_read_and_the_query_is_sent_encoded(site: Any) -> None:
    site.routes["/searx/search"] = site.json({"results": ROWS})
    found = await searx(site, "/searx/").search("who & what? ü", 5)
    assert [(f.url, f.title, f.snippet) for f in found] == [
        ("https://a.example/", "A", "about a"),
        ("https://b.example/", "", ""),
        ("https://c.example/", "C", ""),
    ]
    assert "q=who+%26+what%3F+%C3%BC" in site.paths()[0] and "format=json" in site.paths()[0]


async def test_no_more_than_asked_for(site: Any) -> None:
    site.routes["/search"] = site.json({"results": ROWS})
    assert len(await searx(site).search("x", 1)) == 1


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ("401 Unauthorized", r"refused the request \(401\)"),
        ("403 Forbidden", r"allow the json format"),
        ("404 Not Found", r"status 404"),
        ("429 Too Many Requests", r"no requests left \(429\)"),
        ("500 Internal Server Error", r"is down \(500\)"),
        ("503 Service Unavailable", r"is down \(503\)"),
        ("302 Found", r"status 302"),
    ],
)
async def test_an_error_status_is_a_sentence_with_a_remedy(site: Any, status: str, why: str) -> None:
    site.routes["/search"] = site.http("<h1>no</h1>", status=status, Location="/elsewhere")
    with pytest.raises(WebError, match=why) as caught:
        await searx(site).search("x", 3)
    assert caught.value.remedy
    assert len(site.seen) == 1, "neither retried nor redirected"


@pytest.mark.parametrize("body", ["<!doctype html><html><body>Results</body></html>", "", "{", "[" * 100_000])
async def test_something_else_than_json_is_a_sentence(site: Any, body: str) -> None:
    site.routes["/search"] = site.http(body)
    with pytest.raises(WebError, match="something else than JSON"):
        await searx(site).search("x", 3)


@pytest.mark.parametrize("value", [[], {}, {"results": None}, {"results": "x"}, 3, None])
async def test_json_without_results_is_a_sentence(site: Any, value: Any) -> None:
    site.routes["/search"] = site.json(value)
    with pytest.raises(WebError, match="without a list of results"):
        await searx(site).search("x", 3)


async def test_nothing_found_is_no_error_but_silent_engines_are(site: Any) -> None:
    site.routes["/search"] = site.json({"results": [], "unresponsive_engines": []})
    assert await searx(site).search("x", 3) == []
    site.routes["/search"] = site.json({"results": [], "unresponsive_engines": [["google", "timeout"]]})
    with pytest.raises(WebError, match="None of the engines"):
        await searx(site).search("x", 3)


async def test_a_server_that_is_down_or_silent_or_endless_is_a_sentence(site: Any) -> None:
    async def silent(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[")
        while not writer.is_closing():
            writer.write(b'"x",' * 50_000)
            await writer.drain()

    site.routes["/search"] = silent
    with pytest.raises(WebError, match="did not answer within"):
        await searx(site, timeout=0.2).search("x", 3)
    site.routes["/search"] = endless
    with pytest.raises(WebError, match="too large"):
        await searx(site).search("x", 3)
    await site.stop()
    with pytest.raises(WebError, match="could not be reached"):
        await searx(site).search("x", 3)
