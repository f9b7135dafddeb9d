"""Questions that nothing answered yet: searched again, without a chat model, when their library has changed.

A question is told of once the closest passage stands in a source that was indexed after the reader began to watch.

Whoever lists them sets this off, as the page does after each indexing; so it does not matter which process indexed.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.stores import stores
from ragweave.nodes.condense import check_question
from ragweave.serve.access import Caller, CallerNow, NamedLibrary, library_named
from ragweave.serve.app_state import AppState, AppStateNow, Body
from ragweave.serve.database import sent
from ragweave.serve.direct import answering, messages_of
from ragweave.serve.problems import NotFound, Refused
from ragweave.serve.quotes import best_of
from ragweave.serve.store import Store, now
from ragweave.serve.tools import answer_of

router = APIRouter(prefix="/api/watches")

_MOST = 20
"""Questions that one caller may watch in one library."""


class Watch(Body):
    """A question to a library."""

    question: str
    library: str = Field(max_length=200)


@router.post("", status_code=201)
async def watch(caller: CallerNow, app_state: AppStateNow, body: Watch) -> dict[str, Any]:
    """Watch a question; one that is watched already is watched anew, under its id."""
    check_question(body.question)
    row = await library_named(caller, body.library)
    id = await asyncio.to_thread(_add, app_state.store, caller, row, body.question.strip())
    return {"id": id, "question": body.question.strip()}


@router.get("")
async def list_watches(caller: CallerNow, app_state: AppStateNow, row: NamedLibrary) -> dict[str, Any]:
    """List what is watched in a library, each with what is known now, after asking again where the library changed."""
    for id, question, since in await asyncio.to_thread(_due, app_state.store, caller, row):
        known = await _ask(app_state, row, question, since)
        await asyncio.to_thread(_keep, app_state.store, id, row.generation, known)
    return {"library": row.name, "watches": await asyncio.to_thread(_all, app_state.store, caller, row)}


@router.delete("/{id}", status_code=204)
def forget(caller: CallerNow, app_state: AppStateNow, id: str) -> None:
    """Watch a question no longer."""
    with app_state.store.writing() as db:
        done = sent(db, "DELETE FROM watches WHERE id = :id AND owner = :owner", id=id, owner=caller.id).rowcount
    if not done:
        raise NotFound("There is no such question", "list what is watched, and name one of it")


async def _ask(app_state: AppState, row: LibraryRow, question: str, since: str) -> str:
    """Return the closest passage in words, where its source was indexed after `since`; else nothing."""
    asked = messages_of([("user", question)])
    answer = await answer_of(answering(app_state.slots, row, asked, "agent", {"mode": "extractive", "web": "off"}))
    said = next((s for s in answer["sentences"] if s["citations"]), None)
    if said is None:
        return ""
    cited = next(c for c in answer["citations"] if c["n"] == said["citations"][0])
    sources = await asyncio.to_thread(stores().catalog.sources, row.id, [cited["open"].get("source", "")])
    if not any(s.indexed_at[:19] >= since[:19] for s in sources):  # to the second
        return ""
    return f"{cited['title']}: {best_of(said)}"


_PLACE = "owner = :owner AND library = :library"


def _add(store: Store, caller: Caller, row: LibraryRow, question: str) -> str:
    new: dict[str, Any] = {"owner": caller.id, "library": row.id, "question": question}
    with store.writing() as db:
        others = sent(db, f"SELECT count(*) FROM watches WHERE {_PLACE} AND question <> :question", **new).scalar_one()
        if others >= _MOST:
            raise Refused(409, f"{_MOST} questions are watched already", "watch one of them no longer")
        new |= {"id": secrets.token_hex(8), "at": now(), "generation": row.generation}
        values = "(:id, :owner, :library, :question, :at, :generation, NULL)"
        anew = "(owner, library, question) DO UPDATE SET created = :at, generation = :generation, known = NULL"
        return str(sent(db, f"INSERT INTO watches VALUES {values} ON CONFLICT {anew} RETURNING id", **new).scalar_one())


def _due(store: Store, caller: Caller, row: LibraryRow) -> list[tuple[str, str, str]]:
    query = f"SELECT id, question, created FROM watches WHERE {_PLACE} AND known IS NULL AND generation <> :generation"
    with store.reading() as db:
        found = sent(db, query, owner=caller.id, library=row.id, generation=row.generation)
        return [(r.id, r.question, r.created) for r in found]


def _keep(store: Store, id: str, generation: int, known: str) -> None:
    change = "UPDATE watches SET generation = :generation, known = :known WHERE id = :id"
    with store.writing() as db:
        sent(db, change, generation=generation, known=known or None, id=id)


def _all(store: Store, caller: Caller, row: LibraryRow) -> list[dict[str, Any]]:
    query = f"SELECT id, question, known, created FROM watches WHERE {_PLACE} ORDER BY created, id"
    with store.reading() as db:
        return [dict(r) for r in sent(db, query, owner=caller.id, library=row.id).mappings()]
