"""Follow the journals of runs that other servers write, or that wait, by reading the database."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from weakref import WeakValueDictionary

from ragweave.serve.journal import Entry, Journal
from ragweave.serve.records import Records

_STOPS = 15.0
"""Seconds to wait until another server has stopped a run."""


class Followed:
    """Journals by the id of their run; a journal without readers is dropped."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._journals: WeakValueDictionary[str, Journal] = WeakValueDictionary()

    def put(self, id: str, journal: Journal) -> None:
        """Follow a journal that this server has written so far."""
        self._journals[id] = journal

    async def take(self, id: str) -> Journal:
        """Return the journal of a run with all its stored events; all readers share this one object."""
        journal = self._journals.setdefault(id, Journal())
        journal.show((await self._after({id: journal})).get(id, []))
        return journal

    async def journal(self, id: str) -> Journal:
        """Return the journal of a run."""
        return self._journals.get(id) or await self.take(id)

    async def end(self, id: str) -> None:
        """Wait until a run of another server has stopped."""
        journal = await self.journal(id)
        with suppress(TimeoutError):
            async with asyncio.timeout(_STOPS):
                async for _ in journal.follow(len(journal.entries)):
                    pass

    async def read_on(self) -> None:
        """Show the events that were stored since the last call."""
        journals: dict[str, Journal] = {}
        for id, journal in self._journals.items():
            if not journal.closed:
                journals[id] = journal
        if not journals:
            return
        found = await self._after(journals)
        for id, journal in journals.items():
            if id in found:
                journal.show(found[id])
            else:
                journal.forget()

    async def _after(self, journals: dict[str, Journal]) -> dict[str, list[Entry]]:
        """Return the stored events that journals do not have yet."""
        seen = {id: len(journal.entries) for id, journal in journals.items()}
        return await asyncio.to_thread(self._records.after, seen)
