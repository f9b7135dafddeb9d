"""Failures of servers: which may pass, how they are tried again, and each as one sentence with its remedy.

The one retry policy: three tries, half a second before the second and twice that before the third, with jitter; the
pause that a server asks for goes before, up to `LONGEST_WAIT`.
"""

from __future__ import annotations

import random
import re
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from ragweave.models.errors import MissingExtra, ModelError, ModelTransient, RagweaveError
from ragweave.models.settings import model_settings
from ragweave.models.text import clip

T = TypeVar("T")

TRIES = 3
BACKOFF = 0.5
"""Seconds before the second try."""
LONGEST_WAIT = 20.0
"""A server that asks for a longer pause than this many seconds is not waited for."""

_STATUSES = frozenset({408, 409, 425, 429})
_NAMES = frozenset(
    """TimeoutException NetworkError RemoteProtocolError APIConnectionError Timeout ConnectionError
    ChunkedEncodingError TimeoutError ClientConnectionError ClientPayloadError ModelConnectionError ModelTimeoutError
    ModelRateLimitError ModelAPIError""".split()
)
"""Base classes of dropped connections in the usual client libraries, so that none of them has to be imported."""
_PASSING_CODES = frozenset({"rate_limit_exceeded", "rate_limit_error", "server_error", "overloaded_error", "timeout"})
_FINAL_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_TOO_LONG = re.compile(
    r"context.{0,20}(?:length|size|window)|maximum context|too many tokens|prompt is too long|exceed.{0,30}context",
    re.I,
)
_NOT_A_REPLY = (AttributeError, KeyError, IndexError, TypeError, ValueError)


class Unfinished(ConnectionError):
    """A stream that was heard to its end and gave no whole reply: what it gave instead, in words."""


def is_transient(exc: BaseException) -> bool:
    """Say whether trying the same call again may help.

    Timeouts, dropped connections and the statuses below may pass. Never retried are other statuses, any ValueError (a
    malformed reply stays malformed), an exhausted account, an untrusted certificate, and Ragweave's own errors, because
    the calls that raise them have made their tries already.
    """
    if isinstance(exc, BaseExceptionGroup):
        return all(is_transient(e) for e in exc.exceptions)
    if not isinstance(exc, Exception) or isinstance(exc, RagweaveError | ValueError):
        return False
    if any(isinstance(e, ssl.SSLCertVerificationError) for e in causes(exc)):
        return False
    codes = _codes(exc)
    if codes & _FINAL_CODES:
        return False
    status = status_of(exc)
    if status is not None:
        return status in _STATUSES or (500 <= status < 600 and status != 501)
    return bool(codes & _PASSING_CODES) or any(c.__name__ in _NAMES for c in type(exc).__mro__)


def pause_before(exc: BaseException, tried: int) -> float | None:
    """Return the seconds to wait after a number of tries and what the last raised, or None to try no more."""
    asked = retry_after(exc) or 0.0
    if tried >= TRIES or not is_transient(exc) or asked > LONGEST_WAIT:
        return None
    return max(asked, BACKOFF * float(2 ** (tried - 1)) * random.uniform(0.5, 1.5))


def tried(call: Callable[[], T]) -> T:
    """Return what a blocking call returns, tried again while its failure may pass; raises what its last try raised."""
    for attempt in range(1, TRIES + 1):
        try:
            return call()
        except Exception as exc:
            pause = pause_before(exc, attempt)
            if pause is None:
                raise
            time.sleep(pause)
    raise AssertionError("the last try returns or raises")


@contextmanager
def loading(what: str, extra: str, hint: str = "check the name and the network") -> Iterator[None]:
    """Tell in a sentence why a model of an optional package cannot be loaded.

    Raises:
        MissingExtra: if the package is not installed.
        ModelError: if it is, and fails.
    """
    try:
        yield
    except RagweaveError:
        raise
    except ImportError as exc:
        raise MissingExtra(what, extra) from exc
    except Exception as exc:
        if model_settings().offline:
            hint = "unset RAGWEAVE_OFFLINE once to download it"
        raise ModelError(f"{what} cannot be loaded: {type(exc).__name__}: {clip(str(exc), 200)}", hint) from exc


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
    headers: Any = getattr(getattr(exc, "response", None), "headers", None) or {}
    try:
        if told := headers.get("retry-after-ms"):
            return max(0.0, float(told) / 1000)
        told = headers.get("retry-after") or ""
        if re.fullmatch(r"\s*\d+(?:\.\d*)?\s*", told):
            return float(told)
        return max(0.0, parsedate_to_datetime(told).timestamp() - time.time()) if told else None
    except (ValueError, TypeError, OverflowError):
        return None


def is_too_long(exc: BaseException) -> bool:
    """Say whether the prompt did not fit into the model."""
    return type(exc).__name__.endswith("ContextOverflowError") or (
        status_of(exc) in (400, 413, 422, 500) and bool(_TOO_LONG.search(str(exc)))
    )


def explain(exc: Exception, name: str, host: str, setting: str = "CHAT", waited: float = 0) -> RagweaveError:
    """Return the typed error for what a client library raised when the model `name` was asked at `host`.

    The setting is the role's variable without its prefix, such as `EMBED`; `waited` the timeout in seconds.
    """
    if isinstance(exc, RagweaveError):
        return exc
    where, env, status, text = f"{name} at {host}", f"RAGWEAVE_{setting}", status_of(exc), str(exc)
    if is_too_long(exc):
        return ModelError(
            f"the prompt is longer than {where} can read",
            "use a model with a longer context, or lower top_k, strips and max_hops",
        )
    if status in (401, 403):
        return ModelError(f"{host} refused the key ({status})", f"set {env}_KEY to a key that may use {name}")
    if status == 404:
        return ModelError(
            f"{host} does not know the model {name} (404)",
            f"check {env}, and that {env}_URL ends where the server's OpenAI-compatible API begins, usually in /v1",
        )
    if status == 429:
        if is_transient(exc):
            return ModelTransient(f"{host} is limiting requests (429)", "wait a little, or lower RAGWEAVE_CHAT_WIDTH")
        return ModelError(
            f"the account at {host} has no credit left (429)", f"top it up, or set {env} to another model"
        )
    if status is not None and status >= 500:
        return ModelTransient(f"{where} failed with status {status}", "look at the server's log, or try again later")
    if status is not None and status >= 400:
        return ModelError(f"{where} refused the request ({status}): {_detail(text)}", f"check {env} and the server")
    if any(c.__name__ in ("TimeoutError", "APITimeoutError", "TimeoutException") for c in type(exc).__mro__):
        return ModelTransient(
            f"{where} gave no answer within {waited:g} s", "raise RAGWEAVE_CHAT_TIMEOUT, or use a faster model"
        )
    if isinstance(exc, Unfinished):
        return ModelTransient(f"{where} {text}", f"ask again, or set {env} to a model that answers in words")
    if is_transient(exc):
        return ModelTransient(
            f"the server of {name} at {host} cannot be reached or dropped the connection",
            f"start it, or correct {env}_URL",
        )
    if isinstance(exc, ImportError):
        return ModelError(
            f"{name} needs a package that is not installed: {_detail(text)}",
            f"install it, or serve the model over an OpenAI-compatible address and set {env}_URL",
        )
    if re.search(r"api[_ -]?key", text, re.I):
        return ModelError(f"there is no key for {where}", f"set {env}_KEY, or the provider's own variable")
    if isinstance(exc, _NOT_A_REPLY) or type(exc).__name__ == "APIResponseValidationError":
        return ModelError(
            f"{host} sent something that is not a reply of a language model",
            f"check that {env}_URL is the address of an OpenAI-compatible API, usually ending in /v1",
        )
    return ModelError(f"{where} failed: {type(exc).__name__}: {_detail(text)}", f"check {env}")


def causes(exc: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and what it came from."""
    seen: set[int] = set()
    while exc is not None and id(exc) not in seen:
        seen.add(id(exc))
        yield exc
        exc = exc.__cause__ or exc.__context__


def _codes(exc: BaseException) -> set[str]:
    """Return the error codes and types in the body of a provider's reply (an error inside a stream has no status)."""
    body = getattr(exc, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    return {str(inner[k]) for k in ("code", "type") if inner.get(k)} if isinstance(inner, dict) else set()


def _detail(text: str) -> str:
    return clip(" ".join(text.split()), 200).rstrip(".")
