"""Questions that nothing answered yet: asked again by the small mind when their library has changed.

Whoever lists them sets this off, as the page does after each indexing; so it does not matter which process indexed.
"""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from ragweave.corpora.store.catalog import LibraryRow
from ragweave.nodes.condense import check_question
from ragweave.serve.access import Caller, CallerNow, library_named
from ragweave.serve.desk import Body, Desk, DeskNow
from ragweave.serve.direct import answering, messages_of
from ragweave.serve.problems import NotFound, Refused
from ragweave.serve.store import Store, now

router = APIRouter(prefix="/api/watches")

_MOST = 20
"""Questions that one caller may watch in one library."""
_CONTEXT = {"mind": "small", "web": "off"}


class Watch(Body):
    """A question to a library."""

    question: str
    library: str = Field(max_length=200)


@router.post("", status_code=201)
async def watch(caller: CallerNow, desk: DeskNow, body: Watch) -> dict[str, Any]:
    """Watch a question; one that is watched already is watched anew."""
    check_question(body.question)
    row = await library_named(caller, body.library)
    id = await asyncio.to_thread(_add, desk.store, caller, row, body.question.strip())
    return {"id": id, "question": body.question.strip()}


@router.get("")
async def list_watches(caller: CallerNow, desk: DeskNow, library: str) -> dict[str, Any]:
    """List what is watched in a library, each with what is known now, after asking again where the library changed."""
    row = await library_named(caller, library)
    for id, question in await asyncio.to_thread(_due, desk.store, caller, row):
        known = await _ask(desk, row, question)
        await asyncio.to_thread(_keep, desk.store, id, row.generation, known)
    return {"library": row.name, "watches": await asyncio.to_thread(_all, desk.store, caller, row)}


@router.delete("/{id}", status_code=204)
async def forget(caller: CallerNow, desk: DeskNow, id: str) -> None:
    """Watch a question no longer."""
    if not await asyncio.to_thread(_remove, desk.store, caller, id):
        raise NotFound("There is no such question", "list what is watched, and name one of it")


async def _ask(desk: Desk, row: LibraryRow, question: str) -> str:
    """Return what the small mind answers now; nothing where it is not sure."""
    asked = messages_of([("user", question)])
    events = answering(desk.slots, row, asked, "agent", _CONTEXT, desk.settings.run_seconds)
    async with aclosing(events):
        async for event in events:
            if event["type"] == "answer":
                return "" if event["answer"]["abstained"] else str(event["answer"]["text"])
    return ""


def _add(store: Store, caller: Caller, row: LibraryRow, question: str) -> str:
    place = (caller.id, row.id)
    with store.open() as db:
        db.execute("DELETE FROM watches WHERE owner = ? AND library = ? AND question = ?", (*place, question))
        held = db.execute("SELECT count(*) FROM watches WHERE owner = ? AND library = ?", place).fetchone()[0]
        if held >= _MOST:
            raise Refused(409, f"{_MOST} questions are watched already", "watch one of them no longer")
        id = secrets.token_hex(8)
        db.execute("INSERT INTO watches VALUES (?, ?, ?, ?, ?, ?, NULL)", (id, *place, question, now(), row.generation))
    return id


def _due(store: Store, caller: Caller, row: LibraryRow) -> list[sqlite3.Row]:
    with store.open() as db:
        return db.execute(
            "SELECT id, question FROM watches WHERE owner = ? AND library = ? AND known IS NULL AND generation <> ?",
            (caller.id, row.id, row.generation),
        ).fetchall()


def _keep(store: Store, id: str, generation: int, known: str) -> None:
    with store.open() as db:
        db.execute("UPDATE watches SET generation = ?, known = ? WHERE id = ?", (generation, known or None, id))


def _all(store: Store, caller: Caller, row: LibraryRow) -> list[dict[str, Any]]:
    with store.open() as db:
        rows = db.execute(
            "SELECT id, question, known, created FROM watches WHERE owner = ? AND library = ? ORDER BY created, id",
            (caller.id, row.id),
        ).fetchall()
    return [dict(r) for r in rows]


def _remove(store: Store, caller: Caller, id: str) -> bool:
    with store.open() as db:
        return bool(db.execute("DELETE FROM watches WHERE id = ? AND owner = ?", (id, caller.id)).rowcount)


def forget_library(store: Store, library: str) -> None:
    """Delete what is watched in a library, by whomever."""
    with store.open() as db:
        db.execute("DELETE FROM watches WHERE library = ?", (library,))
