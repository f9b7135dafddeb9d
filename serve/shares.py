"""Links that show an answer to whoever holds them, without a key: to read, for a while, until they are taken back.

What a link shows is a page made with the link, which holds its pictures and loads nothing. So a link leads to that page
and to nothing else of this server.
"""

from __future__ import annotations

import asyncio
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import Field

from ragweave.corpora.store.stores import stores
from ragweave.serve.access import Caller, CallerNow, Keys, hashed
from ragweave.serve.app_state import AppStateNow, Body
from ragweave.serve.database import sent
from ragweave.serve.problems import NotFound, Refused
from ragweave.serve.routes_ask import ThreadOfId
from ragweave.serve.shared_page import shared_page
from ragweave.serve.store import Store, now

router = APIRouter()

_MOST = 100
"""Links that one caller may have at once; each holds its pictures."""
_POLICY = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'none'"


class Share(Body):
    """What to show, one turn or the whole conversation, and for how many days."""

    turn: int | None = Field(None, ge=1)
    days: int = Field(7, ge=1, le=90)


@router.post("/api/threads/{id}/share", status_code=201)
async def share(
    caller: CallerNow, app_state: AppStateNow, request: Request, found: ThreadOfId, body: Share
) -> dict[str, Any]:
    """Make a link; it is told once, and kept as a hash."""
    if not await asyncio.to_thread(Keys(app_state.store).locked):
        raise Refused(
            409, "this server has no keys, so a link would open to nobody else", "make one: ragweave keys create NAME"
        )
    thread, row = found
    turns = [t for t in await asyncio.to_thread(app_state.store.turns, thread.id) if body.turn in (None, t.n)]
    title = thread.title if body.turn is None or not turns else turns[0].question
    page = await shared_page(row, title, turns)
    made = await asyncio.to_thread(_add, app_state.store, caller, thread.id, title, page, body.days)
    url = f"{app_state.address(request)}/shared/{made.pop('secret')}"
    return {**made, "url": url}


# What a key shared goes with it, one for all libraries as well.
_OPEN = "expires > :now AND made_with NOT IN (SELECT id FROM keys WHERE revoked IS NOT NULL)"
_MINE = "(:everything OR owner = :owner)"
_LIBRARY = "(SELECT library FROM threads WHERE threads.id = shares.thread)"


@router.get("/api/shares")
def list_shares(caller: CallerNow, app_state: AppStateNow) -> dict[str, Any]:
    """List the links that the caller made; whoever holds a key for all libraries sees those of all."""
    columns = "id, thread, title, created, expires"
    query = f"SELECT {columns}, {_LIBRARY} AS library FROM shares WHERE {_OPEN} AND {_MINE}"
    with app_state.store.reading() as db:
        rows = sent(db, f"{query} ORDER BY created DESC, id", now=now(), **_whose(caller)).all()
    there = stores().catalog.kept.ids()
    return {"shares": [dict(zip(columns.split(", "), row, strict=False)) for row in rows if row.library in there]}


@router.delete("/api/shares/{id}", status_code=204)
def take_back(caller: CallerNow, app_state: AppStateNow, id: str) -> None:
    """End a link; what it showed is deleted."""
    with app_state.store.writing() as db:
        done = sent(db, f"DELETE FROM shares WHERE id = :id AND {_MINE}", id=id, **_whose(caller)).rowcount
    if not done:
        raise NotFound("There is no such link", "list the links, and name one of them")


def _whose(caller: Caller) -> dict[str, Any]:
    return {"everything": caller.libraries is None, "owner": caller.id}


@router.get("/shared/{secret}", include_in_schema=False)
def shared(app_state: AppStateNow, secret: str) -> Response:
    """Send the page behind a link; one that has run out or was taken back reads like one that never was."""
    query = f"SELECT page, {_LIBRARY} AS library FROM shares WHERE hash = :hash AND {_OPEN}"
    with app_state.store.reading() as db:
        found = sent(db, query, hash=hashed(secret), now=now()).one_or_none()
    if found is None or found.library not in stores().catalog.kept.ids():
        raise NotFound("This link opens nothing", "it may have run out or been taken back; ask who sent it for another")
    headers = {"Content-Security-Policy": _POLICY, "X-Robots-Tag": "noindex"}
    return Response(found.page, media_type="text/html; charset=utf-8", headers=headers)


def _add(store: Store, caller: Caller, thread: str, title: str, page: str, days: int) -> dict[str, Any]:
    secret, id = secrets.token_urlsafe(32), secrets.token_hex(4)
    until = (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="milliseconds")
    row = {"id": id, "hash": hashed(secret), "owner": caller.id, "thread": thread, "title": title, "page": page}
    row |= {"key": caller.key, "created": now(), "expires": until}
    there = stores().catalog.kept.ids()
    with store.writing() as db:
        sent(db, f"DELETE FROM shares WHERE NOT ({_OPEN})", now=now())
        # Those that are listed: of them one can be taken back.
        held = sent(db, f"SELECT {_LIBRARY} FROM shares WHERE owner = :owner", owner=caller.id).scalars()
        if sum(library in there for library in held) >= _MOST:
            raise Refused(409, f"there are {_MOST} links already", "take one back")
        values = "(:id, :hash, :owner, :thread, :title, :page, :created, :expires, :key)"
        sent(db, f"INSERT INTO shares VALUES {values}", **row)
    return {"id": id, "title": title, "expires": until, "secret": secret}
