"""The door: host, origin, key, rate and size."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.responses import StreamingResponse

from ragweave.models.errors import StorageError
from ragweave.serve import guard
from ragweave.serve.app import create_app
from ragweave.serve.database import Database
from ragweave.serve.keys import Keys
from ragweave.serve.process import WordsFormatter
from ragweave.serve.settings import ServeSettings
from ragweave.tests.support.serving import bearer, clock_stands, direct_client, in_process, on_loopback

JSON = {"content-type": "application/json"}
FOREIGN: tuple[dict[str, str], ...] = (
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:9999"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
)


async def test_an_address_or_an_own_name_is_served_and_no_other(client: httpx.AsyncClient) -> None:
    for host in ("127.0.0.1:8765", "localhost", "[::1]:8765", "192.168.1.7:8765", "LOCALHOST:1"):
        assert (await client.get("/api/libraries", headers={"host": host})).status_code == 200, host
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8765", "", "[::1", "a@b"):
        answer = await client.get("/api/libraries", headers={"host": host})
        assert answer.status_code == 421 and "library" not in answer.text, host
    app = create_app(ServeSettings(names="ragweave.example, other.example"), exposed=True)
    async with in_process(app) as exposed:
        headers = {"host": "other.example"}
        assert (await exposed.get("/healthz", headers=headers)).status_code == 200
        assert (await exposed.get("/api/libraries", headers=headers)).status_code == 401


async def test_a_page_of_another_origin_does_and_reads_nothing_and_may_link(
    client: httpx.AsyncClient,
) -> None:
    for headers in FOREIGN:
        answer = await client.post("/api/threads", json={}, headers=headers)
        assert answer.status_code == 403 and "access-control-allow-origin" not in answer.headers, headers
    foreign = {"origin": "http://evil.example", "sec-fetch-site": "cross-site"}
    assert (await client.get("/api/libraries", headers=foreign)).status_code == 403
    asked = {**foreign, "access-control-request-method": "POST"}
    assert (await client.options("/api/threads", headers=asked)).status_code in (403, 405)
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert (await client.get("/open/a/b", headers=followed)).status_code == 303
    for path in ("/open/a%0d%0aX:1/b", "/open/a%5cb/c"):
        assert (await client.get(path)).status_code == 404, path
    own = {"origin": "http://127.0.0.1:8765", "sec-fetch-site": "same-origin"}
    assert (await client.get("/api/threads")).json() == {"threads": []}
    assert (await client.post("/api/threads", json={}, headers=own)).status_code == 201


async def test_a_body_that_is_no_json_or_beyond_the_limit_is_refused(client: httpx.AsyncClient) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = await client.post("/api/threads", content=b"{}", headers={"content-type": kind})
        assert answer.status_code == 415 and answer.headers["content-type"] == "application/problem+json", (
            kind
        )
    answer = await client.post("/api/threads", content=b"\0\0\0\0\0", headers=JSON)
    assert answer.status_code == 400 and "UTF-8" in answer.json()["remedy"]

    async def parts() -> Any:
        for _ in range(10):
            yield b" " * (1 << 20)

    for content in (parts(), b" " * (10 << 20)):
        answer = await client.post("/api/ask", content=content, headers=JSON)
        assert answer.status_code == 413 and answer.json()["remedy"]
    assert (await client.post("/api/ask", json={"question": "When was the lamp lit?"})).status_code == 202


async def test_every_answer_has_the_security_headers(client: httpx.AsyncClient) -> None:
    for path in ("/", "/api/libraries", "/healthz", "/nothing", "/v1/models", "/static/nothing.js"):
        headers = (await client.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
        assert "'unsafe-inline'" not in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"] and headers["x-request-id"]


async def test_an_error_that_nobody_foresaw_is_answered_with_the_security_headers_too(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("hunter2")

    monkeypatch.setattr(logging.getLogger("ragweave.serve"), "propagate", True)
    for place, name in (("routes_ask", "library_for"), ("guard", "key_of")):  # behind the door, and in it
        monkeypatch.setattr(f"ragweave.serve.{place}.{name}", broken)
        answer = await client.post("/api/ask", json={"question": "When was the lamp lit?"})
        assert answer.status_code == 500 and "hunter2" not in answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-request-id"] == answer.json()["request"]
    assert [r.exc_info is not None for r in caplog.records if r.levelno >= logging.ERROR] == [True, True]


def written(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_the_door_locks_with_the_first_key_and_stays_locked(
    app: FastAPI, client: httpx.AsyncClient, home: Path
) -> None:
    keys: Keys = app.state.keys
    assert (await client.get("/api/libraries")).status_code == 200
    key, secret = keys.create("chat", None)
    assert len(secret) >= 46 and secret.startswith("rw_") and key.id not in secret
    held = written(home)
    assert secret.encode() not in held and b"chat" in held
    assert (await client.get("/api/libraries", headers=bearer(secret))).status_code == 200
    async with direct_client(app) as other:
        assert (await other.get("/api/threads")).status_code == 401
    keys.revoke(key.id)
    for headers in ({}, bearer(secret), bearer("rw_wrong"), bearer(""), {"authorization": "Basic eA=="}):
        answer = await client.get("/api/libraries", headers=headers)
        assert answer.status_code == 401 and answer.headers["www-authenticate"] == "Bearer"
        assert (
            answer.json()["detail"].endswith("as: Authorization: Bearer KEY.") and secret not in answer.text
        )
    for path in ("/", "/healthz", "/readyz", "/static/nothing.js"):
        assert (await client.get(path)).status_code != 401
        assert (await client.head(path)).status_code != 401
    told = await client.get("/v1/models", headers=bearer("rw_wrong"))
    assert told.status_code == 401 and told.json()["error"]["code"] == "invalid_api_key"


async def test_the_page_logs_in_with_a_cookie_that_no_script_reads(
    app: FastAPI, client: httpx.AsyncClient
) -> None:
    _, secret = app.state.keys.create("page", None)
    assert (await client.post("/api/login", json={"key": "rw_wrong"})).status_code == 401
    answer = await client.post("/api/login", json={"key": secret})
    cookie = answer.headers["set-cookie"].lower()
    assert answer.status_code == 204 and "httponly" in cookie and "samesite=lax" in cookie
    assert secret not in answer.headers["set-cookie"]
    assert (await client.get("/api/me")).json()["name"] == "page"
    foreign = {"origin": "http://evil.example"}
    assert (await client.post("/api/threads", json={}, headers=foreign)).status_code == 403


async def test_a_key_stands_in_no_log_and_no_error(
    app: FastAPI, client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A command that ran before in this process may have set the log up as commands do.
    monkeypatch.setattr(logging.getLogger("ragweave.serve"), "propagate", True)
    _, secret = app.state.keys.create("chat", None)
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, logger="ragweave.serve"):
        told = [
            await client.get("/api/libraries", headers=bearer(secret)),
            await client.get(f"/api/sources/{secret}?library=x", headers=bearer(secret)),
            await client.post("/api/login", json={"key": secret, "more": 1}, headers=bearer(secret)),
            await client.post("/api/ask", content=b"{", headers={**JSON, **bearer(secret)}),
        ]
    lines = [WordsFormatter().format(r) for r in caplog.records if r.name.startswith("ragweave")]
    assert any("request=" in line for line in lines)
    assert not any(secret in line for line in lines if "/api/sources/" not in line)
    assert not any(secret in answer.text for answer in told)


async def test_who_asks_too_often_is_told_when_to_come_back(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock_stands(monkeypatch)
    async with in_process(create_app(ServeSettings(per_minute=3))) as client:
        answers = [await client.post("/api/threads", json={}) for _ in range(4)]
        assert [a.status_code for a in answers] == [201, 201, 201, 429]
        assert int(answers[-1].headers["retry-after"]) >= 1
        assert (await client.get("/api/threads")).status_code == 200


async def test_a_clock_that_is_set_back_keeps_nobody_out(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    today = time.time()
    async with in_process(create_app(ServeSettings(per_minute=3))) as client:
        for hours in (24, 0):
            now = today + hours * 3600
            monkeypatch.setattr(guard.time, "time", lambda now=now: now)
            answers = [await client.post("/api/threads", json={}) for _ in range(4)]
            assert [a.status_code for a in answers] == [201, 201, 201, 429], hours


async def test_a_caller_with_a_key_goes_on_reading_while_the_disk_is_full(
    app: FastAPI, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = bearer(app.state.keys.create("me", None)[1])

    def full(database: Database) -> None:
        raise StorageError("The catalog cannot be used (database or disk is full)", "free some disk")

    monkeypatch.setattr(Database, "writing", full)
    found = await client.post("/search", json={"query": "lamp"}, headers=key)
    assert found.status_code == 200 and found.json()["results"]
    assert (await client.get("/api/threads", headers=key)).status_code == 200
    refused = await client.post("/api/ask", json={"question": "When?"}, headers=key)
    assert refused.status_code == 507 and "disk is full" in refused.json()["title"]


HEAD = (
    b"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length:"
    b" 4000\r\n\r\n"
)
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits of a fraction of a second."""
    monkeypatch.setattr(guard, "_UNREAD", 0.5)
    monkeypatch.setattr(guard, "_STALL", 0.5)


async def talk(address: str, first: bytes, then: bytes = b"") -> bytes:
    """Send `first`, then `then` byte by byte, and return what came back until the server hung up."""
    reader, writer = await asyncio.open_connection(*address.removeprefix("http://").split(":"))
    writer.write(first)

    async def dribble() -> None:
        for n in range(len(then)):
            writer.write(then[n : n + 1])
            await asyncio.sleep(0.1)

    dribbling, told = asyncio.create_task(dribble()), b""
    try:
        # Whoever still sends when the server hangs up may see the connection reset.
        async with asyncio.timeout(20):
            with contextlib.suppress(ConnectionResetError):
                while part := await reader.read(1 << 16):
                    told += part
        return told
    finally:
        dribbling.cancel()
        writer.close()


async def test_a_head_that_does_not_arrive_holds_nobody_up(app: FastAPI) -> None:
    async with on_loopback(app) as address:
        slow = [
            asyncio.create_task(talk(address, b"GET / HTTP/1.1\r\n", b"X-Slow: " + b"a" * 500))
            for _ in range(20)
        ]
        async with httpx.AsyncClient(base_url=address) as client:
            assert (await client.get("/healthz")).status_code == 200
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)


@pytest.mark.parametrize("then", [b"", b"x" * 200], ids=["stalled", "letter by letter"])
async def test_a_body_that_does_not_arrive_is_given_up_with_a_problem(
    hasty: None, app: FastAPI, then: bytes
) -> None:
    async with on_loopback(app) as address:
        head, _, body = (await talk(address, HEAD + b'{"question": "', then)).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 408")
        assert "did not arrive" in json.loads(body)["title"]


async def test_who_does_not_read_an_answer_is_hung_up_on_and_the_work_for_it_ends(
    hasty: None, app: FastAPI, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = asyncio.Event()

    async def long() -> AsyncIterator[bytes]:
        try:
            while True:
                yield bytes(1 << 16)
                await asyncio.sleep(0)
        finally:
            ended.set()

    app.add_api_route("/endless", lambda: StreamingResponse(long()))
    # A server that an earlier test started in this process keeps its log to itself.
    monkeypatch.setattr(logging.getLogger("ragweave.serve"), "propagate", True)
    caplog.set_level(logging.INFO, "ragweave.serve")
    async with on_loopback(app) as address:
        host, port = address.removeprefix("http://").split(":")
        _, writer = await asyncio.open_connection(host, port)
        writer.write(WHOLE.replace(b"/healthz", b"/endless"))
        await asyncio.wait_for(ended.wait(), 20)
        writer.close()
    assert "GET /endless 200" in caplog.text and "Traceback" not in caplog.text
    assert "graceful shutdown exceeded" not in caplog.text
