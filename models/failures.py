"""Explain failures of model servers in one sentence with a remedy, and tell which are transient.

The clients of models make three tries on their own, the second after half a second.
"""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeGuard

from ragweave.models.device import remedy
from ragweave.models.errors import MissingExtra, ModelError, ModelTransient, RagweaveError
from ragweave.models.settings import model_settings
from ragweave.models.text import clip

BACKOFF = 0.5
"""Seconds before the second try."""

_STATUSES = frozenset({408, 409, 425, 429})
_SILENCES = frozenset({"TimeoutError", "TimeoutException", "APITimeoutError", "Timeout"})
_CLIENTS = frozenset({"APIConnectionError", "ClientConnectionError", "ModelConnectionError"})
_NAMES = (
    frozenset(
        """NetworkError RemoteProtocolError ConnectionError ChunkedEncodingError ClientPayloadError
        ModelTimeoutError ModelRateLimitError ModelAPIError""".split()
    )
    | _SILENCES
    | _CLIENTS
)
"""Base classes of dropped connections in the usual client libraries, which need no import here."""
_PASSING_CODES = frozenset(
    {"rate_limit_exceeded", "rate_limit_error", "server_error", "overloaded_error", "timeout"}
)
_FINAL_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_SUBJECT = r"(?:prompt|inputs?|messages?|context|sequence|tokens?|request|conversation)"
_TOO_LONG = re.compile(
    r"context.{0,20}(?:length|size|window|overflow)|(?:maximum|max) (?:context|model"
    r" length|prompt|input|sequence)"
    rf"|\b{_SUBJECT}\b[^.]{{0,80}}?(?:too (?:long|large|many|big)|exceed)"
    rf"|(?:too (?:long|large|many|big)|exceed\w*)[^.]{{0,80}}?\b{_SUBJECT}\b"
    rf"|\b{_SUBJECT}\b[^.]{{0,80}}?(?:greater|less|fewer|more|larger|longer) than"
    r"[^.]{0,40}(?:\d{3}|context|maximum)"
    rf"|reduce (?:the |your )?(?:length|size|{_SUBJECT})|tokens[`'\" +\w]{{0,30}}must be <"
    r"|\binput length should be|超长|过长|太长",
    re.I,
)
"""Messages of servers about a prompt that is too long; the wording differs, the nouns do not."""
_BARE = re.compile(r"Error code: \d+\s*")
"""The whole message of OpenAI's client if it cannot parse a refusal."""
_MESSAGE = 20_000
"""Characters of a refusal that are read."""
_NOT_A_REPLY = (AttributeError, KeyError, IndexError, TypeError, ValueError)


class Unfinished(ConnectionError):
    """A stream ended without a whole reply; the message says what it sent instead."""


def is_transient(exc: BaseException) -> bool:
    """Return whether another try of the same call may succeed.

    Timeouts, dropped connections and some statuses are transient. Other statuses are final. So are any
    ValueError (a malformed reply stays malformed), an exhausted account, an untrusted certificate, and
    Ragweave's own errors, because the calls that raise them have made their tries already.
    """
    if isinstance(exc, BaseExceptionGroup):
        return all(map(is_transient, exc.exceptions))
    codes, status = _codes(exc), status_of(exc)
    malformed = isinstance(exc, ValueError) and status is None
    if not isinstance(exc, Exception) or isinstance(exc, RagweaveError) or malformed:
        return False
    if codes & _FINAL_CODES:
        return False
    for cause in causes(exc):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return False
    if status is not None:
        return status in _STATUSES or (500 <= status < 600 and status != 501)
    return bool(codes & _PASSING_CODES) or _is_a(exc, _NAMES)


def is_silence(exc: BaseException) -> bool:
    """Return whether a server did not answer in time."""
    return _is_a(exc, _SILENCES)


def broke_off(exc: BaseException, begun: bool) -> bool:
    """Return whether a reply broke off and may be requested once more.

    The client has already retried what failed before the reply had `begun`.
    """
    by_client = not begun and (status_of(exc) is not None or _is_a(exc, _CLIENTS))
    return is_transient(exc) and not by_client and not is_silence(exc)


@contextmanager
def loading(what: str, extra: str, hint: str = "check the name and the network") -> Iterator[None]:
    """Convert errors inside to one sentence about why a model cannot be loaded.

    Raises:
        MissingExtra: if the optional package of the model is not installed.
        ModelError: if the package is installed and fails.
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
        hint = remedy(exc, hint)
        raise ModelError(f"{what} cannot be loaded: {type(exc).__name__}: {clip(str(exc), 200)}", hint).named(
            "model_not_loaded", what=what, name=type(exc).__name__, clip=clip(str(exc), 200)
        ) from exc


def status_of(exc: BaseException) -> int | None:
    """Return the HTTP status that an exception of any client library carries, or None."""
    if isinstance(exc, ValueError) and exc.args and isinstance(exc.args[0], dict):
        # The server sent an error in the place of a reply.
        code = exc.args[0].get("code") or exc.args[0].get("status")
        return int(code) if _is_status(code) else None
    # Never test the truth of the response: a requests.Response with an error status is falsy.
    response = getattr(exc, "response", None)
    body = getattr(exc, "body", None)
    codes = [getattr(exc, "status_code", None), getattr(response, "status_code", None)]
    codes += [getattr(exc, "status", None), getattr(exc, "code", None)]
    if isinstance(body, dict):
        codes.append(body.get("code"))
    for code in codes:
        if _is_status(code):
            return int(code)
    return None


def _is_status(code: object) -> TypeGuard[int]:
    return isinstance(code, int) and 100 <= code < 600


def words_of(exc: BaseException) -> str:
    """Return the message of a failure with the body of the server's response."""
    body = getattr(exc, "body", None)
    if isinstance(body, str):
        message = body
    elif body:
        message = json.dumps(body, ensure_ascii=False, default=str)
    else:
        message = ""
    return f"{exc} {message}"[:_MESSAGE]


def is_too_long(exc: BaseException) -> bool:
    """Return whether the prompt was too long for the model."""
    if type(exc).__name__.endswith("ContextOverflowError"):
        return True
    return status_of(exc) in (400, 413, 422, 500) and bool(_TOO_LONG.search(words_of(exc)))


class _Failure(NamedTuple):
    """A failed call with the names that its message needs."""

    exc: Exception
    name: str
    host: str
    env: str
    """The variable that names the model."""
    status: int | None
    passes: bool
    text: str
    waited: float

    @property
    def where(self) -> str:
        return f"{self.name} at {self.host}"


def explain(exc: Exception, name: str, host: str, setting: str = "CHAT", waited: float = 0) -> RagweaveError:
    """Return the typed error for an exception of a client library that called the model `name` at `host`.

    The setting is the role's variable without its prefix, such as `EMBED`. `waited` is the number of seconds
    since the server last sent something.
    """
    if isinstance(exc, RagweaveError):
        return exc
    refusal = _refusal_before(exc)
    status, passes = status_of(refusal), is_transient(refusal)
    failure = _Failure(exc, name, host, f"RAGWEAVE_{setting}", status, passes, _detail(exc), waited)
    if is_too_long(exc):
        too_long = f"the prompt is longer than {failure.where} can read"
        remedy = "use a model with a longer context, or lower top_k, strips and max_hops"
        return ModelError(too_long, remedy).named("prompt_too_long", where=failure.where)
    return _by_status(failure) or _by_connection(failure) or _by_kind(failure)


def _refusal_before(exc: Exception) -> BaseException:
    """Return the refusal that the client was waiting to retry when a timeout ended the wait, or `exc`."""
    if is_silence(exc):
        for cause in causes(exc):
            if status_of(cause) is not None:
                return cause
    return exc


def _by_status(failure: _Failure) -> RagweaveError | None:
    """Return the error for the HTTP status of a failure, or None."""
    _, name, host, env, status, passes, text, _ = failure
    where = failure.where
    if status is None or status < 400:
        return None
    if status in (401, 403):
        return ModelError(
            f"{host} refused the key ({status})", f"set {env}_KEY to a key that may use {name}"
        ).named("model_key_refused", host=host, status=status, env=env, name=name)
    if status == 404:
        remedy = (
            f"check {env}, and that {env}_URL ends where the server's OpenAI-compatible API begins, usually"
            " in /v1"
        )
        return ModelError(f"{host} does not know the model {name} (404)", remedy).named(
            "model_not_found", host=host, name=name, env=env
        )
    if status == 429 and passes:
        return ModelTransient(
            f"{host} is limiting requests (429)", "wait a little, or lower RAGWEAVE_CHAT_WIDTH"
        ).named("model_rate_limit", host=host)
    if status in (402, 429):
        return ModelError(
            f"the account at {host} has no credit left ({status})",
            f"top it up, or set {env} to another model",
        ).named("model_no_credit", host=host, env=env)
    if status >= 500:
        return ModelTransient(
            f"{where} failed with status {status}", "look at the server's log, or try again later"
        ).named("model_status", where=where, status=status)
    return ModelError(f"{where} refused the request ({status}): {text}", f"check {env} and the server").named(
        "model_refused_request", where=where, status=status, text=text, env=env
    )


def _by_connection(failure: _Failure) -> RagweaveError | None:
    """Return the error for a silence, a broken stream or a dropped connection, or None."""
    exc, name, host, env, where = failure.exc, failure.name, failure.host, failure.env, failure.where
    if is_silence(exc):
        seconds = f"{failure.waited:.{0 if failure.waited >= 1 else 1}f}"
        return ModelTransient(
            f"{where} gave no answer within {seconds} s", "raise RAGWEAVE_CHAT_TIMEOUT, or use a faster model"
        ).named("model_timeout", where=where, seconds=seconds)
    if isinstance(exc, Unfinished):
        remedy = f"ask again, or set {env} to a model that answers in words"
        return ModelTransient(f"{where} {failure.text}", remedy)
    if failure.passes:
        away = f"the server of {name} at {host} cannot be reached or dropped the connection"
        return ModelTransient(away, f"start it, or correct {env}_URL").named(
            "model_unreachable", name=name, host=host, env=env
        )
    return None


def _by_kind(failure: _Failure) -> RagweaveError:
    """Return the error for the type of an exception."""
    exc, name, host, env, text = failure.exc, failure.name, failure.host, failure.env, failure.text
    where, kind = failure.where, type(failure.exc).__name__
    if isinstance(exc, ImportError):
        remedy = f"install it, or serve the model over an OpenAI-compatible address and set {env}_URL"
        return ModelError(f"{name} needs a package that is not installed: {text}", remedy).named(
            "package_missing", name=name, text=text, env=env
        )
    if re.search(r"api[_ -]?key", text, re.I):
        return ModelError(
            f"there is no key for {where}", f"set {env}_KEY, or the provider's own variable"
        ).named("model_key_missing", where=where, env=env)
    if isinstance(exc, _NOT_A_REPLY) or kind == "APIResponseValidationError":
        remedy = f"check that {env}_URL is the address of an OpenAI-compatible API, usually ending in /v1"
        return ModelError(f"{host} sent something that is not a reply of a language model", remedy).named(
            "not_a_model_reply", host=host, env=env
        )
    return ModelError(f"{where} failed: {kind}: {text}", f"check {env}").named(
        "model_failed", where=where, name=kind, text=text, env=env
    )


def endless(what: str) -> ModelTransient:
    """Return the error of a reply that does not end."""
    return ModelTransient(what, "use another model, or raise RAGWEAVE_CHAT_TIMEOUT")


def causes(exc: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception, then its causes."""
    seen: set[int] = set()
    while exc is not None and id(exc) not in seen:
        seen.add(id(exc))
        yield exc
        exc = exc.__cause__ or exc.__context__


def _is_a(exc: BaseException, names: frozenset[str]) -> bool:
    return not names.isdisjoint([base.__name__ for base in type(exc).__mro__])


def _codes(exc: BaseException) -> set[str]:
    """Return the error codes and types in a response body; an error inside a stream has no status."""
    body = getattr(exc, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    codes: set[str] = set()
    if isinstance(inner, dict):
        for key in ("code", "type"):
            if inner.get(key):
                codes.add(str(inner[key]))
    return codes


def _detail(exc: BaseException) -> str:
    text = words_of(exc) if _BARE.fullmatch(str(exc)) else str(exc)
    return clip(" ".join(text.split()), 200).rstrip(".")
