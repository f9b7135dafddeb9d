"""Pictures that come with a question: read under limits, part of the question as data, never in the state."""

from __future__ import annotations

import base64
import io
import sqlite3
import zlib
from pathlib import Path
from typing import Any

import httpx
from PIL import Image, ImageDraw, ImageFont

from ragweave.models.chat import override
from ragweave.serve.pictures import bytes_of
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.serving import ask_over_http

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


async def test_what_is_no_picture_or_past_a_limit_is_refused_in_words(client: httpx.AsyncClient) -> None:
    async def refused(*urls: str) -> tuple[int, str]:
        answer = await client.post("/v1/chat/completions", json={"model": "agent", "messages": asked(*urls)})
        return answer.status_code, answer.json()["error"]["message"]

    for url, why in REFUSED.items():
        status, told = await refused(url)
        assert status == 400 and why in told, url
        assert (await client.post("/api/ask", json={"question": ASKED, "pictures": [url]})).status_code == 400
    status, told = await refused(*[picture()] * 5)
    assert status == 400 and "5 were sent" in told
    bomb = bytearray(bytes_of(picture(size=(8, 8))))
    bomb[16:24] = (60_000).to_bytes(4, "big") * 2  # the size that the header of a PNG states
    bomb[29:33] = zlib.crc32(bomb[12:29]).to_bytes(4, "big")
    status, told = await refused(encoded(bomb))
    assert status == 422 and "pixels" in told


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
