"""Handle conditional requests and malformed ranges (RFC 9110, sections 13 and 14)."""

from __future__ import annotations

import re
from email.utils import parsedate

from fastapi import Request, Response

_PART = re.compile(r"(\d{0,18})-(\d{0,18})")


def unless_held(request: Request, response: Response) -> Response:
    """Return a response, or 304 if the client already has its content.

    The 304 carries the headers of the response, because a browser updates its stored headers from it.
    """
    if not _held(request, response):
        return response
    headers = dict(response.headers)
    headers.pop("content-length", None)
    headers.pop("content-range", None)
    return Response(status_code=304, headers=headers)


def _held(request: Request, response: Response) -> bool:
    """Return whether the client has the content, by its entity tags or else by its date."""
    given = request.headers.getlist("if-none-match")
    if given:
        tags = [tag.strip().removeprefix("W/") for tag in ",".join(given).split(",")]
        return "*" in tags or response.headers.get("etag") in tags
    since = parsedate(request.headers.get("if-modified-since", ""))
    changed = parsedate(response.headers.get("last-modified", ""))
    return since is not None and changed is not None and since >= changed


def without_vain_range(request: Request) -> None:
    """Remove a malformed `Range` from a request, so that a `FileResponse` sends the whole file."""
    if is_range(request.headers.get("range", "")):
        return
    headers = []
    for name, value in request.scope["headers"]:
        if name != b"range":
            headers.append((name, value))
    request.scope["headers"] = headers


def is_range(header: str) -> bool:
    """Return whether a `Range` header is well formed and in bytes."""
    unit, _, parts = header.partition("=")
    if unit.strip().lower() != "bytes":
        return False
    return all(map(_is_part, parts.split(",")))


def _is_part(part: str) -> bool:
    """Return whether one part of a range, such as "0-99" or "-500", is well formed."""
    bounds = _PART.fullmatch(part.strip())
    if bounds is None:
        return False
    first, last = bounds.groups()
    if first and last:
        return int(first) <= int(last)
    return bool(first or last)
