"""What `langgraph dev` serves beside the graphs: sources behind the guard, read only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ragweave.corpora.store.library import open_library
from ragweave.serve import studio
from ragweave.serve.access import Keys
from ragweave.serve.store import Store

BASE = "http://127.0.0.1:2024"


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Every test has a home of its own."""
    studio._guarded.cache_clear()
    yield
    studio._guarded.cache_clear()


def browser(address: str = "127.0.0.1", **headers: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(studio.app, client=(address, 50_000))
    return httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers)


async def test_its_routes_only_read(notes: Path) -> None:
    async with browser() as client:
        assert (await client.get("/ragweave/healthz")).json() == {"status": "ok"}
        names = {row["name"] for row in (await client.get("/ragweave/api/libraries")).json()["libraries"]}
        assert names == {"default", "tea room"}
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            answer = await client.request(method, "/ragweave/api/libraries")
            assert answer.status_code == 405 and answer.json()["remedy"]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://smith.langchain.com"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    ],
)
async def test_pages_of_other_origins_read_nothing_and_may_follow_links(notes: Path, headers: dict[str, str]) -> None:
    async with browser(**headers) as client:
        assert (await client.get("/ragweave/api/sources?library=default")).status_code == 403
    async with browser(**{"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}) as client:
        assert (await client.get("/ragweave/api/sources?library=default")).status_code == 200


async def test_a_key_is_needed_from_other_machines_and_opens_its_libraries_alone(notes: Path, home: Path) -> None:
    async with browser("192.0.2.7") as client:
        assert (await client.get("/ragweave/api/libraries")).status_code == 401
    async with browser() as client:
        (row,) = [
            r for r in (await client.get("/ragweave/api/libraries")).json()["libraries"] if r["name"] == "default"
        ]
        (source, *_) = (await client.get("/ragweave/api/sources?library=default")).json()["sources"]
    tea = (await open_library("tea room")).id
    _, secret = Keys(Store(home / "serve.sqlite")).create("tea", (tea,))
    async with browser() as client:
        assert (await client.get("/ragweave/api/libraries")).status_code == 401
    async with browser("192.0.2.7", authorization=f"Bearer {secret}") as client:
        assert "default" not in (await client.get("/ragweave/api/libraries")).json()["libraries"][0]["name"]
        for path in (
            "api/sources?library=default",
            f"api/items/{source['id']}?library=default",
            f"api/open/{row['id']}/{source['id']}",
            f"open/default/{source['id']}",
            f"media/{row['id']}/source/{source['id']}",
            f"media/{row['id']}/picture/{source['id']}/p.jpg",
            f"media/{row['id']}/source/{source['id']}/page/1",
            f"api/open/{row['id']}/{source['id']}/around",
        ):
            answer = await client.get(f"/ragweave/{path}")
            assert answer.status_code == 404 and "lighthouse" not in answer.text, path
