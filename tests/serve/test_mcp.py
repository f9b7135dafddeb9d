"""MCP, used with the official client: in a process of its own over standard input, and over HTTP."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from ragweave.corpora.store.library import open_library
from ragweave.tests.serve.test_pictures import ASKED, SIGN
from ragweave.tests.support.serving import on_loopback

QUESTION = {"question": "When was the lamp of the lighthouse first lit?"}


def structured(result: Any) -> Any:
    assert not result.is_error, result
    found = result.structured_content
    return found["result"] if set(found) == {"result"} else found


@asynccontextmanager
async def tools_of(app: FastAPI) -> AsyncIterator[Client]:
    """A client over HTTP; a fixture would close it in another task than it was opened in."""
    async with on_loopback(app) as address, Client(f"{address}/mcp") as client:
        yield client


async def test_an_assistant_asks_searches_and_opens(notes: Path, app: FastAPI) -> None:
    async with tools_of(app) as tools:
        await _use(tools)


async def _use(tools: Client) -> None:
    offered = {tool.name: tool for tool in (await tools.list_tools()).tools}
    assert set(offered) == {"ask", "search", "list_libraries", "list_sources", "open_citation"}
    assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in offered.values())
    told: list[str | None] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append(message)

    answer = structured(await tools.call_tool("ask", QUESTION, progress_callback=progress))
    assert "1874" in answer["text"] and answer["found"] and "Searched" in told
    cited, quote = answer["citations"][0], answer["quotes"][0]
    assert answer["kind"] == "quotes" and quote["best"] == "The lamp of the lighthouse was first lit on 3 October 1874."
    assert quote["best"] in quote["text"] and {k: quote[k] for k in ("n", "title", "place", "uri")} == {
        k: cited[k] for k in ("n", "title", "place", "uri")
    }
    assert any("No language model read these passages" in note for note in answer["notes"])
    assert cited["place"] == "lighthouse.md, The lighthouse › History"
    opened = structured(await tools.call_tool("open_citation", {"id": cited["id"]}))
    assert "1874" in opened["text"]
    found = structured(await tools.call_tool("search", {"query": "ferry", "limit": 1}))
    assert len(found) == 1 and "four times" in found[0]["text"]
    assert structured(await tools.call_tool("list_libraries", {})) == ["default", "tea room"]
    names = [s["name"] for s in structured(await tools.call_tool("list_sources", {"library": "tea room"}))]
    assert names == ["tea.md"]
    held = {s["name"]: s for s in structured(await tools.call_tool("list_sources", {}))}
    only = {"sources": [held["ferry.md"]["id"]]}
    found = structured(await tools.call_tool("search", {"query": "lamp of the lighthouse", **only}))
    assert {"four times" in f["text"] for f in found} == {True}
    answer = structured(await tools.call_tool("ask", {**QUESTION, **only}))
    assert "1874" not in answer["text"]
    seen = structured(await tools.call_tool("ask", {"question": ASKED, "pictures": [SIGN]}))
    assert "four times" in seen["text"]
    await _read(tools, cited["uri"], held["lighthouse.md"]["uri"])


async def _read(tools: Client, passage: str, source: str) -> None:
    offered = {t.uri_template for t in (await tools.list_resource_templates()).resource_templates}
    assert offered == {"ragweave://{library}/items/{id}", "ragweave://{library}/sources/{id}"}
    for uri in (passage, source):
        (read,) = (await tools.read_resource(uri)).contents
        assert "3 October 1874" in read.text  # type: ignore[union-attr]
    with pytest.raises(MCPError, match="no such item"):
        await tools.read_resource("ragweave://default/items/nothing")


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("ask", {"question": "?!"}, "question is empty"),
    ("ask", {"question": "why " * 4_000}, "8,000 are allowed"),
    ("ask", {"question": "When?", "library": "nothing"}, "no library named"),
    ("search", {"query": ""}, "empty"),
    ("search", {"query": "x", "limit": 99}, "less than or equal to 50"),
    ("open_citation", {"id": "../../etc/passwd"}, "no such item"),
    ("ask", {"question": "What is it?", "pictures": ["http://x/y.png"]}, "not fetched from an address"),
    ("search", {"query": "x", "sources": []}, "leave it out to search all"),
    ("list_sources", {"library": "\u202eevil"}, "invisible"),
]


async def test_what_cannot_be_done_is_said_in_words(notes: Path, app: FastAPI) -> None:
    async with tools_of(app) as tools:
        for tool, arguments, says in WRONG:
            result = await tools.call_tool(tool, arguments)
            assert result.is_error and says in str(result.content)


async def test_a_key_opens_its_libraries_and_no_other(notes: Path, app: FastAPI) -> None:
    tea = await open_library("tea room")
    _, secret = app.state.keys.create("assistant", (tea.id,))
    async with on_loopback(app) as address:
        with pytest.raises((MCPError, ExceptionGroup)):
            async with Client(f"{address}/mcp") as client:
                await client.list_tools()
        async with httpx2.AsyncClient(headers={"authorization": f"Bearer {secret}"}) as http:
            async with Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client:
                assert structured(await client.call_tool("list_libraries", {})) == ["tea room"]
                answer = structured(await client.call_tool("ask", {"question": "At how many degrees is tea brewed?"}))
                assert "ninety" in answer["text"]
                foreign = await client.call_tool("ask", {**QUESTION, "library": "default"})
                assert foreign.is_error and "1874" not in str(foreign)
                with pytest.raises(MCPError, match="no library named"):
                    await client.read_resource("ragweave://default/sources/x")


async def test_the_command_speaks_over_standard_input_and_output(notes: Path, home: Path) -> None:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ragweave.app.cli", "mcp", "--library", "default"],
        env={**os.environ, "RAGWEAVE_HOME": str(home)},
    )
    async with Client(command) as client:
        answer = structured(await client.call_tool("ask", QUESTION))
        assert "1874" in answer["text"]
        assert structured(await client.call_tool("list_libraries", {})) == ["default"]
