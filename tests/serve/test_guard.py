"""The door: host, origin, key, rate and size."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ragweave.serve.app import create_app
from ragweave.serve.keys import Keys
from ragweave.serve.process import WordsFormatter
from ragweave.serve.settings import ServeSettings
from ragweave.tests.support.serving import bearer, clock_stands, direct_client, in_process

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
