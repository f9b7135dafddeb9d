"""Which failures may pass when the same call is tried again."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from typing import Any

from ragweave.models.errors import RagweaveError

_STATUSES = frozenset({408, 409, 425, 429})
_NAMES = frozenset(
    {
        "httpx.TimeoutException",
        "httpx.NetworkError",
        "httpx.RemoteProtocolError",
        "httpcore.TimeoutException",
        "httpcore.NetworkError",
        "httpcore.RemoteProtocolError",
        "openai.APIConnectionError",
        "anthropic.APIConnectionError",
        "requests.ConnectionError",
        "requests.Timeout",
        "requests.ChunkedEncodingError",
        "urllib3.ProtocolError",
        "urllib3.TimeoutError",
        "aiohttp.ClientConnectionError",
        "aiohttp.ClientPayloadError",
        "langchain_core.ModelConnectionError",
        "langchain_core.ModelTimeoutError",
        "langchain_core.ModelRateLimitError",
        "langchain_core.ModelAPIError",
    }
)
"""Connection failures of client libraries as package.Class, so that none of them has to be imported."""

_PASSING_CODES = frozenset({"rate_limit_exceeded", "rate_limit_error", "server_error", "overloaded_error", "timeout"})
_FINAL_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


def is_transient(exc: BaseException) -> bool:
    """Say whether trying the same call again may help.

    Retried are HTTP 408, 409 (a lock), 425, 429 and 5xx except 501, timeouts and dropped or refused connections of
    the standard library and the usual HTTP clients. Never retried are other statuses, any ValueError (a malformed
    reply stays malformed), an exhausted account, an untrusted certificate, and Ragweave's own errors, because the
    calls that raise them have made their tries already.
    """
    if isinstance(exc, BaseExceptionGroup):
        return all(is_transient(e) for e in exc.exceptions)
    if not isinstance(exc, Exception) or isinstance(exc, RagweaveError | ValueError):
        return False
    if any(isinstance(e, ssl.SSLCertVerificationError) for e in _chain(exc)):
        return False
    codes = _codes(exc)
    if codes & _FINAL_CODES:
        return False
    status = status_of(exc)
    if status is not None:
        return status in _STATUSES or (500 <= status < 600 and status != 501)
    if isinstance(exc, TimeoutError | ConnectionError):
        return True
    return bool(codes & _PASSING_CODES) or any(_qualified(c) in _NAMES for c in type(exc).__mro__)


def status_of(exc: BaseException) -> int | None:
    """Return the HTTP status that an exception of any client library carries, or None."""
    # `response is not None`, never its truth: a requests.Response with an error status is falsy.
    response = getattr(exc, "response", None)
    for holder, name in ((exc, "status_code"), (response, "status_code"), (exc, "status"), (exc, "code")):
        value = getattr(holder, name, None) if holder is not None else None
        if isinstance(value, int) and 100 <= value < 600:
            return int(value)
    body = getattr(exc, "body", None)
    code = body.get("code") if isinstance(body, dict) else None
    return code if isinstance(code, int) and 100 <= code < 600 else None


def retry_after(exc: BaseException) -> float | None:
    """Return the seconds a server asked to wait (Retry-After as seconds or date, or retry-after-ms), or None."""
    headers: Any = getattr(getattr(exc, "response", None), "headers", None)
    if headers is None:
        return None
    try:
        if headers.get("retry-after-ms"):
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after")
        if not value:
            return None
        return max(0.0, float(value) if _is_number(value) else parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _is_number(value: str) -> bool:
    return value.strip().replace(".", "", 1).isdigit()


def _chain(exc: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while exc is not None and id(exc) not in seen:
        seen.add(id(exc))
        yield exc
        exc = exc.__cause__ or exc.__context__


def _qualified(cls: type) -> str:
    # httpx2 is the name under which newer OpenAI clients carry httpx.
    package = cls.__module__.split(".")[0].lstrip("_")
    return f"{'httpx' if package == 'httpx2' else package}.{cls.__name__}"


def _codes(exc: BaseException) -> set[str]:
    """Return the error codes and types in the body of a provider's reply (an error inside a stream has no status)."""
    body = getattr(exc, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    return {str(inner[k]) for k in ("code", "type") if inner.get(k)} if isinstance(inner, dict) else set()
