"""Errors over HTTP: one JSON problem (RFC 9457) that says what happened and what to do about it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match

from ragweave.corpora.store.folders import of_the_disk
from ragweave.models.errors import InputError, RagweaveError
from ragweave.serve.counters import ERRORS

logger = logging.getLogger(__name__)


class Refused(RagweaveError):
    """A request that is not answered, with the status that says so.

    `code` names the kind of error, default: that of the status; `after` are seconds after which to try again.
    """

    def __init__(self, status: int, what: str, remedy: str, code: str = "", after: int = 0) -> None:
        super().__init__(what, remedy)
        self.status, self.code, self.after = status, code or _CODES.get(status, "http"), after


class Left(Exception):
    """The client went away before its answer was there."""


class NotFound(Refused):
    """There is no such thing, or it belongs to somebody else; both read the same."""

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
"""Type and code of clients of the OpenAI API, by status."""
_HTTP = {
    400: ("the body cannot be read", "send one JSON object in UTF-8, or a form with the files"),
    404: ("there is nothing at this address", "see docs/api.md for what there is"),
    405: ("this address does not take that method", "see docs/api.md for what it takes"),
    413: ("the request is too large", "send less"),
}


def foreseen(error: Exception) -> RagweaveError:
    """Give every error a sentence; an unforeseen one gives nothing of itself away."""
    if isinstance(error, RagweaveError):
        return error
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        if isinstance(first, str) or first["type"] == "json_invalid":  # LangServe says it in words
            return InputError("the body is not valid JSON", "send one JSON object").named(
                "body_not_valid_json"
            )
        return invalid(first["loc"], str(first["msg"]))
    if isinstance(error, HTTPException):
        if str(error.detail).startswith("Too many files"):  # the form is read by Starlette
            return InputError("more than 1,000 files came in one upload", "send them in parts").named(
                "more_than_files_came"
            )
        return Refused(error.status_code, *_HTTP.get(error.status_code, (str(error.detail), "")))
    unknown = Refused(500, "something unexpected went wrong in the server", "its log has the details").named(
        "something_unexpected_went_wrong"
    )
    return of_the_disk(error) or unknown


def invalid(location: Sequence[int | str], message: str) -> Refused:
    """Return the error of one member of a request that cannot be used."""
    kind, *inside = location or ("body",)
    name = ".".join(str(part) for part in (inside if kind in ("body", "query", "path") else location))
    message = message.removeprefix("Value error, ")
    if message == "Field required" and name:
        return Refused(422, f"{name} is missing", f"send a value for {name}; docs/api.md has the form").named(
            "value_missing", name=name
        )
    return Refused(422, f"{name or 'the body'}: {message[:1].lower() + message[1:]}"[:500], "see docs/api.md")


def too_deep() -> InputError:
    """Return the error of a body of too many lists and objects within each other."""
    return InputError(
        "the body is nested too deeply", "send fewer lists and objects within each other"
    ).named("body_nested_too_deeply")


def problem(error: Exception, failed: str = "") -> dict[str, Any]:
    """Return an error as the members of a problem; the log is told what `failed` where nobody foresaw it."""
    found = foreseen(error)
    if failed and found.code == "unexpected":
        logger.error("%s failed", failed, exc_info=error)
    return {
        "type": f"urn:ragweave:problem:{found.code}",
        "title": found.what[:1].upper() + found.what[1:],
        "status": found.status,
        "detail": str(found)[:1].upper() + str(found)[1:],
        "code": found.code,
        "remedy": found.remedy,
        "key": found.key,
        "values": found.values,
    }


def openai_error(error: Exception) -> dict[str, Any]:
    """Return an error in the form that clients of the OpenAI API know."""
    found = problem(error)
    usual = "server_error" if found["status"] >= 500 else "invalid_request_error"
    kind, code = _OPENAI.get(found["status"], (usual, ""))
    return {"error": {"message": found["detail"], "type": kind, "param": None, "code": code or found["code"]}}


def response(error: Exception, request_id: str, path: str = "") -> JSONResponse:
    """Return an error that ended a request as an HTTP answer; under /v1 in the form of the OpenAI API."""
    body = problem(error, f"request {request_id}")
    ERRORS.labels(body["code"]).inc()
    status, headers = body["status"], {}
    if isinstance(error, Refused) and error.after:
        headers["Retry-After"] = str(error.after)
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if status == 408:
        headers["Connection"] = "close"  # what is still to come of the body is not waited for
    if path.startswith("/v1/"):
        return JSONResponse(openai_error(error), status_code=status, headers=headers)
    if request_id:
        body["request"] = request_id
    return JSONResponse(body, status_code=status, media_type="application/problem+json", headers=headers)


_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


def _takes(request: Request, method: str) -> bool:
    """Whether a route of the app takes a method at the address of a request."""
    return any(r.matches({**request.scope, "method": method})[0] is Match.FULL for r in request.app.routes)


def install(app: FastAPI) -> None:
    """Answer every error of an app with a problem."""

    async def answer(request: Request, error: Exception) -> Response:
        if isinstance(error, Left):
            return Response(status_code=499)
        told = response(error, str(getattr(request.state, "request_id", "")), request.url.path)
        if told.status_code == 405:
            taken = [m for m in _METHODS if _takes(request, m)]
            told.headers["Allow"] = ", ".join(
                taken or _METHODS[:2]
            )  # no route leads to the files of the page
        return told

    for kind in (Left, RagweaveError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, answer)
