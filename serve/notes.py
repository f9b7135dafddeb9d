"""What a reader keeps of a library: an answer as it was, a passage, words of her own. It outlives the conversation."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from ragweave.corpora.store.catalog import LibraryRow
from ragweave.models.text import clip
from ragweave.serve.access import Caller, CallerNow, NamedLibrary, library_named
from ragweave.serve.app_state import AppStateNow, Body
from ragweave.serve.database import sent
from ragweave.serve.problems import NotFound, Refused
from ragweave.serve.proof import Form, as_file, proof
from ragweave.serve.routes_ask import find_thread
from ragweave.serve.routes_library import item_of
from ragweave.serve.store import ConversationTurn, Store, now, packed

router = APIRouter(prefix="/api/notes")

_MOST = 1_000
"""Notes that one caller may keep of one library."""


class NewNote(Body):
    """Words of one's own, and what they are about: an answer, or words of an item on one of its pages."""

    library: str = Field(max_length=200)
    text: str = Field("", max_length=20_000)
    thread: str | None = Field(None, max_length=200)
    turn: int | None = Field(None, ge=1)
    item: str | None = Field(None, max_length=200)
    quote: str = Field("", max_length=5_000)
    page: int | None = Field(None, ge=1)


class NoteWords(Body):
    """Other words of a note."""

    text: str = Field(max_length=20_000)


@router.post("", status_code=201)
async def keep(caller: CallerNow, app_state: AppStateNow, body: NewNote) -> dict[str, Any]:
    """Keep a note. An answer is taken from the conversation, and the place of a passage from the library."""
    row = await library_named(caller, body.library)
    text, title, kept = body.text.strip(), "", None
    if body.thread is not None:
        thread, of_it = await find_thread(caller, app_state, body.thread)
        if of_it.id != row.id:
            raise Refused(409, f"this conversation is with the library {of_it.name!r}", "keep the note there")
        turns = await asyncio.to_thread(app_state.store.turns, thread.id)
        title, kept = next(((t.question, t.answer) for t in turns if t.n == body.turn and t.answer), ("", None))
        if kept is None:
            raise NotFound("There is no such answer", "wait until the question has been answered")
    elif body.item is not None:
        title, kept = await _passage(row, body.item, " ".join(body.quote.split()), body.page)
    elif not text:
        raise Refused(400, "an empty note is none", "write something, or name an answer or a passage")
    new = {"id": secrets.token_hex(8), "title": title, "text": text, "answer": packed(kept) or "", "created": now()}
    await asyncio.to_thread(_add, app_state.store, caller, row, new)
    return _told(new)


async def _passage(row: LibraryRow, id: str, quote: str, page: int | None) -> tuple[str, dict[str, Any]]:
    """Return words of an item in the form of an answer that cites them and says nothing."""
    item = await asyncio.to_thread(item_of, row, id)
    for place in (item["locator"], item["open"]):
        place.pop("chars", None)  # the words tell which they are
        if page is not None and place.get("page") not in (None, page):
            place["page"] = page
            place.pop("bbox", None)
    cited = {"n": 1, "quote": quote, "origin": "library", **{k: item[k] for k in ("id", "title", "locator", "open")}}
    return item["title"], {"text": "", "sentences": [], "citations": [cited], "notes": [], "mode": ""}


@router.get("")
def list_notes(
    caller: CallerNow, app_state: AppStateNow, row: NamedLibrary, q: Annotated[str, Query(max_length=500)] = ""
) -> dict[str, Any]:
    """List the caller's notes on a library, the last kept first; with `q`, those alone that hold these words."""
    notes = [note for note in _all(app_state.store, caller, row) if q.casefold() in _words(note)]
    return {"library": row.name, "notes": notes}


@router.get("/proof")
async def save_notes(
    caller: CallerNow,
    app_state: AppStateNow,
    request: Request,
    row: NamedLibrary,
    id: str | None = None,
    form: Form = "html",
) -> Response:
    """Send the notes on a library, or one of them, as a file that needs nothing else."""
    found = [note for note in await asyncio.to_thread(_all, app_state.store, caller, row) if id in (None, note["id"])]
    if not found:
        raise NotFound("There is no such note", "list the notes, and name one of them")
    title = f"Notes on {row.name}" if id is None else _name(found[0])
    turns = [_turn(n, note) for n, note in enumerate(found, 1)]
    return as_file(await proof(row, title, turns, form, app_state.address(request)), form)


@router.put("/{id}", status_code=204)
def write(caller: CallerNow, app_state: AppStateNow, id: str, body: NoteWords) -> None:
    """Give a note other words; only one that keeps an answer or a passage may have none."""
    _change(app_state.store, caller, id, "UPDATE notes SET text = :text", text=body.text.strip())


@router.delete("/{id}", status_code=204)
def forget(caller: CallerNow, app_state: AppStateNow, id: str) -> None:
    """Delete a note."""
    _change(app_state.store, caller, id, "DELETE FROM notes")


def _change(store: Store, caller: Caller, id: str, statement: str, **given: Any) -> None:
    mine = {"id": id, "owner": caller.id}
    with store.writing() as db:
        found = sent(db, "SELECT library, answer FROM notes WHERE id = :id AND owner = :owner", **mine)
        held = found.mappings().first()
        if held is None or not caller.sees(held["library"]):
            raise NotFound("There is no such note", "list the notes, and name one of them")
        if given.get("text") == "" and not held["answer"]:
            raise Refused(400, "an empty note is none", "write something, or name an answer or a passage")
        sent(db, f"{statement} WHERE id = :id AND owner = :owner", **mine, **given)


_PLACE = "owner = :owner AND library = :library"


def _add(store: Store, caller: Caller, row: LibraryRow, note: dict[str, Any]) -> None:
    place = {"owner": caller.id, "library": row.id}
    with store.writing() as db:
        if sent(db, f"SELECT count(*) FROM notes WHERE {_PLACE}", **place).scalar_one() >= _MOST:
            raise Refused(409, f"{_MOST} notes on this library are kept already", "delete one of them")
        values = "(:id, :owner, :library, :title, :text, :answer, :created)"
        sent(db, f"INSERT INTO notes VALUES {values}", **place, **note)


def _all(store: Store, caller: Caller, row: LibraryRow) -> list[dict[str, Any]]:
    query = f"SELECT id, title, text, answer, created FROM notes WHERE {_PLACE} ORDER BY created DESC, id"
    with store.reading() as db:
        return [_told(note) for note in sent(db, query, owner=caller.id, library=row.id).mappings()]


def _told(note: Mapping[Any, Any]) -> dict[str, Any]:
    return {**note, "answer": json.loads(note["answer"]) if note["answer"] else None}


def _words(note: Mapping[str, Any]) -> str:
    """Return what can be searched of a note, in one case."""
    answer = note["answer"] or {"text": "", "citations": []}
    quotes = [text for c in answer["citations"] for text in (c["title"], c["quote"])]
    return "\n".join((note["title"], note["text"], answer["text"], *quotes)).casefold()


def _name(note: Mapping[str, Any]) -> str:
    """Return the question or the source that a note is about, or how its own words begin."""
    return note["title"] or clip(note["text"].split("\n", 1)[0], 80)


def _turn(n: int, note: Mapping[str, Any]) -> ConversationTurn:
    """Return a note as the proof shows a turn: her words below a kept answer, or in place of one."""
    text = note["text"]
    answer = note["answer"] or {"sentences": [], "citations": [], "notes": [], "mode": "", "text": ""}
    beside = {"notes": [*answer["notes"], text]} if answer["text"] and text else {"text": answer["text"] or text}
    return ConversationTurn(n, "", "", _name(note), "done", {**answer, **beside}, None, note["created"], [], 0)
