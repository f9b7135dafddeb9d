"""Files as they are: inert in a browser, in ranges, held by a client, and no way out of the store."""

from __future__ import annotations

import asyncio
import base64
import io
import os
import sqlite3
import subprocess
import tempfile
import zlib
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image, ImageDraw, ImageFont

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.stores import stores
from ragweave.corpora.video.ffmpeg import binary
from ragweave.corpora.video.streams import examine
from ragweave.models.chat import override
from ragweave.serve.pictures import bytes_of
from ragweave.serve.routes_page import CSP
from ragweave.tests.serve.test_routes_ask import COUNCIL
from ragweave.tests.serve.test_uploads import upload
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.serving import ask_over_http

PAGE = b"<script>alert(1)</script><p>The mill was built in 1702.</p>"
DRAWING = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><text>The mill</text></svg>'
VAIN = (
    "bytes=9-2",
    "items=0-1",
    "bytes=",
    "bytes",
    "bytes=-",
    "bytes=x-y",
    "bytes=0-1,9-2",
    f"bytes={'9' * 5000}-",
)


async def _media(client: httpx.AsyncClient) -> dict[str, str]:
    rows = (await client.get("/api/sources?library=default")).json()["sources"]
    return {row["name"]: row["media"] for row in rows}


async def test_what_a_file_would_run_it_does_not_run_in_the_browser(client: httpx.AsyncClient) -> None:
    await upload(client, ("page.html", PAGE), ("drawing.svg", DRAWING))
    await index([COUNCIL], "default")
    media = await _media(client)
    for name, kind, shown in (
        ("page.html", "text/plain; charset=utf-8", "inline"),
        ("drawing.svg", "text/plain; charset=utf-8", "inline"),
        ("ferry.md", "text/plain; charset=utf-8", "inline"),
        (COUNCIL.name, "application/pdf", "attachment"),
    ):
        sent = await client.get(media[name])
        assert (sent.headers["content-type"], sent.headers["content-disposition"].split(";")[0]) == (
            kind,
            shown,
        ), name
        assert sent.headers["content-security-policy"].startswith("sandbox; default-src 'none'"), name
        assert sent.headers["x-content-type-options"] == "nosniff", name
    page = await client.get(f"{media[COUNCIL.name]}/page/1")
    assert page.headers["content-type"] == "image/png" and "content-disposition" not in page.headers


async def test_a_file_is_sent_in_ranges_and_a_range_that_says_nothing_is_none(
    client: httpx.AsyncClient,
) -> None:
    path = (await _media(client))["ferry.md"]
    whole = (await client.get(path)).content
    for vain in VAIN:
        answer = await client.get(path, headers={"range": vain})
        assert (answer.status_code, answer.content) == (200, whole), vain
    for given, part in (("bytes=2-9", whole[2:10]), ("bytes=-5", whole[-5:]), ("BYTES= 2-2 ", whole[2:3])):
        answer = await client.get(path, headers={"range": given})
        assert (answer.status_code, answer.content) == (206, part), given
    several = await client.get(path, headers={"range": "bytes=0-1, 4-5"})
    assert several.status_code == 206 and "multipart/byteranges" in several.headers["content-type"]
    assert (await client.get(path, headers={"range": "bytes=9999-"})).status_code == 416
    assert (await client.head(path)).headers["content-length"] == str(len(whole))


@pytest.mark.parametrize("path", ["a file", "/", "/sw.js", "/static/js/api.js"])
async def test_what_a_client_holds_is_not_sent_again(client: httpx.AsyncClient, path: str) -> None:
    path = (await _media(client))["ferry.md"] if path == "a file" else path
    whole = await client.get(path)
    etag, lasting = whole.headers["etag"], {"content-security-policy", "cache-control", "etag"}
    for held in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = await client.get(path, headers={"if-none-match": held, "range": "bytes=0-1"})
        assert (again.status_code, again.content) == (304, b""), held
        assert {k: again.headers[k] for k in lasting} == {k: whole.headers[k] for k in lasting}
    for other in ('"other"', "W/"):
        given = {"if-none-match": other, "if-modified-since": "Fri, 01 Jan 2100 00:00:00 GMT"}
        assert (await client.get(path, headers=given)).content == whole.content, other
    if path == "/":
        assert again.headers["x-ragweave-page"] == whole.headers["x-ragweave-page"] and CSP in str(
            again.headers
        )
    if path.startswith("/media"):
        for since, status in (
            (whole.headers["last-modified"], 304),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 200),
            ("", 200),
        ):
            assert (await client.get(path, headers={"if-modified-since": since})).status_code == status, since


async def test_no_address_leads_out_of_the_store(client: httpx.AsyncClient) -> None:
    library = await open_library("default")
    (source, *_) = await library.sources()
    for path in (
        "/media/{lib}/source/..%2f..%2fetc%2fpasswd",
        "/media/{lib}/source/%2e%2e",
        "/media/..%2f..%2fetc/source/passwd",
        "/media/{lib}/picture/../../catalog.sqlite",
        "/media/{lib}/picture/{source}/..%2f..%2fcatalog.sqlite",
        "/media/{lib}/picture/{source}/.hidden",
        "/static/..%2f..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/langserve/agent/playground/..%2f..%2fserver.py",
    ):
        answer = await client.get(path.format(lib=library.id, source=source.id))
        assert answer.status_code in (400, 404), path
        assert "root:" not in answer.text and "SQLite" not in answer.text


async def test_cited_moments_come_as_one_film_to_keep(
    client: httpx.AsyncClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "films" / "film.mp4"
    path.parent.mkdir()
    drawn = [
        "-v",
        "error",
        "-f",
        "lavfi",
        "-i",
        "testsrc=size=160x120:rate=10:duration=4",
        "-pix_fmt",
        "yuv420p",
    ]
    await asyncio.to_thread(subprocess.run, [binary(), *drawn, path], check=True, stdin=subprocess.DEVNULL)
    await index([path.parent], "default")
    row, catalog = stores().catalog.library("default"), stores().catalog
    [clip] = [item for page in catalog.pages(row.id, "clip") for item in page]
    [note, *_] = [item for page in catalog.pages(row.id, "paragraph") for item in page]
    moment = {"id": clip.id, "start": 1, "end": 3}
    (scratch := tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    response = await client.post(
        f"/media/{row.id}/film", json={"moments": [moment, {**moment, "id": note.id}]}
    )
    assert response.status_code == 200 and response.headers["content-type"] == "video/mp4"
    assert response.headers["content-disposition"] == 'attachment; filename="film.mp4"'
    (tmp_path / "got.mp4").write_bytes(response.content)
    assert examine(str(tmp_path / "got.mp4"), "mov").duration == 4.0
    assert os.listdir(scratch) == []

    for moments in ([{**moment, "id": note.id}], [{**moment, "id": "nothing"}]):
        missing = await client.post(f"/media/{row.id}/film", json={"moments": moments})
        assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    path.unlink()
    gone = await client.post(f"/media/{row.id}/film", json={"moments": [moment]})
    assert gone.status_code == 422 and "ilm.mp4 is gone" in gone.text


ASKED = "What do I read here?"


def picture(words: str = "", form: str = "PNG", size: tuple[int, int] = (700, 160)) -> str:
    image = Image.new("RGB", size, "white")
    ImageDraw.Draw(image).text((30, 50), words, "black", font=ImageFont.load_default(44))
    out = io.BytesIO()
    image.save(out, form)
    return f"data:image/{form.lower()};base64,{base64.b64encode(out.getvalue()).decode()}"


def asked(*urls: str, text: str = ASKED) -> Any:
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}]
    return [
        {"role": "user", "content": parts + [{"type": "image_url", "image_url": {"url": u}} for u in urls]}
    ]


SIGN = picture("ferry timetable: sails per day")
"""Read once in this process, in the first test that sends it."""


def encoded(content: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


REFUSED = {
    **dict.fromkeys(
        ("http://127.0.0.1/x.png", "https://example.org/x.png", "file:///etc/passwd"), "not fetched"
    ),
    **dict.fromkeys(("/etc/passwd", "", "data:text/html;base64,PGI+"), "not a data URL"),
    **dict.fromkeys(("data:image/png;base64,", "data:image/png;base64,%%%%"), "damaged or empty"),
    **dict.fromkeys((encoded(b"<svg/>", "svg+xml"), encoded(b"PK\3\4" + bytes(50))), "is none"),
}


def bomb() -> str:
    """Return a small picture whose header states 60,000 by 60,000 pixels."""
    content = bytearray(bytes_of(picture(size=(8, 8))))
    content[16:24] = (60_000).to_bytes(4, "big") * 2
    content[29:33] = zlib.crc32(content[12:29]).to_bytes(4, "big")
    return encoded(content)


async def test_a_chat_app_is_answered_with_a_note_where_a_picture_cannot_be_used(
    client: httpx.AsyncClient,
) -> None:
    async def answered(*urls: str) -> str:
        answer = await client.post("/v1/chat/completions", json={"model": "agent", "messages": asked(*urls)})
        assert answer.status_code == 200, urls
        return str(answer.json()["choices"][0]["message"]["content"])

    for url, why in REFUSED.items():
        text = await answered(url)
        assert "A picture of the question was not used" in text and why in text, url
    assert "a picture after the first 4" in await answered(*[picture()] * 5)
    assert "pixels" in await answered(bomb())


async def test_the_page_is_refused_what_is_no_picture(client: httpx.AsyncClient) -> None:
    for url, why in REFUSED.items():
        refused = await client.post("/api/ask", json={"question": ASKED, "pictures": [url]})
        assert refused.status_code == 400 and why in refused.text, url


async def test_a_vision_model_gets_the_picture_and_names_what_it_shows(client: httpx.AsyncClient) -> None:
    seen: list[Any] = []

    def look(messages: list[Any]) -> str:
        seen.append(messages[-1].content)
        return "How often does the ferry sail?"

    with override(vision=ScriptedChat(react=look)):
        events = await ask_over_http(client, "How often does this sail?", pictures=[SIGN])
    answer = events[-2]["answer"]
    assert "four times" in answer["text"] and answer["question"] == "How often does the ferry sail?"
    assert any("was read as" in note for note in answer["notes"])
    (parts,) = seen
    assert "timetable" in parts[0]["text"] and parts[1]["image_url"]["url"].startswith(
        "data:image/jpeg;base64,"
    )
    assert any(u["node"] == "condense" and u["calls"] == 1 for u in answer["usage"])


async def test_a_conversation_keeps_small_copies_and_its_state_no_pixels(
    client: httpx.AsyncClient, home: Path
) -> None:
    events = await ask_over_http(client, ASKED, pictures=[SIGN])
    thread = events[0]["thread"]
    (turn,) = (await client.get(f"/api/threads/{thread}")).json()["turns"]
    assert turn["pictures"] == 1
    path = f"/api/threads/{thread}/turns/1/pictures"
    copy = await client.get(f"{path}/1")
    assert copy.headers["content-type"] == "image/jpeg" and Image.open(io.BytesIO(copy.content)).size == (
        700,
        160,
    )
    assert (await client.get(f"{path}/2")).status_code == 404
    with sqlite3.connect(home / "conversations.sqlite") as db:
        (size,) = db.execute("SELECT sum(length(checkpoint)) FROM checkpoints").fetchone()
        (held,) = db.execute("SELECT count(*) FROM writes WHERE instr(value, 'JFIF')").fetchone()
    assert size < 600_000 and held == 0
    await client.delete(f"/api/threads/{thread}")
    with sqlite3.connect(home / "serve.sqlite") as db:
        assert db.execute("SELECT count(*) FROM pictures").fetchone() == (0,)
