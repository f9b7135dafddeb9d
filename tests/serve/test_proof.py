"""A proof to send: one file that loads nothing, with what each sentence rests on and the hash of its source."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from pathlib import Path

import httpx
import pytest

from ragweave.corpora.ingest.run import index
from ragweave.serve.draw import cut
from ragweave.tests.support.serving import ask_over_http

COUNCIL = Path(__file__).resolve().parents[2] / "examples" / "library" / "council-2024.pdf"
COST = "What does the new pier of the council cost?"


async def _proof(client: httpx.AsyncClient, question: str, path: str = "") -> str:
    told = await ask_over_http(client, question)
    response = await client.get(f"/api/threads/{told[0]['thread']}/proof{path}")
    assert response.status_code == 200 and "attachment" in response.headers["content-disposition"]
    return response.text


async def test_a_pdf_is_shown_as_the_strip_of_the_page_around_the_marked_words_with_the_hash_of_its_file(
    client: httpx.AsyncClient,
) -> None:
    from PIL import Image

    await index([COUNCIL], "default")
    page = await _proof(client, COST, "?turn=1")
    assert "<mark>The council decided" in page and "page 1" in page and "no language model read it" in page
    assert hashlib.sha256(COUNCIL.read_bytes()).hexdigest() in page
    (picture,) = re.findall(r'src="data:image/jpeg;base64,([^"]+)"', page)[:1]
    with Image.open(io.BytesIO(base64.b64decode(picture))) as strip:
        assert strip.width > 600 and strip.height < 0.5 * strip.width
        colours = strip.convert("RGB").getcolors(10**6) or []
        marked = sum(n for n, (r, g, b) in colours if r > 230 and g > 200 and 90 < b < 150)
    assert 0.005 < marked / (strip.width * strip.height) < 0.3


async def test_as_markdown_it_has_the_same_quotes_dates_and_hashes_and_links_to_the_places(
    client: httpx.AsyncClient,
) -> None:
    await index([COUNCIL], "default")
    page = await _proof(client, COST, "?turn=1&form=markdown")
    assert page.startswith(f"# {COST}\n\nAnswered by Ragweave") and f"\n\n## {COST}\n\nAsked on 20" in page
    assert re.search(r"\nMeetings .* \\\[1\\\] \*\(quoted .*\)\*\n\n> .*\*\*The council decided", page)
    assert re.search(r"\n### \\\[1\\\] .+\n\npage 1\n\n> The council decided", page)
    assert f"- SHA-256: {hashlib.sha256(COUNCIL.read_bytes()).hexdigest()}" in page and "- Document of: 20" in page
    (address, *_) = re.findall(r"^- Opens at: <http://127\.0\.0\.1:8765(/open/\S+)>$", page, re.M)
    assert (await client.get(address)).status_code == 303


async def test_in_markdown_what_documents_say_is_no_markup(client: httpx.AsyncClient, tmp_path: Path) -> None:
    note = tmp_path / "beacon.md"
    note.write_text("# Beacon\n\nThe beacon is `painted` ![red](http://evil.example/x) and <b>large</b>.\n")
    await index([note], "default")
    page = await _proof(client, "Which colour is the beacon painted?\n- # no list", "?form=markdown")
    assert "painted" in page and not re.search(r"(?<!\\)[`]painted|!\[|(?<!\\)<b>|^- #", page, re.M)
    assert (await client.get("/api/notes/proof?library=default&form=word")).status_code == 422


async def test_the_file_loads_nothing_and_what_documents_say_is_text_in_it(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    note = tmp_path / "beacon.md"
    note.write_text('# Beacon <script>x</script>\n\nThe beacon is <img src="http://evil.example/x"> painted red.\n')
    await index([note], "default")
    page = await _proof(client, "Which colour is the beacon <b>painted</b>?")
    assert "default-src 'none'" in page
    assert not re.search(r"<(?:script|iframe|link|b|img)\b", page)
    assert "painted red" in page and "&lt;b&gt;painted" in page
    assert str(tmp_path) not in page


async def test_a_file_that_was_changed_is_not_shown_as_what_was_cited(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    copy = tmp_path / "minutes.pdf"
    copy.write_bytes(COUNCIL.read_bytes())
    await index([copy], "default")
    told = await ask_over_http(client, COST)
    copy.write_bytes(copy.read_bytes() + b"\n% changed")
    page = (await client.get(f"/api/threads/{told[0]['thread']}/proof")).text
    assert "changed since it was indexed" in page and "data:image" not in page and "The council decided" in page


@pytest.mark.parametrize(("path", "status"), [("nothing/proof", 404), ("{thread}/proof?turn=9", 404)])
async def test_what_has_no_answer_cannot_be_saved(client: httpx.AsyncClient, path: str, status: int) -> None:
    thread = (await client.post("/api/threads", json={"library": "default"})).json()["id"]
    assert (await client.get(f"/api/threads/{path.format(thread=thread)}")).status_code == status


def test_a_picture_is_cut_to_what_lies_around_its_box_with_a_frame_and_a_small_one_is_whole(tmp_path: Path) -> None:
    from PIL import Image

    with Image.new("RGB", (4000, 3000), "#eef2f0") as plan:
        plan.save(tmp_path / "plan.png")
    _, near = cut(str(tmp_path / "plan.png"), [400, 1500, 600, 1560])
    with Image.open(io.BytesIO(near)) as shown:
        assert shown.width == 1000 and shown.width / shown.height == pytest.approx(1600 / 1560, abs=0.02)
        colours = shown.convert("RGB").getcolors(10**6) or []
    assert any(150 < r < 200 and 90 < g < 150 and b < 60 for _, (r, g, b) in colours)
    _, whole = cut(str(tmp_path / "plan.png"))
    with Image.open(io.BytesIO(whole)) as shown:
        assert shown.size == (1000, 750)
