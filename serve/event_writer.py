"""Store the events of all runs and jobs of a server; those of one moment share a transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

from ragweave.serve.journal import Entry
from ragweave.serve.records import Record, Records, Status, Write

_Waiting = tuple[Write, "asyncio.Future[None]"]


class EventWriter:
    """Collects writes while a transaction is under way, and executes them in the next one."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._waiting: list[_Waiting] = []
        self._writing: asyncio.Task[None] | None = None

    async def tell(self, id: str, entries: Sequence[Entry]) -> None:
        """Store events of a run or a job of this server.

        Raises:
            RunLost: it does not belong to this server any more.
        """
        await self._written(partial(self._records.add_events, id=id, entries=entries))

    async def end(self, record: Record, status: Status, entries: Sequence[Entry], **kept: Any) -> None:
        """Store how a run or a job of this server ended, or that it waits; see `Records.end`."""
        end = partial(self._records.add_end, record=record, status=status, entries=entries, **kept)
        await self._written(end)

    async def _written(self, write: Write) -> None:
        """Wait until a write is stored."""
        stored = asyncio.get_running_loop().create_future()
        self._waiting.append((write, stored))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_all())
        await stored

    async def _write_all(self) -> None:
        """Execute writes until none waits."""
        while self._waiting:
            batch, self._waiting = self._waiting, []
            errors = await asyncio.to_thread(self._records.write_together, [write for write, _ in batch])
            for (_, stored), error in zip(batch, errors, strict=True):
                if stored.done():  # its reader was cancelled
                    continue
                if error is None:
                    stored.set_result(None)
                else:
                    stored.set_exception(error)
