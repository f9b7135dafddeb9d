"""What `langgraph dev` serves beside the graphs: sources behind the guard, read only."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from ragweave.corpora.store.library import open_library
from ragweave.serve import studio
from ragweave.serve.keys import Keys
from ragweave.serve.store import Store

BASE = "http://127.0.0.1:2024"


@pytest.fixture(autouse=True)
def fresh(request: pytest.FixtureRequest) -> None:
    """Every test has a home of its own."""
    studio._guarded.cache_clear()
    request.addfinalizer(studio._guarded.cache_clear)


def browser(address: str = "127.0.0.1", **headers: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(studio.app, client=(address, 50_000))
    return httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers)


async def test_its_routes_only_read(notes: Path) -> None:
    async with browser() as client:
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            answer = await client.request(method, "/ragweave/api/libraries")
            assert answer.status_code == 405 and answer.json()["remedy"]


async def test_pages_of_other_origins_read_nothing_and_may_follow_links(notes: Path) -> None:
    foreign = [{"sec-fetch-site": "cross-site", "sec-fetch-mode": mode} for mode in ("cors", "no-cors")]
    for headers in (*foreign, {"origin": "https://smith.langchain.com"}, {"origin": "null"}):
        async with browser(**headers) as client:
            assert (await client.get("/ragweave/api/sources?library=default")).status_code == 403, headers
    async with browser(**{"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}) as client:
        assert (await client.get("/ragweave/api/sources?library=default")).status_code == 200


async def test_a_key_is_needed_from_other_machines_and_opens_its_libraries_alone(
    notes: Path, home: Path
) -> None:
    async with browser("192.0.2.7") as client:
        assert (await client.get("/ragweave/api/libraries")).status_code == 401
    async with browser() as client:
        rows = (await client.get("/ragweave/api/libraries")).json()["libraries"]
        id = next(row["id"] for row in rows if row["name"] == "default")
        (source, *_) = (await client.get("/ragweave/api/sources?library=default")).json()["sources"]
    tea = (await open_library("tea room")).id
    _, secret = Keys(Store(home / "serve.sqlite")).create("tea", (tea,))
    async with browser() as client:
        assert (await client.get("/ragweave/api/libraries")).status_code == 401
    async with browser("192.0.2.7", authorization=f"Bearer {secret}") as client:
        assert "default" not in (await client.get("/ragweave/api/libraries")).json()["libraries"][0]["name"]
        for path in (
            "api/sources?library=default",
            f"api/open/{id}/{source['id']}",
            f"open/default/{source['id']}",
            f"media/{id}/source/{source['id']}",
            f"media/{id}/picture/{source['id']}/p.jpg",
            f"media/{id}/source/{source['id']}/page/1",
            f"api/open/{id}/{source['id']}/around",
        ):
            answer = await client.get(f"/ragweave/{path}")
            assert answer.status_code == 404 and "lighthouse" not in answer.text, path
