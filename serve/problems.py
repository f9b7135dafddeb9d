"""Errors over HTTP: one JSON problem (RFC 9457) that says what happened and what to do about it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from ragweave.models.errors import InputError, RagweaveError

logger = logging.getLogger(__name__)

PROBLEM = "application/problem+json"


class Unauthorised(RagweaveError):
    """No key, or one that is wrong or revoked."""

    code = "unauthorised"
    status = 401


class Forbidden(RagweaveError):
    """The caller is known and may not do this."""

    code = "forbidden"
    status = 403


class NotFound(RagweaveError):
    """There is no such thing, or it belongs to somebody else; both read the same."""

    code = "not_found"
    status = 404


class Conflict(RagweaveError):
    """The request does not fit the state that the thing is in."""

    code = "conflict"
    status = 409


class TooLarge(RagweaveError):
    """The request has more bytes than are allowed."""

    code = "too_large"
    status = 413


class TooMany(RagweaveError):
    """The caller asks too much at once.

    Args:
        what: what went wrong.
        remedy: what to do about it.
        after: seconds after which to try again.
    """

    code = "too_many"
    status = 429

    def __init__(self, what: str, remedy: str, after: int = 1) -> None:
        super().__init__(what, remedy)
        self.after = after


def problem(error: Exception) -> dict[str, Any]:
    """Return an error as the members of a problem; an unforeseen one gives nothing of itself away."""
    if not isinstance(error, RagweaveError):
        error = RagweaveError("something unexpected went wrong in the server", "its log has the details")
        error.code, error.status = "unexpected", 500
    return {
        "type": f"urn:ragweave:problem:{error.code}",
        "title": error.what[:1].upper() + error.what[1:],
        "status": error.status,
        "detail": str(error)[:1].upper() + str(error)[1:],
        "code": error.code,
        "remedy": error.remedy,
    }


def openai_error(error: Exception) -> dict[str, Any]:
    """Return an error in the form that clients of the OpenAI API know."""
    found = problem(error)
    status = int(found["status"])
    kinds = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
    codes = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
    return {
        "error": {
            "message": found["detail"],
            "type": kinds.get(status, "server_error" if status >= 500 else "invalid_request_error"),
            "param": None,
            "code": codes.get(status, found["code"]),
        }
    }


def response(error: Exception, request_id: str = "", path: str = "") -> JSONResponse:
    """Return an error as an HTTP answer; under /v1 in the form of the OpenAI API."""
    body = problem(error)
    headers = {"Retry-After": str(error.after)} if isinstance(error, TooMany) else {}
    if body["status"] == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if body["status"] == 408:
        headers["Connection"] = "close"  # what is still to come of the body is not waited for
    if path.startswith("/v1/"):
        return JSONResponse(openai_error(error), status_code=body["status"], headers=headers)
    if request_id:
        body["request"] = request_id
    return JSONResponse(body, status_code=body["status"], media_type=PROBLEM, headers=headers)


def from_validation(error: RequestValidationError) -> RagweaveError:
    """Say in one sentence what is wrong with a request."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return InputError("the body is not valid JSON", "send one JSON object")
    return invalid(first["loc"], str(first["msg"]))


def invalid(location: Sequence[int | str], message: str) -> RagweaveError:
    """Return the error of one member of a request that cannot be used."""
    name = ".".join(str(part) for part in location if part not in ("body", "query", "path"))
    message = message.removeprefix("Value error, ")
    found = InputError(f"{name or 'the body'}: {message[:1].lower() + message[1:]}"[:500], "see docs/api.md")
    found.status = 422
    return found


def from_http(error: HTTPException) -> RagweaveError:
    """Give an error of the framework a sentence."""
    sentences = {
        404: ("there is nothing at this address", "see docs/api.md for what there is"),
        405: ("this address does not take that method", "see docs/api.md for what it takes"),
        413: ("the request is too large", "send less"),
    }
    what, remedy = sentences.get(error.status_code, (str(error.detail), ""))
    found = RagweaveError(what, remedy)
    found.status, found.code = error.status_code, {404: "not_found", 405: "method"}.get(error.status_code, "http")
    return found


def install(app: FastAPI) -> None:
    """Answer every error of an app with a problem."""

    async def named(request: Request, error: Exception) -> JSONResponse:
        return response(error, request_id(request), request.url.path)

    async def refused(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return response(from_validation(error), request_id(request), request.url.path)

    async def http(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        return response(from_http(error), request_id(request), request.url.path)

    async def unforeseen(request: Request, error: Exception) -> JSONResponse:
        logger.error("request %s failed", request_id(request), exc_info=error)
        return response(error, request_id(request), request.url.path)

    app.add_exception_handler(RagweaveError, named)
    app.add_exception_handler(RequestValidationError, refused)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(Exception, unforeseen)


def request_id(request: Request) -> str:
    """Return the id under which a request stands in the log."""
    return str(getattr(request.state, "request_id", ""))
