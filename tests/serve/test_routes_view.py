"""What the side panel asks for: neighbours of a passage, and pages of a PDF as pictures."""

from __future__ import annotations

import io
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from ragweave.corpora.ingest.run import index
from ragweave.serve.access import Keys
from ragweave.serve.draw import draw
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


@pytest.fixture
async def pdf(client: httpx.AsyncClient) -> str:
    """Address of an indexed PDF of two pages."""
    await index([COUNCIL], "default")
    return await _source(client, COUNCIL.name)


async def test_a_passage_comes_with_its_neighbours_in_the_order_of_the_source(client: httpx.AsyncClient) -> None:
    cited = await _cited(client)
    response = await client.get(f"/api/open/{await _library(client)}/{cited['id']}/around")
    around = response.json()["around"]
    assert [row["id"] for row in around if row["here"]] == [cited["id"]]
    assert any("3 October 1874" in row["text"] for row in around)


async def test_neighbours_of_an_unknown_item_are_not_found(client: httpx.AsyncClient) -> None:
    response = await client.get(f"/api/open/{await _library(client)}/nothing/around")
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


async def test_a_page_is_a_picture_of_the_asked_width_with_its_box_in_shares(
    client: httpx.AsyncClient, pdf: str
) -> None:
    from PIL import Image

    response = await client.get(f"{pdf}/page/1", params={"width": 400, "box": "72,600,300,700"})
    assert (response.status_code, response.headers["content-type"]) == (200, "image/png")
    assert response.headers["x-page-count"] == "2"
    left, top, width, height = map(float, response.headers["x-page-box"].split(","))
    with Image.open(io.BytesIO(response.content)) as picture:
        assert picture.width == pytest.approx(400, abs=1)
    across, up = 595, 842
    assert (left, width) == pytest.approx((72 / across, 228 / across), abs=0.01)
    assert (top, height) == pytest.approx((1 - 700 / up, 100 / up), abs=0.01)


async def test_what_cannot_be_drawn_gets_a_sentence(client: httpx.AsyncClient, pdf: str) -> None:
    for asked, status, words in (
        ("3", 422, "it has 2 pages"),
        ("0", 422, "it has 2 pages"),
        ("1?box=1,2,3", 400, "four numbers"),
        ("1?box=1,2,3,nan", 400, "four numbers"),
        ("1?width=99999", 422, "less than or equal"),
        ("one", 422, "integer"),
    ):
        response = await client.get(f"{pdf}/page/{asked}")
        assert response.status_code == status, asked
        assert words in response.json()["detail"]


async def test_only_a_pdf_has_pages(client: httpx.AsyncClient) -> None:
    media = await _source(client, "ferry.md")
    assert (await client.get(f"{media}/page/1")).status_code == 404


async def test_a_file_that_is_damaged_after_indexing_does_not_end_the_server(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    copy = tmp_path / "minutes.pdf"
    copy.write_bytes(COUNCIL.read_bytes())
    await index([copy], "default")
    media = await _source(client, "minutes.pdf")
    copy.write_bytes(b"%PDF-1.4\n" + bytes(2000))
    response = await client.get(f"{media}/page/1")
    assert response.status_code == 422
    assert "cannot be drawn" in response.json()["detail"]
    assert str(tmp_path) not in response.text
    assert (await client.get("/healthz")).status_code == 200


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
        for path in (f"/api/open/{library}/{cited['id']}/around", f"{pdf}/page/1"):
            assert (await owner.get(path, headers=bearer)).status_code == 404, path


def test_a_box_on_a_turned_page_turns_with_it(tmp_path: Path) -> None:
    import pypdfium2 as pdfium

    with pdfium.PdfDocument(COUNCIL) as document:
        document[0].set_rotation(90)
        document.save(tmp_path / "turned.pdf")
    told, _ = draw(str(tmp_path / "turned.pdf"), 1, 842, [72, 742, 172, 770])
    left, top, width, height = told["box"]
    # Turned to the right, what stood at the upper left stands at the upper right, and lies on its side.
    assert left > 0.8 and top < 0.2
    assert width * 842 < height * 595
