"""Journals that are read here and written by another server, or that wait: read on from the tables."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from weakref import WeakValueDictionary

from ragweave.serve.journal import Entry, Journal
from ragweave.serve.records import Records

_STOPS = 15.0
"""Seconds in which another server stops what it is asked to stop."""


class Followed:
    """Journals by the id of their run; one that nobody reads any more is forgotten."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._journals: WeakValueDictionary[str, Journal] = WeakValueDictionary()

    def put(self, id: str, journal: Journal) -> None:
        """Read a journal on that this server has written so far."""
        self._journals[id] = journal

    async def take(self, id: str) -> Journal:
        """Return the journal of a run with all that was told; whoever comes now gets this one, too, and no other."""
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
        """Show what was told since."""
        if journals := {id: journal for id, journal in self._journals.items() if not journal.closed}:
            found = await self._after(journals)
            for id, journal in journals.items():
                if id in found:
                    journal.show(found[id])
                else:
                    journal.forget()

    async def _after(self, journals: dict[str, Journal]) -> dict[str, list[Entry]]:
        return await asyncio.to_thread(
            self._records.after, {id: len(j.entries) for id, j in journals.items()}
        )
