"""The table of failures that are tried again, with the traps that other policies fall into."""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
import urllib.error
from collections.abc import Callable, Iterator
from email.message import Message
from typing import Any

import httpx
import openai
import pytest
import requests

from ragweave.models import context_window
from ragweave.models.chat import Chat, chat
from ragweave.models.context_window import ContextWindow, size_from_server
from ragweave.models.errors import ModelError, ModelTransient, PromptCut
from ragweave.models.failures import broke_off, explain, is_too_long, is_transient, status_of
from ragweave.models.meter import Meter
from ragweave.prompts import quote
from ragweave.tests.models.conftest import Put
from ragweave.tests.support import Fault, ScriptedServer

HTTP = sys.modules["httpx2"] if openai.Timeout.__module__.startswith("httpx2") else httpx
"""The HTTP client of the installed OpenAI package."""
REQUEST = HTTP.Request("POST", "http://127.0.0.1/v1")


def of_httpx(status: int) -> Exception:
    request = httpx.Request("POST", "http://127.0.0.1/v1")
    return httpx.HTTPStatusError("failed", request=request, response=httpx.Response(status, request=request))


def of_requests(status: int) -> Exception:
    response = requests.Response()
    response.status_code = status
    assert status < 400 or not response, "the trap: such a response is falsy"
    return requests.HTTPError("failed", response=response)


def of_openai(status: int, code: str | None = None) -> Exception:
    response, body = HTTP.Response(status, request=REQUEST), {"code": code} if code else None
    return openai.APIStatusError("failed", response=response, body=body)


def in_stream(kind: str) -> Exception:
    return openai.APIError("broke", REQUEST, body={"type": kind})


def caused(cause: Exception) -> Exception:
    made = httpx.ConnectError("failed")
    made.__cause__ = cause
    return made


@pytest.mark.parametrize("make", [of_httpx, of_requests, of_openai])
def test_the_status_decides_whichever_client_raised_it(make: Callable[[int], Exception]) -> None:
    passing, final = (
        (408, 409, 425, 429, 500, 502, 503, 504, 529),
        (400, 401, 402, 403, 404, 405, 413, 422, 501),
    )
    assert [status_of(make(status)) for status in (*passing, *final)] == [*passing, *final]
    assert all(is_transient(make(status)) for status in passing)
    assert not any(is_transient(make(status)) for status in final)


PASSING = [
    TimeoutError(),
    httpx.ConnectError("refused"),
    httpx.RemoteProtocolError("cut"),
    requests.exceptions.ChunkedEncodingError(),
    openai.APIConnectionError(request=REQUEST),
    in_stream("overloaded_error"),
    urllib.error.HTTPError("http://127.0.0.1", 503, "busy", Message(), None),
    ExceptionGroup("both", [TimeoutError(), ConnectionResetError()]),
]
FINAL = [
    json.JSONDecodeError("bad", "", 0),
    requests.exceptions.JSONDecodeError("bad", "", 0),
    httpx.UnsupportedProtocol("ftp"),
    httpx.TooManyRedirects("round and round"),
    caused(ssl.SSLCertVerificationError("self-signed")),
    RuntimeError("bug"),
    PermissionError("no"),
    in_stream("invalid_request_error"),
    of_openai(429, "insufficient_quota"),
    asyncio.CancelledError(),
    ExceptionGroup("one of them for good", [TimeoutError(), KeyError("x")]),
    ModelTransient("had its tries"),
]


@pytest.mark.parametrize(
    ("exc", "again"), [*((exc, True) for exc in PASSING), *((exc, False) for exc in FINAL)], ids=repr
)
def test_what_may_pass_is_tried_again_and_what_will_not_is_not(exc: BaseException, again: bool) -> None:
    assert is_transient(exc) == again


def test_what_breaks_off_is_asked_for_again_and_what_the_client_tried_or_a_silence_is_not() -> None:
    by_client = [of_openai(503), openai.APIConnectionError(request=REQUEST)]
    assert all(broke_off(exc, begun=True) and not broke_off(exc, begun=False) for exc in by_client)
    assert broke_off(ConnectionResetError(), begun=False)
    assert not any(broke_off(exc, begun=True) for exc in (TimeoutError(), KeyError("x")))


TOO_LONG = [
    "Range of input length should be [1, 30720]",
    "Prompt 超长",
    "This model's maximum context length is 4096 tokens",
    "The input token count (1048990) exceeds the maximum number of tokens allowed (1048576).",
    "Input is too long for requested model.",
    "Please reduce the length of the messages or completion.",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "the request exceeds the available context size",
    "The number of tokens to keep from the initial prompt is greater than the context length.",
    "Trying to keep the first 5000 tokens when context the overflows.",
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
    "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000",
    "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    "Request too large for model in organization: Limit 6000, Requested 8000",
]
NOT_TOO_LONG = [
    "n must be 1",
    "Input should be less than or equal to 2",
    "temperature must be less than 2",
    "bad model",
]


@pytest.mark.parametrize("words", TOO_LONG)
@pytest.mark.parametrize("listed", [False, True])
def test_a_prompt_that_is_too_long_is_known_in_any_words(words: str, listed: bool) -> None:
    body = [{"error": {"message": words}}] if listed else {"message": words}
    said = "Error code: 400" if listed else f"Error code: 400 - {words}"
    refused = openai.APIStatusError(said, response=httpx.Response(400, request=REQUEST), body=body)
    assert is_too_long(refused)
    assert "is longer than m at h can read" in str(explain(refused, "m", "h"))


@pytest.mark.parametrize("words", NOT_TOO_LONG)
def test_another_refusal_is_not_taken_for_a_long_prompt(words: str) -> None:
    refused = openai.APIStatusError(
        words, response=httpx.Response(400, request=REQUEST), body={"message": words}
    )
    assert not is_too_long(refused)


PASSAGES = [
    f"[{n}] Passage {n}\n{quote(f'It says {n}. ' + 'The harbour was built of stone. ' * 60)}"
    for n in range(1, 12)
]
LONG = [("user", "When was the harbour built?\n" + "\n\n".join(PASSAGES))]
"""A prompt of about 22,000 bytes."""


@pytest.fixture
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_window, "_windows", {})
    monkeypatch.setattr("ragweave.models.failures.BACKOFF", 0.0)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(models=["small"]) as served:
        yield served


def model_at(server: ScriptedServer, put: Put, **more: str) -> Chat:
    put(chat="small", chat_url=server.base_url, chat_cache="false", **more)
    made = chat()
    assert made is not None
    return made


def row(**more: Any) -> dict[str, Any]:
    return {"data": [{"id": "other", "max_model_len": 9_999}, {"id": "small", **more}]}


@pytest.mark.usefixtures("_forgotten")
@pytest.mark.parametrize(
    ("pages", "size"),
    [
        ({"/v1/models": row(max_model_len=8_192)}, 8_192),
        ({"/v1/models": row(context_length=131_072)}, 131_072),
        ({"/props": {"default_generation_settings": {"n_ctx": 4_096}}}, 4_096),
        ({"/api/v0/models": row(loaded_context_length=4_096, max_context_length=32_768)}, 4_096),
        ({"/api/ps": {"models": [{"name": "small:latest", "context_length": 4_096}]}}, 4_096),
        (
            {
                "/api/show": {
                    "model_info": {"qwen3.context_length": 40_960},
                    "parameters": "num_ctx    16384\n",
                }
            },
            16_384,
        ),
        ({"/api/show": {"model_info": {"qwen3.context_length": 40_960}}}, 4_096),
        ({"/api/show": {"model_info": {"tiny.context_length": 2_048}}}, 2_048),
        ({"/v1/models": row(max_model_len="many"), "/props": ["no"], "/api/ps": {"models": [3, None]}}, 0),
        ({"/props": {"default_generation_settings": {"n_ctx": 10**12}}}, 0),
        ({}, 0),
    ],
)
async def test_each_server_tells_its_context_in_its_own_way(
    pages: dict[str, Any], size: int, server: ScriptedServer
) -> None:
    server.pages = pages
    assert await size_from_server(server.base_url, "small") == size


@pytest.mark.usefixtures("_forgotten")
async def test_a_server_that_is_not_there_tells_nothing() -> None:
    assert await size_from_server("http://127.0.0.1:9/v1", "small") == 0


@pytest.mark.usefixtures("_forgotten")
async def test_a_prompt_is_cut_before_it_is_sent_where_the_size_is_set(
    server: ScriptedServer, put: Put
) -> None:
    server.queue("In 1874.")
    meter = Meter()
    assert await model_at(server, put, chat_context="4096").text(LONG, node="n", meter=meter) == "In 1874."
    (asked,) = server.requests
    assert (
        len(asked.prompt) < 4 * 3_072 and "It says 1." in asked.prompt and "It says 11." not in asked.prompt
    )
    assert asked.prompt.startswith("When was the harbour built?") and asked.body["max_tokens"] == 1_024
    (note,) = meter.notes()
    assert note.startswith("small reads 4,096 tokens at once") and "of 11 passages left out" in note


@pytest.mark.usefixtures("_forgotten")
async def test_a_server_that_tells_its_size_is_asked_before_a_long_prompt_and_not_before_a_short_one(
    server: ScriptedServer, put: Put
) -> None:
    server.pages = {"/props": {"default_generation_settings": {"n_ctx": 4_096}}}
    server.queue("Hello.", "In 1874.")
    model = model_at(server, put)
    await model.text([("user", "Hello?")], node="n", meter=Meter())
    assert await model.room(100) == 0 < await model.room(5_000)
    await model.text(LONG, node="n", meter=Meter())
    assert [r.body["max_tokens"] for r in server.requests] == [4_096, 1_024]
    assert len(server.requests[1].prompt) < 4 * 3_072


@pytest.mark.usefixtures("_forgotten")
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_prompt_that_a_silent_server_cut_is_cut_to_fit_and_sent_again(
    streamed: bool, server: ScriptedServer, put: Put
) -> None:
    server.context = 4_096
    server.queue("The documents do not tell.", "In 1874.")
    model, meter = model_at(server, put), Meter()
    if streamed:
        said = "".join([part async for part in model.stream(LONG, node="n", meter=meter)])
    else:
        said = await model.text(LONG, node="n", meter=meter)
    assert said == "In 1874." and len(server.requests[1].prompt) < 4 * 4_096 <= len(server.requests[0].prompt)
    assert meter.notes()[0].startswith("small reads 4,096 tokens at once, so a prompt was cut")
    assert meter.spent.calls == 2 and meter.notes() == []


@pytest.mark.usefixtures("_forgotten")
async def test_what_is_shown_already_is_told_and_the_next_prompt_fits(
    server: ScriptedServer, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragweave.models.chat_fit._HELD", 0.0)
    server.context = 4_096
    server.queue("The documents do not tell. Not at all.", "In 1874.")
    model, meter = model_at(server, put), Meter()
    said = "".join([part async for part in model.stream(LONG, node="n", meter=meter)])
    assert said.startswith("The documents do not tell.")
    assert "small read only 4,096 of about 5," in meter.notes()[0]
    await model.text(LONG, node="n", meter=meter)
    assert len(server.requests[1].prompt) < 4 * 4_096


@pytest.mark.usefixtures("_forgotten")
async def test_a_prompt_that_is_refused_as_too_long_is_sent_again_as_short_as_the_refusal_says(
    server: ScriptedServer, put: Put
) -> None:
    words = "This model's maximum context length is 2048 tokens. However, you requested 5647 tokens."
    server.queue(Fault.status(400, words), "In 1874.")
    assert await model_at(server, put).text(LONG, node="n", meter=Meter()) == "In 1874."
    assert len(server.requests[1].prompt) < 4 * 2_048


@pytest.mark.usefixtures("_forgotten")
async def test_a_prompt_that_is_refused_although_it_seems_to_fit_is_sent_again_shorter(
    server: ScriptedServer, put: Put
) -> None:
    words = "This model's maximum context length is 65536 tokens. However, you requested 90000 tokens."
    server.queue(Fault.status(400, words), "In 1874.")
    assert await model_at(server, put).text(LONG, node="n", meter=Meter()) == "In 1874."
    assert len(server.requests[1].prompt) < 0.7 * len(server.requests[0].prompt)


@pytest.mark.usefixtures("_forgotten")
async def test_a_prompt_without_passages_that_is_too_long_is_one_error(
    server: ScriptedServer, put: Put
) -> None:
    server.queue(*[Fault.status(400, "the request exceeds the available context size (2048 tokens)")] * 3)
    with pytest.raises(ModelError, match=r"longer than small at .* can read"):
        await model_at(server, put).text([("user", "x " * 9_000)], node="n", meter=Meter())
    assert len(server.requests) == 1


@pytest.mark.usefixtures("_forgotten")
async def test_a_model_that_never_fits_ends_with_an_error_and_not_in_a_circle(
    server: ScriptedServer, put: Put
) -> None:
    server.context = 1_024
    server.queue(*["?"] * 30)
    with pytest.raises(PromptCut):
        await model_at(server, put).text([("user", "x" * 30_000)], node="n", meter=Meter())
    assert len(server.requests) <= 3


@pytest.mark.usefixtures("_forgotten")
@pytest.mark.parametrize(
    ("sent", "read", "cut"),
    [
        (5_600, 4_096, True),
        (5_600, 4_093, True),
        (5_600, 5_000, False),
        (5_600, 3_500, False),
        (5_600, 0, False),
    ],
)
def test_a_prompt_counts_as_cut_where_far_less_was_read_and_that_is_a_ceiling(
    sent: int, read: int, cut: bool
) -> None:
    assert ContextWindow().cut(sent, read) is cut


@pytest.mark.usefixtures("_forgotten")
def test_a_window_that_is_filled_to_its_end_was_too_small_for_the_prompt() -> None:
    window = ContextWindow(4_096)
    before = window.room(4_096)
    assert window.cut(3_000, 4_090) and window.room(4_096) < before
