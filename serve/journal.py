"""Store the events of a run or a job for readers, who may join late, leave and resume."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fastapi import Request, Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from ragweave.models.errors import InputError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    """One event."""

    id: int
    type: str
    data: str


_TOGETHER = 0.1
"""Seconds for which an event waits, so that several events of a run are stored and sent at once."""
_AT_ONCE = "sentence"
"""Type of the events that do not wait: a person reads them."""

Keep = Callable[[Sequence[Entry]], Awaitable[None]]
"""Stores events durably, or raises."""


class Journal:
    """An append-only list of events on one event loop; readers wait for the next event.

    Readers see an event only after it was stored. After a kill, each event that a reader has seen still has
    the same number.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.closed = False
        self._added: list[Entry] = []
        self._keep: Keep | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self._urgent = asyncio.Event()
        self._more = asyncio.Event()

    def kept_by(self, keep: Keep) -> None:
        """Set the function that stores the events added from now on."""
        self._keep = keep
        self._closing.clear()
        self._urgent.clear()

    def add(self, event: Mapping[str, Any]) -> None:
        """Append an event; its `type` names its kind."""
        self._append(event)
        if event["type"] == _AT_ONCE:
            self._urgent.set()
        # Events that arrive shortly after, or while others are being stored, share a transaction.
        if self._keeping is None or self._keeping.done():
            self._keeping = asyncio.create_task(self._keep_up())

    async def close(self, *last: Mapping[str, Any], keep: Keep) -> None:
        """Append the last events and store them with all pending ones, in one transaction."""
        self._closing.set()
        self._urgent.set()
        if self._keeping is not None:
            await asyncio.wait([self._keeping])
        for event in last:
            self._append(event)
        try:
            await self._store_and_show(keep)
        except BaseException:
            del self._added[-len(last) :]
            raise

    def abandon(self, *last: Mapping[str, Any]) -> None:
        """Show the last events without storing them, because nothing can be stored any more."""
        del self._added[len(self.entries) :]
        for event in last:
            self._append(event)
        self.show(self._added[len(self.entries) :])

    def told(self, kinds: Sequence[str]) -> list[dict[str, Any]]:
        """Return the events of some types that were added so far."""
        events = []
        for entry in self._added:
            if entry.type in kinds:
                events.append(json.loads(entry.data))
        return events

    def show(self, entries: Sequence[Entry]) -> None:
        """Show further stored events to readers; `end` is the last one."""
        shown = len(self.entries)
        for entry in entries:
            if entry.id > shown:
                self.entries.append(entry)
        # Another server may have added these, and this one may take over from it.
        self._added += self.entries[len(self._added) :]
        self.closed = bool(self.entries) and self.entries[-1].type == "end"
        self._wake()

    def forget(self) -> None:
        """Close the journal for readers, because its events were deleted."""
        self.closed = True
        self._wake()

    async def follow(self, after: int = 0) -> AsyncIterator[list[Entry]]:
        """Yield the entries after number `after`, then new ones until the journal closes."""
        at = max(0, after)
        while True:
            new = self.entries[at:]
            if new:
                at += len(new)
                yield new
                continue
            if self.closed:
                return
            await self._more.wait()

    def _append(self, event: Mapping[str, Any]) -> None:
        data = json.dumps(event, ensure_ascii=False, default=str)
        self._added.append(Entry(len(self._added) + 1, str(event["type"]), data))

    async def _keep_up(self) -> None:
        assert self._keep is not None
        try:
            while len(self.entries) < len(self._added):
                with suppress(TimeoutError):
                    async with asyncio.timeout(_TOGETHER):
                        await self._urgent.wait()
                if self._closing.is_set():
                    return
                self._urgent.clear()
                await self._store_and_show(self._keep)
        except Exception as error:  # the next event tries again, and `close` tries a last time
            logger.warning("the events of a run could not be stored yet (%s)", error)

    async def _store_and_show(self, keep: Keep) -> None:
        new = self._added[len(self.entries) :]
        await keep(new)
        self.show(new)

    def _wake(self) -> None:
        # Waiting readers hold the old event; later readers get the new one.
        more, self._more = self._more, asyncio.Event()
        more.set()


def stream(journal: Journal, request: Request) -> Response:
    """Return a journal as server-sent events.

    The header `Last-Event-ID`, or `after` in the query, resumes after an event. After the last event the
    status is 204, which stops the reconnection of a browser's `EventSource`.

    Raises:
        InputError: the event id is not a number.
    """
    given = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
    if not given.isascii() or not given.isdigit() or len(given) > 9:
        raise InputError(
            "the last event id is not a number", "send the id of the last event received, or nothing"
        ).named("invalid_last_event_id")

    if journal.closed and journal.entries and int(given) >= len(journal.entries):
        return Response(status_code=204)

    async def events() -> AsyncIterator[bytes]:
        async for entries in journal.follow(int(given)):
            chunks = []
            for entry in entries:
                event = ServerSentEvent(entry.data, event=entry.type, id=str(entry.id), sep="\n")
                chunks.append(event.encode())
            yield b"".join(chunks)

    return EventSourceResponse(events(), sep="\n", ping=15)
