"""List the models of a server and complete its address."""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ragweave.models.chat_client import address, is_local, stay_here
from ragweave.models.errors import InputError, ModelError, ModelTransient

_PATIENCE = 10.0
_BODY = 4 * 2**20
"""Most bytes of a list that are read."""
_MOST, _NAME = 1_000, 200
"""Most names in a list, and most characters of a name."""


class Listing(NamedTuple):
    """The models of a server, and the base URL that lists them."""

    url: str
    names: list[str]


class NoListError(ModelError):
    """A server answers at an address but lists no models."""


def checked(url: str) -> str:
    """Return a base URL without blanks around it and slashes at its end.

    Raises:
        InputError: if it is no URL. The message shows no part of it, because it may be a key.
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
    """Return the models that a server lists; an address that lacks its /v1 is completed.

    Raises:
        InputError: if the address is no URL.
        ModelTransient: if no server can be reached.
        NoListError: if the server lists no models.
        ModelError: if it refuses the key, or is on another machine and RAGWEAVE_OFFLINE is set.
    """
    url = checked(url)
    stay_here(f"the server at {address(url)}", address(url))
    for base in dict.fromkeys((url, f"{url.removesuffix('/v1')}/v1")):
        names = await _names(base, key)
        if names is not None:
            return Listing(base, names)
    raise NoListError(
        f"what answers at {address(url)} is no model server",
        "give the address at which its OpenAI-compatible API begins, usually ending in /v1",
    )


async def _names(base: str, key: str) -> list[str] | None:
    """Return the names in the list of models, or None if the server has no such list."""
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
        unreachable = f"no server can be reached at {host}"
        raise ModelTransient(unreachable, "start it, or correct the address") from exc
    return _read(read) if reply.status_code == 200 else None


def _read(body: bytes) -> list[str] | None:
    try:
        found: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    rows = found.get("data") if isinstance(found, dict) else None
    if not isinstance(rows, list):
        return None
    names: dict[str, None] = {}
    for row in rows:
        name = row.get("id") if isinstance(row, dict) else None
        if isinstance(name, str) and name.isprintable() and 0 < len(name) <= _NAME:
            names.setdefault(name)
    return list(names)[:_MOST]
