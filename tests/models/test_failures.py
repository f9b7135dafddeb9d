"""The table of failures that are tried again, with the traps that other policies fall into."""

from __future__ import annotations

import asyncio
import email.utils
import json
import ssl
import time
import urllib.error
from email.message import Message

import httpx
import openai
import pytest
import requests

from ragweave.models.errors import BudgetSpent, InputError, ModelError, ModelTransient
from ragweave.models.failures import is_transient, retry_after, status_of

REQUEST = httpx.Request("POST", "http://127.0.0.1/v1")


def of_httpx(status: int, headers: dict[str, str] | None = None) -> httpx.HTTPStatusError:
    response = httpx.Response(status, request=REQUEST, headers=headers)
    return httpx.HTTPStatusError("failed", request=REQUEST, response=response)


def of_requests(status: int) -> requests.HTTPError:
    response = requests.Response()
    response.status_code = status
    assert status < 400 or not response, "the trap: such a response is falsy"
    return requests.HTTPError("failed", response=response)


def of_openai(status: int, code: str | None = None) -> openai.APIStatusError:
    response = _openai_http().Response(status, request=_openai_http().Request("POST", "http://127.0.0.1/v1"))
    return openai.APIStatusError("failed", response=response, body={"code": code} if code else None)


def _openai_http():
    """The HTTP client of the installed OpenAI package: httpx, or httpx2 in newer ones."""
    import sys

    return sys.modules.get("httpx2") if openai.Timeout.__module__.startswith("httpx2") else httpx


def in_stream(kind: str) -> openai.APIError:
    request = _openai_http().Request("POST", "http://127.0.0.1/v1")
    return openai.APIError("broke", request, body={"type": kind})


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
        BrokenPipeError(),
        httpx.ConnectError("refused"),
        httpx.ConnectTimeout("slow"),
        httpx.ReadTimeout("slow"),
        httpx.PoolTimeout("busy"),
        httpx.ReadError("reset"),
        httpx.RemoteProtocolError("cut"),
        requests.ConnectionError(),
        requests.ReadTimeout(),
        requests.exceptions.ChunkedEncodingError(),
        openai.APIConnectionError(request=_openai_http().Request("POST", "http://127.0.0.1")),
        openai.APITimeoutError(_openai_http().Request("POST", "http://127.0.0.1")),
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
        UnicodeDecodeError("utf-8", b"", 0, 1, "bad"),
        requests.exceptions.JSONDecodeError("bad", "", 0),
        requests.exceptions.InvalidURL("bad"),
        httpx.UnsupportedProtocol("ftp"),
        httpx.TooManyRedirects("round and round"),
        httpx.LocalProtocolError("bad header"),
        caused_by_certificate(),
        ssl.SSLCertVerificationError("self-signed"),
        KeyError("choices"),
        AttributeError("choices"),
        RuntimeError("bug"),
        FileNotFoundError("gone"),
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


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "Wed, 01 Jan 2020 00:00:00 GMT"}, 0.0),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(of_httpx(429, headers)) == seconds


def test_retry_after_as_a_date_counts_from_now() -> None:
    later = email.utils.formatdate(time.time() + 60, usegmt=True)
    assert 50 < (retry_after(of_httpx(429, {"Retry-After": later})) or 0) <= 60
