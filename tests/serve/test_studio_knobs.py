"""What `langgraph dev` is sent as knobs: those that there are, and a sentence for any other."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ragweave.serve.studio_knobs import KnownKnobs, refusal


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
