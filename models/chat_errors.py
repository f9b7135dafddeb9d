"""Failures of chat and embedding servers, each as one sentence with its remedy."""

from __future__ import annotations

import re

from ragweave.models.errors import ModelError, ModelTransient, RagweaveError
from ragweave.models.text import clip
from ragweave.models.transient import is_transient, status_of

_TOO_LONG = re.compile(
    r"context.{0,20}(?:length|size|window)|maximum context|too many tokens|prompt is too long|exceed.{0,30}context",
    re.I,
)
_NO_KEY = re.compile(r"api[_ -]?key", re.I)
_NOT_A_REPLY = (AttributeError, KeyError, IndexError, TypeError, ValueError)


def is_too_long(exc: BaseException) -> bool:
    """Say whether the prompt did not fit into the model."""
    return type(exc).__name__.endswith("ContextOverflowError") or (
        status_of(exc) in (400, 413, 422, 500) and bool(_TOO_LONG.search(str(exc)))
    )


def explain(exc: Exception, name: str, host: str, setting: str = "CHAT", waited: float = 0) -> RagweaveError:
    """Return the typed error for a failed call.

    Args:
        exc: what the client library raised.
        name: the model's name.
        host: where it is served.
        setting: stem of the settings to name in the remedy, `CHAT` or `EMBED`.
        waited: timeout in seconds that applied.
    """
    if isinstance(exc, RagweaveError):
        return exc
    where = f"{name} at {host}"
    env = f"RAGWEAVE_{setting}"
    status = status_of(exc)
    text = str(exc)
    if is_too_long(exc):
        return ModelError(
            f"the prompt is longer than {where} can read",
            "use a model with a longer context, or lower top_k, strips and max_hops",
        )
    if status == 401 or status == 403:
        return ModelError(f"{host} refused the key ({status})", f"set {env}_KEY to a key that may use {name}")
    if status == 404:
        return ModelError(
            f"{host} does not know the model {name} (404)",
            f"check {env}, and that {env}_URL ends where the server's OpenAI-compatible API begins, usually in /v1",
        )
    if status == 429 and not is_transient(exc):
        return ModelError(
            f"the account at {host} has no credit left (429)", f"top it up, or set {env} to another model"
        )
    if status == 429:
        return ModelTransient(f"{host} is limiting requests (429)", "wait a little, or lower RAGWEAVE_CHAT_WIDTH")
    if status is not None and status >= 500:
        return ModelTransient(f"{where} failed with status {status}", "look at the server's log, or try again later")
    if status is not None and status >= 400:
        return ModelError(f"{where} refused the request ({status}): {_detail(text)}", f"check {env} and the server")
    if _is_timeout(exc):
        return ModelTransient(
            f"{where} gave no answer within {waited:g} s", f"raise RAGWEAVE_{setting}_TIMEOUT, or use a faster model"
        )
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
    if _NO_KEY.search(text):
        return ModelError(f"there is no key for {where}", f"set {env}_KEY, or the provider's own variable")
    if isinstance(exc, _NOT_A_REPLY) or type(exc).__name__ == "APIResponseValidationError":
        return ModelError(
            f"{host} sent something that is not a reply of a language model",
            f"check that {env}_URL is the address of an OpenAI-compatible API, usually ending in /v1",
        )
    return ModelError(f"{where} failed: {type(exc).__name__}: {_detail(text)}", f"check {env}")


def _is_timeout(exc: BaseException) -> bool:
    return isinstance(exc, TimeoutError) or any(
        c.__name__ in ("APITimeoutError", "TimeoutException") for c in type(exc).__mro__
    )


def _detail(text: str) -> str:
    return clip(" ".join(text.split()), 200).rstrip(".")
