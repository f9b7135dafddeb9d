"""What a client holds already is not sent again, and a range that says nothing is none (RFC 9110, 13 and 14)."""

from __future__ import annotations

import re
from email.utils import parsedate

from fastapi import Request, Response

_PART = re.compile(r"(\d{0,18})-(\d{0,18})")


def unless_held(request: Request, response: Response) -> Response:
    """Return a response, or 304 where the client holds what it would send.

    Its headers go along: a browser keeps them in place of those that it has.
    """
    if not _held(request, response):
        return response
    headers = {k: v for k, v in response.headers.items() if k not in ("content-length", "content-range")}
    return Response(status_code=304, headers=headers)


def _held(request: Request, response: Response) -> bool:
    if given := request.headers.getlist("if-none-match"):  # then the date does not count
        tags = {tag.strip().removeprefix("W/") for tag in ",".join(given).split(",")}
        return "*" in tags or response.headers.get("etag") in tags
    since = parsedate(request.headers.get("if-modified-since", ""))
    changed = parsedate(response.headers.get("last-modified", ""))
    return since is not None and changed is not None and since >= changed


def without_vain_range(request: Request) -> None:
    """Take a `Range` that says nothing out of a request, so that a `FileResponse` sends all."""
    if not is_range(request.headers.get("range", "")):
        request.scope["headers"] = [(k, v) for k, v in request.scope["headers"] if k != b"range"]


def is_range(header: str) -> bool:
    """Whether it is well formed, and in bytes."""
    unit, _, parts = header.partition("=")
    found = [_PART.fullmatch(part.strip()) for part in parts.split(",")]
    bounds = [(m[1], m[2]) for m in found if m]
    vain = [a for a, b in bounds if not a + b or (a and b and int(a) > int(b))]
    return unit.strip().lower() == "bytes" and len(bounds) == len(found) and not vain
