"""What a server refuses is done without from then on: a second way is tried once, remembered, and told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from ragweave.models.chat import Chat, chat
from ragweave.models.chat_client import ways_file
from ragweave.models.chat_ways import WORDS, Ways, recall, remember
from ragweave.models.errors import ModelError, ModelTransient, ReplyCut
from ragweave.models.meter import Meter
from ragweave.models.settings import model_settings

ASK = [("system", "Be brief."), ("user", "Capital of France?")]
SAID = "It is Paris."
Answer = Callable[[dict[str, Any]], tuple[int, Any]]


class Server:
    """Answers each request as a function says, in the form in which it was asked for."""

    def __init__(self, answer: Answer) -> None:
        self.answer, self.bodies, self.headers = answer, list[dict[str, Any]](), ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.split("content-length:")[1].split("\r\n")[0])
        body = json.loads(await reader.readexactly(length))
        self.bodies.append(body)
        status, reply = self.answer(body)
        kind, sent = "application/json", json.dumps(reply)
        if isinstance(reply, list) and reply and isinstance(reply[0], dict) and "choices" in reply[0]:
            kind, sent = (
                "text/event-stream",
                "".join(f"data: {json.dumps(r)}\n\n" for r in reply) + "data: [DONE]\n\n",
            )
        raw = sent.encode()
        line = (
            f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(raw)}\r\n{self.headers}\r\n"
        )
        writer.write(line.encode() + raw)
        await writer.drain()
        writer.close()


def said(body: dict[str, Any], text: str = SAID, finish: str = "stop") -> Any:
    """Return a reply in the form in which it was asked for."""
    if body.get("stream"):
        parts: list[dict[str, Any]] = [{"index": 0, "delta": {"role": "assistant", "content": text}}]
        parts.append({"index": 0, "delta": {}, "finish_reason": finish})
        return [
            {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [p]}
            for p in parts
        ]
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def refusing(refuses: Callable[[dict[str, Any]], bool], status: int, reply: Any) -> Answer:
    return lambda body: (status, reply) if refuses(body) else (200, said(body))


def roles(body: dict[str, Any]) -> list[str]:
    return [m["role"] for m in body["messages"]]


def wants(body: dict[str, Any]) -> int:
    return int(body.get("max_tokens") or body.get("max_completion_tokens") or 0)


REFUSALS: dict[str, tuple[str, Answer]] = {
    "streams": (
        "streamed",
        refusing(lambda b: bool(b.get("stream")), 400, {"error": {"message": "Streaming is not supported."}}),
    ),
    "streams by parameter": (
        "streamed",
        refusing(lambda b: bool(b.get("stream")), 422, {"error": {"message": "no", "param": "stream"}}),
    ),
    "counts": (
        "counted",
        refusing(lambda b: "stream_options" in b, 422, {"detail": [{"loc": ["body", "stream_options"]}]}),
    ),
    "counts in words": (
        "counted",
        refusing(
            lambda b: "stream_options" in b, 400, {"error": {"message": "Unknown field: stream_options"}}
        ),
    ),
    "the system role, in other words": (
        "system",
        refusing(
            lambda b: "system" in roles(b), 400, {"message": "Only user and assistant roles are supported!"}
        ),
    ),
    "the system role": (
        "system",
        refusing(lambda b: "system" in roles(b), 400, {"message": "System role not supported"}),
    ),
    "a developer's words": (
        "system",
        refusing(
            lambda b: "system" in roles(b),
            400,
            [{"error": {"message": "Developer instruction is not enabled"}}],
        ),
    ),
    "alternation": (
        "system",
        refusing(
            lambda b: "system" in roles(b), 400, {"error": "Conversation roles must alternate user/assistant"}
        ),
    ),
    "temperature": (
        "tempered",
        refusing(
            lambda b: b.get("temperature") is not None,
            400,
            {"error": {"message": "temperature: only 1 is supported"}},
        ),
    ),
    "max_tokens": (
        "limited",
        refusing(lambda b: wants(b) > 0, 400, {"error": {"message": "max_tokens is not allowed"}}),
    ),
    "a long answer": (
        "most",
        refusing(
            lambda b: wants(b) > 3_000,
            400,
            {
                "error": {
                    "message": "The context length is 4096 tokens. "
                    "However, you requested 5468 tokens (1372 in the messages, 4096 in the completion)."
                }
            },
        ),
    ),
    "events": ("streamed", lambda body: (200, said({}))),
}


@asynccontextmanager
async def serving(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    monkeypatch.setattr("ragweave.models.failures.BACKOFF", 0.0)
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.0)
    server = Server(answer)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    settings = {
        "CHAT": "m",
        "CHAT_URL": f"http://127.0.0.1:{port}/v1",
        "CHAT_CACHE": "false",
        "CHAT_TEMPERATURE": "0.5",
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"RAGWEAVE_{name}", value)
    model_settings.cache_clear()
    try:
        yield server
    finally:
        listening.close()


def writer() -> Chat:
    made = chat()
    assert made is not None
    return made


async def ask() -> str:
    return await writer().text(ASK, node="n", meter=Meter())


@pytest.mark.parametrize(("name", "answer"), REFUSALS.values(), ids=REFUSALS)
async def test_a_second_way_is_tried_once_and_remembered(
    name: str, answer: Answer, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    async with serving(answer, monkeypatch) as server:
        assert [await ask(), await ask()] == [SAID, SAID]
        assert len(server.bodies) == 3
        assert "".join([part async for part in writer().stream(ASK, node="n", meter=Meter())]) == SAID
        assert all("Be brief." in json.dumps(body["messages"]) for body in server.bodies)
    ways = recall(ways_file(home), f"m at {writer().host}")
    assert ways.learnt() == [WORDS[name]]


async def test_what_another_process_learnt_is_known_at_the_first_call(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    async with serving(REFUSALS["streams"][1], monkeypatch) as server:
        remember(ways_file(home), f"m at {writer().host}", Ways(streamed=False))
        assert await ask() == SAID
        assert len(server.bodies) == 1


async def test_several_ways_are_found_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        for _, refuse in (REFUSALS["counts"], REFUSALS["the system role"], REFUSALS["temperature"]):
            if (refused := refuse(body))[0] != 200:
                return refused
        return 200, said(body)

    async with serving(answer, monkeypatch) as server:
        assert [await ask(), await ask()] == [SAID, SAID]
        assert len(server.bodies) == 5


async def test_a_second_way_that_fails_as_well_is_not_remembered(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    refused = 400, {"error": {"message": "the system is streaming at a temperature"}}
    async with serving(lambda body: refused, monkeypatch) as server:
        with pytest.raises(ModelError, match="refused the request"):
            await ask()
        assert len(server.bodies) <= 4
        assert not ways_file(home).exists()
        server.answer = lambda body: (200, said(body))
        assert await ask() == SAID
        assert server.bodies[-1]["stream"] and "system" in roles(server.bodies[-1])


async def test_an_error_that_comes_as_a_reply_is_told_as_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    limited = 200, {"error": {"message": "Provider returned error", "code": 429}}
    async with serving(lambda body: limited, monkeypatch):
        with pytest.raises(ModelTransient, match=r"limiting requests \(429\)"):
            await ask()


@pytest.mark.parametrize("why", ["content_filter", "SAFETY", "recitation", "refusal", "guardrail_intervened"])
async def test_a_reply_that_its_server_stopped_is_no_answer_and_never_kept(
    why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_CACHE", "true")
    async with serving(lambda body: (200, said(body, "It is Pa", why)), monkeypatch) as server:
        for _ in range(2):
            with pytest.raises(ReplyCut, match=why):
                await ask()
        seen: list[str] = []
        with pytest.raises(ReplyCut, match="stopped within its reply"):
            async for part in writer().stream(ASK, node="n", meter=Meter()):
                seen.append(part)
        assert "".join(seen) == "It is Pa" and len(server.bodies) == 3


@pytest.mark.parametrize("why", ["abort", "error", "network_error", "cancelled"])
async def test_a_reply_that_failed_within_is_asked_for_once_more(
    why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(lambda body: (200, said(body, "It is Pa", why)), monkeypatch) as server:
        with pytest.raises(ModelTransient, match=f"ended its reply early .{why}"):
            await ask()
        assert len(server.bodies) == 2


@pytest.mark.parametrize(
    "pause", ["Retry-After: 20", "Retry-After-Ms: 20000", "Retry-After: Fri, 31 Dec 2300 23:59:59 GMT"]
)
async def test_a_server_that_asks_for_a_long_pause_is_not_waited_for(
    pause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(lambda body: (429, {"error": {"message": "wait"}}), monkeypatch) as server:
        server.headers = f"{pause}\r\n"
        async with asyncio.timeout(10):
            with pytest.raises(ModelTransient, match="limiting requests"):
                await ask()
        assert len(server.bodies) == 1


def test_a_file_that_cannot_be_read_or_is_old_counts_for_nothing(tmp_path: Path) -> None:
    file = tmp_path / "servers.json"
    for text in (
        "",
        "[]",
        '{"m": 3}',
        '{"m": {"streamed": false, "since": 1}}',
        '{"m": {"streamed": "no", "since": 1e12}}',
    ):
        file.write_text(text)
        assert recall(file, "m") == Ways()


@pytest.mark.parametrize(
    ("window", "prompt", "most", "left"),
    [(8192, 5120, 4096, 3071), (4096, 1000, 4096, 3095), (8192, 3000, 6000, 5191), (2048, 2000, 2048, 256)],
)
def test_a_reply_that_does_not_fit_behind_the_prompt_gets_what_the_window_leaves(
    window: int, prompt: int, most: int, left: int
) -> None:
    message = (
        f"This model's maximum context length is {window} tokens. However, you requested {prompt + most}"
        f" tokens ({prompt} in the messages, {most} in the completion)."
    )
    refusal = openai.BadRequestError(
        message, response=httpx.Response(400, request=httpx.Request("POST", "http://x")), body=None
    )
    ways = Ways()
    assert ways.refused(refusal, most, tempered=False, empty=False) == "most"
    assert ways.most == left
