"""The table of failures that are tried again, with the traps that other policies fall into."""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
import urllib.error
from email.message import Message

import httpx
import openai
import pytest
import requests

from ragweave.models.errors import BudgetSpent, InputError, ModelError, ModelTransient
from ragweave.models.failures import broke_off, is_transient, status_of, tried

HTTP = sys.modules["httpx2"] if openai.Timeout.__module__.startswith("httpx2") else httpx
"""The HTTP client of the installed OpenAI package."""
REQUEST = HTTP.Request("POST", "http://127.0.0.1/v1")


def of_httpx(status: int) -> httpx.HTTPStatusError:
    request = httpx.Request("POST", "http://127.0.0.1/v1")
    return httpx.HTTPStatusError("failed", request=request, response=httpx.Response(status, request=request))


def of_requests(status: int) -> requests.HTTPError:
    response = requests.Response()
    response.status_code = status
    assert status < 400 or not response, "the trap: such a response is falsy"
    return requests.HTTPError("failed", response=response)


def of_openai(status: int, code: str | None = None) -> openai.APIStatusError:
    return openai.APIStatusError(
        "failed", response=HTTP.Response(status, request=REQUEST), body={"code": code} if code else None
    )


def in_stream(kind: str) -> openai.APIError:
    return openai.APIError("broke", REQUEST, body={"type": kind})


def caused_by_certificate() -> Exception:
    try:
        try:
            raise ssl.SSLCertVerificationError("self-signed certificate")
        except ssl.SSLError as exc:
            raise httpx.ConnectError("failed") from exc
    except httpx.ConnectError as exc:
        return exc


STATUSES = {
    **dict.fromkeys((408, 409, 425, 429, 500, 502, 503, 504, 529), True),
    **dict.fromkeys((400, 401, 402, 403, 404, 405, 413, 422, 501), False),
}


@pytest.mark.parametrize("make", [of_httpx, of_requests, of_openai])
@pytest.mark.parametrize(("status", "again"), STATUSES.items())
def test_the_status_decides_whichever_client_raised_it(make, status: int, again: bool) -> None:
    exc = make(status)
    assert status_of(exc) == status
    assert is_transient(exc) is again


@pytest.mark.parametrize(
    "exc",
    [
        TimeoutError(),
        ConnectionRefusedError(),
        ConnectionResetError(),
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
        httpx.ReadError("reset"),
        httpx.RemoteProtocolError("cut"),
        requests.ConnectionError(),
        requests.exceptions.ChunkedEncodingError(),
        openai.APIConnectionError(request=REQUEST),
        openai.APITimeoutError(REQUEST),
        in_stream("server_error"),
        in_stream("overloaded_error"),
        urllib.error.HTTPError("http://127.0.0.1", 503, "busy", Message(), None),
        ExceptionGroup("both", [TimeoutError(), ConnectionResetError()]),
    ],
    ids=lambda exc: type(exc).__name__,
)
def test_what_may_pass_is_tried_again(exc: Exception) -> None:
    assert is_transient(exc)


@pytest.mark.parametrize(
    "exc",
    [
        ValueError("bad"),
        json.JSONDecodeError("bad", "", 0),
        requests.exceptions.JSONDecodeError("bad", "", 0),
        httpx.UnsupportedProtocol("ftp"),
        httpx.TooManyRedirects("round and round"),
        httpx.LocalProtocolError("bad header"),
        caused_by_certificate(),
        ssl.SSLCertVerificationError("self-signed"),
        AttributeError("choices"),
        RuntimeError("bug"),
        PermissionError("no"),
        in_stream("invalid_request_error"),
        of_openai(429, "insufficient_quota"),
        asyncio.CancelledError(),
        KeyboardInterrupt(),
        ExceptionGroup("one of them for good", [TimeoutError(), KeyError("x")]),
        ModelError("down"),
        ModelTransient("had its three tries"),
        BudgetSpent("calls"),
        InputError("empty"),
    ],
    ids=lambda exc: f"{type(exc).__module__}.{type(exc).__name__}",
)
def test_what_will_not_pass_is_not_tried_again(exc: BaseException) -> None:
    assert not is_transient(exc)


def test_a_blocking_call_is_tried_three_times_while_its_failure_may_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragweave.models.failures.BACKOFF", 0.0)

    def calls(*outcomes: object) -> tuple[object, int]:
        left = list(outcomes)

        def call() -> object:
            if isinstance(made := left.pop(0), Exception):
                raise made
            return made

        try:
            return tried(call), len(left)
        except Exception as exc:
            return type(exc), len(left)

    assert calls(TimeoutError(), of_httpx(503), "fine", "more") == ("fine", 1)
    assert calls(TimeoutError(), TimeoutError(), TimeoutError(), "late") == (TimeoutError, 1)
    assert calls(KeyError("x"), "late") == (KeyError, 1)


@pytest.mark.parametrize(
    ("exc", "begun", "again"),
    [
        (ConnectionResetError(), False, True),
        (of_openai(503), False, False),
        (of_openai(503), True, True),
        (openai.APIConnectionError(request=REQUEST), False, False),
        (openai.APIConnectionError(request=REQUEST), True, True),
        (TimeoutError(), True, False),
        (KeyError("x"), True, False),
    ],
    ids=repr,
)
def test_what_breaks_off_is_asked_for_again_and_what_the_client_tried_or_a_silence_is_not(
    exc: Exception, begun: bool, again: bool
) -> None:
    assert broke_off(exc, begun) is again
