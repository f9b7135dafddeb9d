from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ragweave.corpora.web.providers import Tavily
from ragweave.models.errors import WebError


def tavily(site: Any, timeout: float = 5.0) -> Tavily:
    return Tavily("tvly-secret", timeout, site.url(""))


async def test_results_are_read_and_the_key_is_sent_to_the_given_server(site: Any) -> None:
    row = {"url": "https://a.example/", "title": "A", "content": "about a", "raw_content": "All of it.", "score": 0.9}
    rows = [row, {"title": "no address"}, {"url": "https://b.example/", "raw_content": None}]
    site.routes["/search"] = site.json({"query": "x", "results": rows})
    found, other = await tavily(site).search("x", 3)
    assert (found.url, found.title, found.snippet) == ("https://a.example/", "A", "about a")
    assert (found.text, bool(found.fetched), other.text) == ("All of it.", True, "")
    assert "authorization: bearer tvly-secret" in site.seen[0].lower()


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ("400 Bad Request", r"status 400"),
        ("401 Unauthorized", r"refused the request \(401\)"),
        ("403 Forbidden", r"refused the request \(403\)"),
        ("429 Too Many Requests", r"no requests left \(429\)"),
        ("432 Plan", r"no requests left \(432\)"),
        ("500 Internal Server Error", r"is down \(500\)"),
        ("502 Bad Gateway", r"is down \(502\)"),
        ("302 Found", r"status 302"),
    ],
)
@pytest.mark.parametrize("html", [True, False])
async def test_an_error_status_is_a_sentence_without_the_key(site: Any, status: str, why: str, html: bool) -> None:
    answer = site.http if html else site.json
    site.routes["/search"] = answer("<h1>no</h1>" if html else {"detail": {"error": "no"}}, status=status)
    with pytest.raises(WebError, match=why) as caught:
        await tavily(site).search("x", 3)
    assert caught.value.remedy and "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "body", ["<html>Welcome to the airport network</html>", "", "{", "[]", "3", '{"results": null}']
)
async def test_something_else_than_results_is_a_sentence(site: Any, body: str) -> None:
    site.routes["/search"] = site.http(body)
    with pytest.raises(WebError, match=r"something else than JSON|without a list"):
        await tavily(site).search("x", 3)


async def test_a_silent_or_missing_server_is_a_sentence(site: Any) -> None:
    async def silent(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    site.routes["/search"] = silent
    with pytest.raises(WebError, match=r"did not answer within 0\.2 s"):
        await tavily(site, timeout=0.2).search("x", 3)
    await site.stop()
    with pytest.raises(WebError, match="could not be reached"):
        await tavily(site).search("x", 3)
