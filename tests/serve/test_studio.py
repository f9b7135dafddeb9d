"""What `langgraph dev` serves beside the graphs: sources behind the guard, read only."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ragweave.corpora.store.library import open_library
from ragweave.serve import studio
from ragweave.serve.keys import Keys
from ragweave.serve.process import Json, WordsFormatter
from ragweave.serve.store import Store
from ragweave.serve.studio_knobs import KnownKnobs, refusal

BASE = "http://127.0.0.1:2024"


@pytest.fixture
def fresh(request: pytest.FixtureRequest) -> None:
    """Every test has a home of its own."""
    studio._guarded.cache_clear()
    request.addfinalizer(studio._guarded.cache_clear)


def browser(address: str = "127.0.0.1", **headers: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(studio.app, client=(address, 50_000))
    return httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers)


@pytest.mark.usefixtures("fresh")
async def test_its_routes_only_read(notes: Path) -> None:
    async with browser() as client:
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            answer = await client.request(method, "/ragweave/api/libraries")
            assert answer.status_code == 405 and answer.json()["remedy"]


@pytest.mark.usefixtures("fresh")
async def test_pages_of_other_origins_read_nothing_and_may_follow_links(notes: Path) -> None:
    foreign = [{"sec-fetch-site": "cross-site", "sec-fetch-mode": mode} for mode in ("cors", "no-cors")]
    for headers in (*foreign, {"origin": "https://smith.langchain.com"}, {"origin": "null"}):
        async with browser(**headers) as client:
            assert (await client.get("/ragweave/api/sources?library=default")).status_code == 403, headers
    async with browser(**{"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}) as client:
        assert (await client.get("/ragweave/api/sources?library=default")).status_code == 200


@pytest.mark.usefixtures("fresh")
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


async def echo(request: Request) -> Response:
    return Response(await request.body())


ROUTES = [Route("/{path:path}", echo, methods=["POST", "PATCH"])]
APP = Starlette(routes=ROUTES, middleware=[Middleware(KnownKnobs)])


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"context": {"top_kk": 1}}, "write top_k"),
        ({"context": {"colour": "red"}}, "there is no such setting"),
        ([{"context": {}}, {"context": {"depht": 1}}], "there is no such setting"),
        ({"config": {"configurable": {"top_kk": 1}}}, "write top_k"),
        ({"context": {"top_k": 1, "library": "x"}, "config": {"configurable": {"thread_id": "1"}}}, ""),
        ({"context": None, "config": []}, ""),
        ("nothing", ""),
    ],
)
async def test_an_unknown_knob_is_refused_and_any_other_request_arrives_whole(sent: Any, words: str) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(APP), base_url="http://x") as client:
        for path in ("/runs/stream", "/threads/1/runs", "/assistants"):
            reply = await client.post(path, json=sent)
            assert reply.status_code == (422 if words else 200)
            assert words in reply.json()["detail"].lower() if words else reply.json() == sent
        assert (await client.post("/store", json=sent)).status_code == 200


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b"[" * 100_000, b"null", json.dumps({"context": 3}).encode()]
)
def test_what_is_no_request_is_left_to_the_server(body: bytes) -> None:
    assert refusal(body) == ""


ACTS = "\x1b]0;owned\x07\x1b[2J\x7f\x9b2J\x85\u2028\u2029\u202e"


async def test_what_an_address_holds_does_nothing_in_the_terminal_of_the_log(
    client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("ragweave.serve"), "propagate", True)
    with caplog.at_level(logging.INFO, "ragweave.serve"):
        await client.get(f"/open/{quote(ACTS)}/été")
    (record,) = [r for r in caplog.records if "/open/" in r.getMessage()]
    line = WordsFormatter().format(record)
    assert (
        line.isprintable()
        and "GET /open/\\u001b]0;owned\\u0007" in line
        and "\\u009b" in line
        and "/été 404" in line
    )
    told = Json().format(record)
    assert told.isprintable() and json.loads(told)["message"] == record.getMessage()


def test_the_lines_of_a_traceback_stay_and_what_it_quotes_does_nothing() -> None:
    try:
        raise ValueError(ACTS)
    except ValueError:
        record = logging.LogRecord(
            "ragweave", logging.ERROR, __file__, 1, "one\ntwo\rthree", (), sys.exc_info()
        )
    first, *trace = WordsFormatter().format(record).split("\n")
    assert first.endswith("error one two three") and trace[0].startswith("Traceback")
    assert all(line.isprintable() for line in trace) and "\\u001b]0;owned" in trace[-1]
    assert Json().format(record).isprintable()
