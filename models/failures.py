"""Failures of servers: which may pass, and each as one sentence with its remedy.

The clients of models try again by themselves: three tries, half a second before the second.
"""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

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
        """NetworkError RemoteProtocolError ConnectionError ChunkedEncodingError ClientPayloadError ModelTimeoutError
        ModelRateLimitError ModelAPIError""".split()
    )
    | _SILENCES
    | _CLIENTS
)
"""Base classes of dropped connections in the usual client libraries, so that none of them has to be imported."""
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
"""How servers say that a prompt is too long for its model; the wording differs, what it names does not."""
_BARE = re.compile(r"Error code: \d+\s*")
"""What OpenAI's client says of a refusal whose form it does not know."""
_SAID = 20_000
"""Characters of a refusal that are read."""
_NOT_A_REPLY = (AttributeError, KeyError, IndexError, TypeError, ValueError)


class Unfinished(ConnectionError):
    """A stream that was heard to its end and gave no whole reply: what it gave instead, in words."""


def is_transient(exc: BaseException) -> bool:
    """Say whether trying the same call again may help.

    Timeouts, dropped connections and the statuses below may pass. Never retried are other statuses, any
    ValueError (a malformed reply stays malformed), an exhausted account, an untrusted certificate, and
    Ragweave's own errors, because the calls that raise them have made their tries already.
    """
    if isinstance(exc, BaseExceptionGroup):
        return all(is_transient(e) for e in exc.exceptions)
    codes, status = _codes(exc), status_of(exc)
    malformed = isinstance(exc, ValueError) and status is None
    if not isinstance(exc, Exception) or isinstance(exc, RagweaveError) or malformed:
        return False
    if codes & _FINAL_CODES or any(isinstance(e, ssl.SSLCertVerificationError) for e in causes(exc)):
        return False
    if status is not None:
        return status in _STATUSES or (500 <= status < 600 and status != 501)
    return bool(codes & _PASSING_CODES) or _is_a(exc, _NAMES)


def is_silence(exc: BaseException) -> bool:
    """Say whether a server was waited for in vain."""
    return _is_a(exc, _SILENCES)


def broke_off(exc: BaseException, begun: bool) -> bool:
    """Say whether a reply ended too early: what failed before it had `begun` was tried again by the client."""
    by_client = not begun and (status_of(exc) is not None or _is_a(exc, _CLIENTS))
    return is_transient(exc) and not by_client and not is_silence(exc)


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
        raise ModelError(f"{what} cannot be loaded: {type(exc).__name__}: {clip(str(exc), 200)}", hint).named(
            "cannot_loaded", what=what, name=type(exc).__name__, clip=clip(str(exc), 200)
        ) from exc


def status_of(exc: BaseException) -> int | None:
    """Return the HTTP status that an exception of any client library carries, or None."""
    if (
        isinstance(exc, ValueError) and exc.args and isinstance(exc.args[0], dict)
    ):  # an error that came as a reply
        code = exc.args[0].get("code") or exc.args[0].get("status")
        return int(code) if isinstance(code, int) and 100 <= code < 600 else None
    # Of the response by name, never by its truth: a requests.Response with an error status is falsy.
    body = getattr(exc, "body", None)
    places = [getattr(exc, "status_code", None), getattr(getattr(exc, "response", None), "status_code", None)]
    places += [getattr(exc, "status", None), getattr(exc, "code", None)]
    places += [body.get("code") if isinstance(body, dict) else None]
    return next((int(place) for place in places if isinstance(place, int) and 100 <= place < 600), None)


def words_of(exc: BaseException) -> str:
    """Return what a server said of a failure, with the body of its response where the exception leaves it out."""
    body = getattr(exc, "body", None)
    said = (
        body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, default=str) if body else ""
    )
    return f"{exc} {said}"[:_SAID]


def is_too_long(exc: BaseException) -> bool:
    """Say whether the prompt did not fit into the model."""
    return type(exc).__name__.endswith("ContextOverflowError") or (
        status_of(exc) in (400, 413, 422, 500) and bool(_TOO_LONG.search(words_of(exc)))
    )


def explain(exc: Exception, name: str, host: str, setting: str = "CHAT", waited: float = 0) -> RagweaveError:
    """Return the typed error for what a client library raised when the model `name` was asked at `host`.

    The setting is the role's variable without its prefix, such as `EMBED`; `waited` are the seconds since the
    server last sent something.
    """
    if isinstance(exc, RagweaveError):
        return exc
    # A wait that was cut off while a client paused before its next try: the refusal it paused for says more.
    refusal = next((e for e in causes(exc) if status_of(e) is not None), exc) if is_silence(exc) else exc
    where, env, status, text = f"{name} at {host}", f"RAGWEAVE_{setting}", status_of(refusal), _detail(exc)
    passes = is_transient(refusal)
    if is_too_long(exc):
        told = f"the prompt is longer than {where} can read"
        remedy = "use a model with a longer context, or lower top_k, strips and max_hops"
        return ModelError(told, remedy).named("prompt_too_long", where=where)
    if status in (401, 403):
        return ModelError(
            f"{host} refused the key ({status})", f"set {env}_KEY to a key that may use {name}"
        ).named("refused_key", host=host, status=status, env=env, name=name)
    if status == 404:
        told = (
            f"check {env}, and that {env}_URL ends where the server's OpenAI-compatible API begins, usually"
            " in /v1"
        )
        return ModelError(f"{host} does not know the model {name} (404)", told).named(
            "unknown_model", host=host, name=name, env=env
        )
    if status == 429 and passes:
        return ModelTransient(
            f"{host} is limiting requests (429)", "wait a little, or lower RAGWEAVE_CHAT_WIDTH"
        ).named("limiting_requests", host=host)
    if status == 429:
        told = f"the account at {host} has no credit left (429)"
        return ModelError(told, f"top it up, or set {env} to another model").named(
            "no_credit", host=host, env=env
        )
    if status is not None and status >= 500:
        return ModelTransient(
            f"{where} failed with status {status}", "look at the server's log, or try again later"
        ).named("failed_with_status", where=where, status=status)
    if status is not None and status >= 400:
        return ModelError(
            f"{where} refused the request ({status}): {text}", f"check {env} and the server"
        ).named("refused_request", where=where, status=status, text=text, env=env)
    if is_silence(exc):
        seconds = f"{waited:.{0 if waited >= 1 else 1}f}"
        told = f"{where} gave no answer within {seconds} s"
        return ModelTransient(told, "raise RAGWEAVE_CHAT_TIMEOUT, or use a faster model").named(
            "no_answer", where=where, seconds=seconds
        )
    if isinstance(exc, Unfinished):
        return ModelTransient(f"{where} {text}", f"ask again, or set {env} to a model that answers in words")
    if passes:
        told = f"the server of {name} at {host} cannot be reached or dropped the connection"
        return ModelTransient(told, f"start it, or correct {env}_URL").named(
            "model_server_away", name=name, host=host, env=env
        )
    if isinstance(exc, ImportError):
        advice = f"install it, or serve the model over an OpenAI-compatible address and set {env}_URL"
        return ModelError(f"{name} needs a package that is not installed: {text}", advice).named(
            "package_missing", name=name, text=text, env=env
        )
    if re.search(r"api[_ -]?key", text, re.I):
        return ModelError(
            f"there is no key for {where}", f"set {env}_KEY, or the provider's own variable"
        ).named("no_key_for", where=where, env=env)
    if isinstance(exc, _NOT_A_REPLY) or type(exc).__name__ == "APIResponseValidationError":
        advice = f"check that {env}_URL is the address of an OpenAI-compatible API, usually ending in /v1"
        return ModelError(f"{host} sent something that is not a reply of a language model", advice).named(
            "not_a_model_reply", host=host, env=env
        )
    return ModelError(f"{where} failed: {type(exc).__name__}: {text}", f"check {env}").named(
        "model_failed", where=where, name=type(exc).__name__, text=text, env=env
    )


def endless(what: str) -> ModelTransient:
    """Return the error of a reply that goes on and on."""
    return ModelTransient(what, "use another model, or raise RAGWEAVE_CHAT_TIMEOUT")


def causes(exc: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and what it came from."""
    seen: set[int] = set()
    while exc is not None and id(exc) not in seen:
        seen.add(id(exc))
        yield exc
        exc = exc.__cause__ or exc.__context__


def _is_a(exc: BaseException, names: frozenset[str]) -> bool:
    return any(c.__name__ in names for c in type(exc).__mro__)


def _codes(exc: BaseException) -> set[str]:
    """Return the error codes and types in the body of a provider's reply (an error inside a stream has no status)."""
    body = getattr(exc, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    return {str(inner[k]) for k in ("code", "type") if inner.get(k)} if isinstance(inner, dict) else set()


def _detail(exc: BaseException) -> str:
    text = words_of(exc) if _BARE.fullmatch(str(exc)) else str(exc)
    return clip(" ".join(text.split()), 200).rstrip(".")
