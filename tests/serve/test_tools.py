"""The tools as they are described: the description is read as its readers read it, and each is called by it alone."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from pydantic import TypeAdapter

from ragweave.corpora.store.library import open_library
from ragweave.serve.tools import Answered, FoundPassage
from ragweave.tests.serve.conftest import QUESTION
from ragweave.tests.support.serving import bearer


async def described(client: httpx.AsyncClient, **options: Any) -> dict[str, Any]:
    answer = await client.get("/tools/openapi.json", **options)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_the_description_has_what_its_readers_need(client: httpx.AsyncClient) -> None:
    told = await described(client)
    assert told["openapi"].startswith("3.1") and told["info"]["title"] and told["info"]["description"]
    assert told["servers"] == [{"url": "http://127.0.0.1:8765"}]
    assert told["components"]["securitySchemes"]["key"] == {"type": "http", "scheme": "bearer"}
    operations = {path: only(methods) for path, methods in told["paths"].items()}
    assert {path: (method, o["operationId"]) for path, (method, o) in operations.items()} == {
        "/tools/ask": ("post", "ask_library"),
        "/tools/search": ("post", "search_library"),
    }
    for _, operation in operations.values():
        assert operation["summary"] == operation["description"] and "parameters" not in operation
        sent = only(operation["requestBody"]["content"])[1]["schema"]
        assert "$ref" not in str(sent) and all(p["type"] and p["description"] for p in sent["properties"].values())
        assert len(sent["required"]) == 1
    assert _references(told) <= {f"#/components/schemas/{name}" for name in told["components"]["schemas"]}


def only(found: dict[str, Any]) -> tuple[str, Any]:
    """Return the one entry of a mapping."""
    (entry,) = found.items()
    return entry


def _references(node: Any) -> set[str]:
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    own = {node["$ref"]} if isinstance(node, dict) and "$ref" in node else set()
    return own.union(*map(_references, inner))


async def test_each_is_called_as_it_is_described_and_its_places_open(client: httpx.AsyncClient) -> None:
    told = await described(client)
    calls = {"ask_library": {"question": QUESTION}, "search_library": {"query": "ferry", "limit": 1}}
    given = {}
    for path, methods in told["paths"].items():
        method, operation = only(methods)
        url = told["servers"][0]["url"] + path
        given[operation["operationId"]] = (
            await client.request(method, url, json=calls[operation["operationId"]])
        ).json()
    answer = Answered.model_validate(given["ask_library"])
    assert "1874" in answer.text and answer.found and answer.quotes[0].uri == answer.citations[0].uri
    assert (await client.get(answer.citations[0].uri)).status_code == 303
    (passage,) = TypeAdapter(list[FoundPassage]).validate_python(given["search_library"])
    assert "four times" in passage.text and passage.uri.startswith("http://127.0.0.1:8765/open/")


async def test_they_keep_to_the_library_and_the_sources_that_are_named(client: httpx.AsyncClient) -> None:
    async def ask(**more: Any) -> str:
        return str((await client.post("/tools/ask", json={"question": QUESTION, **more})).json())

    assert "October 1874" not in await ask(library="tea room")
    held = (await client.get("/api/sources?library=default")).json()["sources"]
    ferry = next(s["id"] for s in held if s["name"] == "ferry.md")
    assert "October 1874" not in await ask(sources=[ferry])


@pytest.mark.parametrize(
    ("path", "body"), [("ask", {}), ("ask", {"question": " "}), ("search", {"query": "x", "limit": 51})]
)
async def test_what_cannot_be_used_is_refused_in_words(client: httpx.AsyncClient, path: str, body: Any) -> None:
    answer = await client.post(f"/tools/{path}", json=body)
    assert answer.status_code in (400, 422) and answer.json()["title"]


@pytest.mark.parametrize(("path", "asked"), [("ask", "question"), ("search", "query")])
async def test_sources_that_are_none_do_not_mean_all(client: httpx.AsyncClient, path: str, asked: str) -> None:
    answer = await client.post(f"/tools/{path}", json={asked: QUESTION, "sources": []})
    assert answer.status_code == 422 and "leave it out to search all" in answer.json()["title"]


async def test_where_there_are_keys_the_description_and_the_tools_need_one(
    client: httpx.AsyncClient, app: FastAPI
) -> None:
    _, key = app.state.keys.create("an assistant", ((await open_library("tea room")).id,))
    for answer in (await client.get("/tools/openapi.json"), await client.post("/tools/ask", json={})):
        assert answer.status_code == 401
    assert await described(client, headers=bearer(key))
    answer = await client.post(
        "/tools/ask", json={"question": "At how many degrees is tea brewed?"}, headers=bearer(key)
    )
    assert "ninety" in answer.json()["text"]
