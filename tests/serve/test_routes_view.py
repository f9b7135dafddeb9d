"""What the side panel asks for: neighbours of a passage; and who may ask."""

from __future__ import annotations

from pathlib import Path

import httpx
from fastapi import FastAPI

from ragweave.corpora.ingest.run import index
from ragweave.serve.access import Keys
from ragweave.tests.support.serving import in_process

COUNCIL = Path(__file__).resolve().parents[2] / "examples" / "library" / "council-2024.pdf"


async def _library(client: httpx.AsyncClient) -> str:
    return str((await client.get("/api/libraries")).json()["libraries"][0]["id"])


async def _source(client: httpx.AsyncClient, name: str) -> str:
    rows = (await client.get("/api/sources", params={"library": "default"})).json()["sources"]
    return next(str(row["media"]) for row in rows if row["name"] == name)


async def _cited(client: httpx.AsyncClient) -> dict[str, object]:
    found = (await client.post("/search", json={"query": "When was the lamp lit?"})).json()["results"][0]
    return dict(found)


async def test_a_passage_comes_with_its_neighbours_in_the_order_of_the_source(client: httpx.AsyncClient) -> None:
    cited = await _cited(client)
    response = await client.get(f"/api/open/{await _library(client)}/{cited['id']}/around")
    around = response.json()["around"]
    assert [row["id"] for row in around if row["here"]] == [cited["id"]]
    assert any("3 October 1874" in row["text"] for row in around)


async def test_neighbours_of_an_unknown_item_are_not_found(client: httpx.AsyncClient) -> None:
    response = await client.get(f"/api/open/{await _library(client)}/nothing/around")
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


async def test_a_key_for_another_library_sees_neither_neighbours_nor_pages(app: FastAPI, notes: Path) -> None:
    from ragweave.corpora.store.library import create_library

    await create_library("other")
    await index([COUNCIL], "default")
    keys: Keys = app.state.keys
    async with in_process(app) as owner:
        cited, pdf, library = await _cited(owner), await _source(owner, COUNCIL.name), await _library(owner)
        rows = (await owner.get("/api/libraries")).json()["libraries"]
        other = next(row["id"] for row in rows if row["name"] == "other")
        _, secret = keys.create("guest", (other,))
        bearer = {"Authorization": f"Bearer {secret}"}
        paths = [
            f"/api/open/{library}/{cited['id']}/around",
            *(f"{pdf}/{p}" for p in ("page/1", "page/1/text", "find?words=a")),
        ]
        for path in paths:
            assert (await owner.get(path, headers=bearer)).status_code == 404, path


async def test_a_source_tells_where_reading_it_begins(client: httpx.AsyncClient) -> None:
    await index([COUNCIL], "default")
    source = (await _source(client, COUNCIL.name)).rsplit("/", 1)[1]
    told = (await client.get(f"/api/sources/{source}", params={"library": "default"})).json()
    assert (told["name"], told["open"]["view"], told["open"]["page"]) == (COUNCIL.name, "page", 1)
    around = f"/api{told['open']['href'].split('?')[0]}/around"
    whole = (await client.get(around, params={"most": 1000})).json()["around"]
    assert whole[0]["here"] and len(whole) > 2
    assert (await client.get(around, params={"most": 1})).json()["around"] == whole[:2]
    assert (await client.get(around, params={"most": 9999})).status_code == 422
    assert (await client.get("/api/sources/nothing", params={"library": "default"})).status_code == 404
