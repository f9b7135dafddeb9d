"""A PDF for a reader: a page as a picture, its lines, the lines of a quote, a search; and files that are damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.ingest.run import index
from ragweave.serve import draw
from ragweave.serve.page_lines import Letter, flat, quoted, stretches

COUNCIL = Path(__file__).resolve().parents[2] / "examples" / "library" / "council-2024.pdf"
COST = "The work costs 2.6 million crowns and is paid half by the county and half by the harbour fund."


async def _source(client: httpx.AsyncClient, name: str) -> str:
    rows = (await client.get("/api/sources", params={"library": "default"})).json()["sources"]
    return next(str(row["media"]) for row in rows if row["name"] == name)


@pytest.fixture
async def pdf(client: httpx.AsyncClient) -> str:
    """Address of an indexed PDF of two pages."""
    await index([COUNCIL], "default")
    return await _source(client, COUNCIL.name)


def _overlaps(a: list[float], b: list[float]) -> bool:
    return a[1] < b[1] + b[3] / 2 < a[1] + a[3]


async def test_a_quote_is_marked_where_it_begins_and_ends_and_nowhere_else(
    client: httpx.AsyncClient, pdf: str
) -> None:
    told = (await client.get(f"{pdf}/page/1/text", params={"quote": COST})).json()
    assert told["count"] == 2
    marked = [line["text"] for line in told["lines"] if any(_overlaps(line["box"], m) for m in told["marks"])]
    assert marked == [
        "with a concrete one. The work costs 2.6 million crowns and is paid half by",
        "the county and half by the harbour fund. It begins in May 2025, after the",
    ]
    first, second = told["marks"]
    whole = {line["text"]: line["box"] for line in told["lines"]}
    assert first[0] > whole[marked[0]][0] + 0.05 and second[2] < 0.7 * whole[marked[1]][2]


async def test_what_cannot_be_opened_gets_a_sentence(client: httpx.AsyncClient, pdf: str) -> None:
    for asked, status, words in (
        ("page/3", 422, "it has 2 pages"),
        ("page/0/text", 422, "it has 2 pages"),
        ("page/1/text?box=1,2,3", 400, "four numbers"),
        ("page/1/text?box=1,2,3,nan", 400, "four numbers"),
        ("page/1?width=99999", 422, "less than or equal"),
        ("page/one", 422, "integer"),
        ("find", 422, "missing"),
    ):
        response = await client.get(f"{pdf}/{asked}")
        assert response.status_code == status and words in response.json()["detail"], asked


async def test_a_file_that_is_damaged_after_indexing_does_not_end_the_server(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    copy = tmp_path / "minutes.pdf"
    copy.write_bytes(COUNCIL.read_bytes())
    await index([copy], "default")
    media = await _source(client, "minutes.pdf")
    copy.write_bytes(b"%PDF-1.4\n" + bytes(2000))
    for asked in ("page/1", "page/1/text", "find?words=a"):
        told = await client.get(f"{media}/{asked}")
        assert told.status_code == 422 and "cannot be drawn" in told.text and str(tmp_path) not in told.text
    assert (await client.get("/healthz")).status_code == 200


def test_boxes_on_a_turned_page_turn_with_it(tmp_path: Path) -> None:
    import pypdfium2 as pdfium

    with pdfium.PdfDocument(COUNCIL) as document:
        document[0].set_rotation(90)
        document.save(tmp_path / "turned.pdf")
    told, _ = draw.text(str(tmp_path / "turned.pdf"), 1, quote="Meetings of the Island Council, 2024")
    ((left, top, width, height),) = told["marks"]
    # Turned to the right, what stood at the upper left stands at the upper right, and lies on its side.
    assert left > 0.8 and top < 0.2
    assert width * 842 < height * 595


def _row(text: str) -> list[Letter]:
    return [Letter(c, (n * 5.0, 0.0, n * 5.0 + 5, 10.0) if c.strip() else None) for n, c in enumerate(text)]


@given(st.text(alphabet="ab ﬁÄß-\n", max_size=30), st.data())
def test_every_part_of_a_page_is_found_on_it(text: str, data: Any) -> None:
    start = data.draw(st.integers(0, len(text)))
    part = text[start : data.draw(st.integers(start, len(text)))]
    boxes = quoted(_row(text), part, None)
    assert bool(boxes) == bool(flat(part)[0])
    assert "".join(t for t, _ in stretches(_row(text))).replace(" ", "") == "".join(text.split())


async def test_a_source_tells_where_reading_it_begins_and_a_passage_comes_with_its_neighbours(
    client: httpx.AsyncClient, pdf: str
) -> None:
    source = pdf.rsplit("/", 1)[1]
    told = (await client.get(f"/api/sources/{source}", params={"library": "default"})).json()
    assert (told["name"], told["open"]["view"], told["open"]["page"]) == (COUNCIL.name, "page", 1)
    around = f"/api{told['open']['href'].split('?')[0]}/around"
    whole = (await client.get(around, params={"most": 1000})).json()["around"]
    assert whole[0]["here"] and len(whole) > 2 and not any(row["here"] for row in whole[1:])
    assert (await client.get(around, params={"most": 1})).json()["around"] == whole[:2]
    assert (await client.get(around, params={"most": 9999})).status_code == 422
    assert (await client.get("/api/sources/nothing", params={"library": "default"})).status_code == 404
    assert (await client.get(around.replace(whole[0]["id"], "nothing"))).status_code == 404
