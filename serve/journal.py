"""What a run or a job has told so far: readers may come late, leave, and come back where they were."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
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


_TOGETHER = 0.05
"""Seconds for which an event waits for others to be kept with."""

Keep = Callable[[Sequence[Entry]], None]
"""Keeps events for good, or raises; called in a thread."""


class Journal:
    """An append-only list of events on one event loop; readers wait for what comes next.

    What is added is shown once it is kept, so that whoever saw an event finds it after any kill under its
    number.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.closed = False
        self._told: list[Entry] = []
        self._keep: Keep | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self._more = asyncio.Event()

    def kept_by(self, keep: Keep) -> None:
        """From now on keep what is added."""
        self._keep = keep
        self._closing.clear()

    def add(self, event: Mapping[str, Any]) -> None:
        """Append an event; its `type` names its kind."""
        self._tell(event)
        # What comes within a moment, or while others are being kept, goes in one transaction.
        if self._keeping is None or self._keeping.done():
            self._keeping = asyncio.create_task(self._keep_up())

    async def close(self, *last: Mapping[str, Any], keep: Keep) -> None:
        """Append the last events and keep them with all before them, in one go."""
        self._closing.set()
        if self._keeping is not None:
            await asyncio.wait([self._keeping])
        for event in last:
            self._tell(event)
        try:
            await self._show_kept(keep)
        except BaseException:
            del self._told[-len(last) :]
            raise

    def abandon(self, *last: Mapping[str, Any]) -> None:
        """Show the last events, although nothing more can be kept."""
        del self._told[len(self.entries) :]
        for event in last:
            self._tell(event)
        self.show(self._told[len(self.entries) :])

    def told(self, kinds: Sequence[str]) -> list[dict[str, Any]]:
        """Return the events of some kinds that were told so far."""
        return [json.loads(e.data) for e in self._told if e.type in kinds]

    def show(self, entries: Sequence[Entry]) -> None:
        """Let readers see further events, which are kept; nothing follows `end`."""
        self.entries += [e for e in entries if e.id > len(self.entries)]
        self._told += self.entries[len(self._told) :]  # by another server, which this one may go on for
        self.closed = bool(self.entries) and self.entries[-1].type == "end"
        self._wake()

    def forget(self) -> None:
        """Send readers away: what it told is not known any more."""
        self.closed = True
        self._wake()

    async def follow(self, after: int = 0) -> AsyncIterator[list[Entry]]:
        """Yield the entries behind number `after`, and then the new ones until the journal closes."""
        at = max(0, after)
        while True:
            if some := self.entries[at:]:
                at += len(some)
                yield some
                continue
            if self.closed:
                return
            await self._more.wait()

    def _tell(self, event: Mapping[str, Any]) -> None:
        data = json.dumps(event, ensure_ascii=False, default=str)
        self._told.append(Entry(len(self._told) + 1, str(event["type"]), data))

    async def _keep_up(self) -> None:
        assert self._keep is not None
        try:
            while len(self.entries) < len(self._told):
                with suppress(TimeoutError):
                    async with asyncio.timeout(_TOGETHER):
                        await self._closing.wait()
                        return
                await self._show_kept(self._keep)
        except Exception as error:  # tried again with the next event, and with the last one for good
            logger.warning("what a run told is not kept yet (%s)", error)

    async def _show_kept(self, keep: Keep) -> None:
        some = self._told[len(self.entries) :]
        await asyncio.to_thread(keep, some)
        self.show(some)

    def _wake(self) -> None:
        # Whoever waits holds the old event; whoever comes gets the new one.
        more, self._more = self._more, asyncio.Event()
        more.set()


def stream(journal: Journal, request: Request) -> Response:
    """Return a journal as server-sent events; `Last-Event-ID`, or `after` in the query, resumes behind an event.

    Behind the end there is nothing: 204, upon which a browser's `EventSource` comes back no more.
    """
    given = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
    if not given.isascii() or not given.isdigit() or len(given) > 9:
        raise InputError(
            "the last event id is not a number", "send the id of the last event received, or nothing"
        ).named("last_event_id_not")

    if journal.closed and journal.entries and int(given) >= len(journal.entries):
        return Response(status_code=204)

    async def events() -> AsyncIterator[bytes]:
        async for some in journal.follow(int(given)):
            yield b"".join(
                ServerSentEvent(e.data, event=e.type, id=str(e.id), sep="\n").encode() for e in some
            )

    return EventSourceResponse(events(), sep="\n", ping=15)
