"""MCP with the official client, over HTTP and standard input."""

from __future__ import annotations

import base64
import os
import sys
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import httpx2
import pytest
from fastapi import FastAPI
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from ragweave.corpora.store.library import open_library
from ragweave.tests.support.serving import bearer, on_loopback

QUESTION = {"question": "When was the lamp of the lighthouse first lit?"}


def structured(result: Any) -> Any:
    assert not result.is_error, result
    found = result.structured_content
    return found["result"] if set(found) == {"result"} else found


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("search", {"query": ""}, "empty"),
    ("search", {"query": "x", "limit": 99}, "less than or equal to 50"),
    ("open_citation", {"id": "../../etc/passwd"}, "no such item"),
    ("search", {"query": "x", "sources": []}, "leave it out to search all"),
    ("list_sources", {"library": "\u202eevil"}, "invisible"),
]


async def test_an_assistant_asks_searches_lists_and_opens(notes: Path, app: FastAPI) -> None:
    async with on_loopback(app) as address, Client(f"{address}/mcp") as tools:

        async def call(name: str, **given: Any) -> Any:
            return structured(await tools.call_tool(name, given))

        offered = {tool.name: tool for tool in (await tools.list_tools()).tools}
        assert set(offered) == {"ask", "search", "list_libraries", "list_sources", "open_citation"}
        assert all(
            tool.annotations is not None and tool.annotations.read_only_hint for tool in offered.values()
        )
        progress = AsyncMock()
        answer = structured(await tools.call_tool("ask", QUESTION, progress_callback=progress))
        cited, quote = answer["citations"][0], answer["quotes"][0]
        assert (
            answer["found"]
            and answer["kind"] == "quotes"
            and "Searched" in [call.args[2] for call in progress.await_args_list]
        )
        assert "The lamp of the lighthouse was first lit on 3 October 1874." in quote["text"]
        assert cited["place"] == "lighthouse.md, The lighthouse › History"
        assert all(quote[k] == cited[k] for k in ("n", "title", "place", "uri"))
        assert "1874" in (await call("open_citation", id=cited["id"]))["text"]
        assert await call("list_libraries") == ["default", "tea room"]
        held = {s["name"]: s for s in await call("list_sources")}
        assert [s["name"] for s in await call("list_sources", library="tea room")] == ["tea.md"]
        found = await call(
            "search", query="lamp of the lighthouse", limit=1, sources=[held["ferry.md"]["id"]]
        )
        assert len(found) == 1 and "four times" in found[0]["text"]
        assert "1874" not in (await call("ask", **QUESTION, sources=[held["ferry.md"]["id"]]))["text"]
        assert "1874" in (await call("ask", **QUESTION, effort="high"))["text"]
        templates = {t.uri_template for t in (await tools.list_resource_templates()).resource_templates}
        assert templates == {"ragweave://{library}/items/{id}", "ragweave://{library}/sources/{id}"}
        for uri in (cited["uri"], held["lighthouse.md"]["uri"]):
            (read,) = (await tools.read_resource(uri)).contents
            assert "3 October 1874" in read.text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="no such item"):
            await tools.read_resource("ragweave://default/items/nothing")
        for name, arguments, says in WRONG:
            result = await tools.call_tool(name, arguments)
            assert result.is_error and says in str(result.content), name


KILN = "# The kiln\n\nThe kiln of Rook was fired in 1911 by Rosa.\n"
BASE64 = base64.b64encode(KILN.encode()).decode()
FILES: dict[str, dict[str, Any]] = {
    "text": {"name": "kiln.md", "text": KILN},
    "Base64": {"name": "kiln.md", "base64": BASE64},
    "an embedded resource with text": {
        "type": "resource",
        "resource": {"uri": "file:///home/anna/kiln.md", "mimeType": "text/markdown", "text": KILN},
    },
    "an embedded resource with a blob": {"resource": {"uri": "notes://rook/kiln.md", "blob": BASE64}},
}


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
async def test_a_file_comes_with_a_question_and_is_searched_for_it_alone(
    notes: Path, app: FastAPI, file: dict[str, Any]
) -> None:
    who = {"question": "Who fired the kiln of Rook?"}
    async with on_loopback(app) as address, Client(f"{address}/mcp") as tools:
        answer = structured(await tools.call_tool("ask", {**who, "files": [file]}))
        assert "fired in 1911 by Rosa" in answer["text"].replace("**", "")
        assert answer["citations"][0]["place"] == "kiln.md, The kiln"
        assert "1911" not in structured(await tools.call_tool("ask", who))["text"]


UNREAD: dict[str, tuple[dict[str, Any], str]] = {
    "no content": ({"name": "kiln.md"}, "a file whose content was not sent"),
    "an unknown id": ({"file_id": "file-1"}, "no file 'file-1' is kept here"),
    "an address": ({"resource": {"uri": "https://files.example/kiln.md"}}, "does not read the web"),
    "no address": ({"resource": {"uri": "http://[x/kiln.md"}}, "a file"),
    "no Base64": ({"name": "kiln.md", "base64": "!"}, "empty or not Base64"),
    "no text in it": ({"name": "kiln.bin", "base64": "AAAA"}, "was not read"),
}


@pytest.mark.parametrize(("file", "note"), UNREAD.values(), ids=UNREAD)
async def test_a_file_that_cannot_be_read_gets_a_note(
    notes: Path, app: FastAPI, file: dict[str, Any], note: str
) -> None:
    async with on_loopback(app) as address, Client(f"{address}/mcp") as tools:
        answer = structured(await tools.call_tool("ask", {**QUESTION, "files": [file]}))
        assert "1874" in answer["text"] and note in " ".join(answer["notes"])
        many = [{"name": f"{n}.md", "text": f"Note {n}."} for n in range(9)]
        answer = structured(await tools.call_tool("ask", {**QUESTION, "files": many}))
        assert "Only the last 8 of 9 files" in " ".join(answer["notes"])


async def test_a_file_of_another_key_is_unknown(notes: Path, app: FastAPI) -> None:
    library = (await open_library("default")).id
    secrets = [app.state.keys.create(name, (library,))[1] for name in ("Anna", "Ben")]
    async with on_loopback(app) as address:
        kept = ""
        for secret, known in zip(secrets, (True, False), strict=True):
            async with (
                httpx2.AsyncClient(headers=bearer(secret)) as http,
                Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
            ):
                if not kept:
                    sent = {"file": ("kiln.md", KILN.encode())}
                    kept = (await http.post(f"{address}/v1/files", files=sent)).json()["id"]
                given = {"question": "Who fired the kiln of Rook?", "files": [{"file_id": kept}]}
                answer = structured(await client.call_tool("ask", given))
                assert ("1911" in answer["text"]) == known


async def test_a_key_opens_its_libraries_and_no_other(notes: Path, app: FastAPI) -> None:
    _, secret = app.state.keys.create("assistant", ((await open_library("tea room")).id,))
    async with on_loopback(app) as address:
        with pytest.raises((MCPError, ExceptionGroup)):
            async with Client(f"{address}/mcp") as client:
                await client.list_tools()
        async with (
            httpx2.AsyncClient(headers=bearer(secret)) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
        ):
            assert structured(await client.call_tool("list_libraries", {})) == ["tea room"]
            with pytest.raises(MCPError, match="no library named"):
                await client.read_resource("ragweave://default/sources/x")


async def test_the_command_speaks_over_standard_input_and_output(notes: Path, home: Path) -> None:
    args, env = (
        ["-m", "ragweave.app.cli", "mcp", "--library", "default"],
        {**os.environ, "RAGWEAVE_HOME": str(home)},
    )
    command = StdioServerParameters(command=sys.executable, args=args, env=env)
    async with Client(command) as client:
        assert "1874" in structured(await client.call_tool("ask", QUESTION))["text"]
        assert structured(await client.call_tool("list_libraries", {})) == ["default"]
