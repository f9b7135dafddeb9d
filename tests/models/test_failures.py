"""The table of failures that are tried again, with the traps that other policies fall into."""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
import urllib.error
from collections.abc import Callable
from email.message import Message

import httpx
import openai
import pytest
import requests

from ragweave.models.errors import ModelTransient
from ragweave.models.failures import broke_off, explain, is_too_long, is_transient, status_of

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
