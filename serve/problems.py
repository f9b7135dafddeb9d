"""Turn errors into JSON problems (RFC 9457) that say what happened and what to do about it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.folders import of_the_disk
from ragweave.models.errors import InputError, RagweaveError, StorageError
from ragweave.serve.counters import ERRORS

logger = logging.getLogger(__name__)


class Refused(RagweaveError):
    """A request that is refused with an HTTP status.

    `code` names the kind of error; by default it follows from the status. `after` is the number of seconds
    after which to try again.
    """

    def __init__(self, status: int, what: str, remedy: str, code: str = "", after: int = 0) -> None:
        super().__init__(what, remedy)
        self.status, self.code, self.after = status, code or _CODES.get(status, "http"), after


class Left(Exception):
    """The client disconnected before its answer was ready."""


class NotFound(Refused):
    """The object does not exist, or belongs to another caller; both read the same."""

    def __init__(self, what: str, remedy: str, code: str = "") -> None:
        super().__init__(404, what, remedy, code)


_CODES = {
    400: "input", 401: "unauthorised", 403: "forbidden", 404: "not_found", 405: "method", 409: "conflict",
    413: "too_large", 415: "media_type", 421: "forbidden", 422: "input", 429: "too_many", 500: "unexpected",
}  # fmt: skip
_OPENAI = {
    401: ("authentication_error", "invalid_api_key"),
    403: ("permission_error", ""),
    429: ("rate_limit_error", "rate_limit_exceeded"),
}
"""Type and code of an error in the OpenAI API, by status."""
_HTTP = {
    400: ("the body cannot be read", "send one JSON object in UTF-8, or a form with the files"),
    404: ("there is nothing at this address", "see docs/api.md for what there is"),
    405: ("this address does not take that method", "see docs/api.md for what it takes"),
    413: ("the request is too large", "send less"),
}


def foreseen(error: Exception) -> RagweaveError:
    """Return an error with a message for the client; an unexpected one reveals no details."""
    if isinstance(error, RagweaveError):
        return error
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        if isinstance(first, str) or first["type"] == "json_invalid":  # LangServe raises a string
            return InputError("the body is not valid JSON", "send one JSON object").named("invalid_json")
        return invalid(first["loc"], str(first["msg"]))
    if isinstance(error, HTTPException):
        if str(error.detail).startswith("Too many files"):  # raised by Starlette's form parser
            return InputError("more than 1,000 files came in one upload", "send them in parts").named(
                "too_many_files"
            )
        return Refused(error.status_code, *_HTTP.get(error.status_code, (str(error.detail), "")))
    unknown = Refused(500, "something unexpected went wrong in the server", "its log has the details").named(
        "internal_error"
    )
    return of_the_disk(error) or unknown


def invalid(location: Sequence[int | str], message: str) -> Refused:
    """Return the error of an invalid member of a request."""
    kind, *inside = location or ("body",)
    member = inside if kind in ("body", "query", "path") else location
    name = ".".join(map(str, member))
    message = message.removeprefix("Value error, ")
    if message == "Field required" and name:
        return Refused(422, f"{name} is missing", f"send a value for {name}; docs/api.md has the form").named(
            "value_missing", name=name
        )
    sentence = message[:1].lower() + message[1:]
    return Refused(422, f"{name or 'the body'}: {sentence}"[:500], "see docs/api.md")


def too_deep() -> InputError:
    """Return the error of a body with too many nested lists and objects."""
    return InputError(
        "the body is nested too deeply", "send fewer lists and objects within each other"
    ).named("body_too_deep")


def problem(error: Exception, failed: str = "") -> dict[str, Any]:
    """Return an error as the members of a problem; with `failed`, log an unexpected one."""
    found = foreseen(error)
    if failed and found.code == "unexpected":
        logger.error("%s failed", failed, exc_info=error)
    elif failed and isinstance(found, StorageError):
        logger.warning("%s failed: %s", failed, found)
    return {
        "type": f"urn:ragweave:problem:{found.code}",
        "title": _public(found, found.what),
        "status": found.status,
        "detail": _public(found, str(found)),
        "code": found.code,
        "remedy": found.remedy,
        "key": found.key,
        "values": found.values,
    }


def _public(error: RagweaveError, text: str) -> str:
    """Return a text of an error for any caller: without the home's place and the database's address."""
    if isinstance(error, StorageError) and error.inside:
        text = text.replace(f" ({error.inside})", "")
    home = corpora_settings().home
    if home.is_absolute() and len(home.parts) > 1:
        text = text.replace(str(home), "RAGWEAVE_HOME")
    return text[:1].upper() + text[1:]


def openai_error(error: Exception) -> dict[str, Any]:
    """Return an error in the form of the OpenAI API."""
    found = problem(error)
    usual = "server_error" if found["status"] >= 500 else "invalid_request_error"
    kind, code = _OPENAI.get(found["status"], (usual, ""))
    return {"error": {"message": found["detail"], "type": kind, "param": None, "code": code or found["code"]}}


def response(error: Exception, request_id: str, path: str = "") -> JSONResponse:
    """Return the HTTP response for an error; under /v1 in the form of the OpenAI API."""
    body = problem(error, f"request {request_id}")
    ERRORS.labels(body["code"]).inc()
    status, headers = body["status"], {}
    if isinstance(error, Refused) and error.after:
        headers["Retry-After"] = str(error.after)
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if status == 408:
        headers["Connection"] = "close"  # do not wait for the rest of the body
    if path.startswith("/v1/"):
        return JSONResponse(openai_error(error), status_code=status, headers=headers)
    if request_id:
        body["request"] = request_id
    return JSONResponse(body, status_code=status, media_type="application/problem+json", headers=headers)


_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


def _takes(request: Request, method: str) -> bool:
    """Return whether the app has a route for a method at the address of a request."""
    scope = {**request.scope, "method": method}
    for route in request.app.routes:
        match, _ = route.matches(scope)
        if match is Match.FULL:
            return True
    return False


def install(app: FastAPI) -> None:
    """Register handlers that turn each error of an app into a problem."""

    async def answer(request: Request, error: Exception) -> Response:
        if isinstance(error, Left):
            return Response(status_code=499)
        answered = response(error, str(getattr(request.state, "request_id", "")), request.url.path)
        if answered.status_code == 405:
            allowed = [method for method in _METHODS if _takes(request, method)]
            # The static files of the page have no route.
            answered.headers["Allow"] = ", ".join(allowed or _METHODS[:2])
        return answered

    for kind in (Left, RagweaveError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, answer)
