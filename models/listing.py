"""The models that a server lists, and the address at which it does so."""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ragweave.models.chat_client import address, is_local, stay_here
from ragweave.models.errors import InputError, ModelError, ModelTransient

_PATIENCE = 10.0
_BODY = 4 * 2**20
"""Bytes of a list that are read."""
_MOST, _NAME = 1_000, 200
"""Names that are taken, and characters of one."""


class Listing(NamedTuple):
    """The models of a server, and the base URL that lists them."""

    url: str
    names: list[str]


class NoListError(ModelError):
    """Something answers at an address, and lists no models."""


def checked(url: str) -> str:
    """Return a base URL that somebody wrote, without blanks and slashes around it.

    Raises:
        InputError: it is none; names no part of it, which may be a key in the wrong field.
    """
    url = url.strip().rstrip("/")
    try:
        parts = urlsplit(url)
        right = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and url.isprintable()
    except ValueError:
        right = False
    if not right or " " in url:
        raise InputError(
            "this is not the address of a server",
            "write one that begins with http:// or https://, such as http://127.0.0.1:11434/v1",
        )
    return url


async def models_at(url: str, key: str = "") -> Listing:
    """Return the models that a server lists; an address without the /v1 that it needs is completed.

    Raises:
        InputError: the address is none.
        ModelTransient: nothing can be reached there.
        NoListError: what answers lists no models.
        ModelError: it refuses the key, or lies elsewhere and RAGWEAVE_OFFLINE is set.
    """
    url = checked(url)
    stay_here(f"the server at {address(url)}", address(url))
    for base in dict.fromkeys((url, f"{url.removesuffix('/v1')}/v1")):
        if (names := await _names(base, key)) is not None:
            return Listing(base, names)
    raise NoListError(
        f"what answers at {address(url)} is no model server",
        "give the address at which its OpenAI-compatible API begins, usually ending in /v1",
    )


async def _names(base: str, key: str) -> list[str] | None:
    """Return the names in a list of models, or None where there is no such list."""
    import httpx

    host = address(base)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    read = b""
    try:
        async with (
            httpx.AsyncClient(timeout=_PATIENCE, headers=headers, trust_env=not is_local(host)) as client,
            client.stream("GET", f"{base}/models") as reply,
        ):
            if reply.status_code in (401, 403):
                raise ModelError(f"{host} refused the key ({reply.status_code})", "give a key of that server")
            async for part in reply.aiter_bytes():
                read += part
                if len(read) > _BODY:
                    return None
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, ValueError) as exc:
        told = "start it, or correct the address"
        raise ModelTransient(f"no server can be reached at {host}", told) from exc
    return _read(read) if reply.status_code == 200 else None


def _read(body: bytes) -> list[str] | None:
    try:
        found: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    rows = found.get("data") if isinstance(found, dict) else None
    if not isinstance(rows, list):
        return None
    names = [row["id"] for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]
    return [name for name in dict.fromkeys(names) if name.isprintable() and 0 < len(name) <= _NAME][:_MOST]
