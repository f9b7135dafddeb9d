"""Store the steps of conversations in the file of a home, a moment later and those of many runs at once.

LangGraph stores a checkpoint after each step of a graph. Of the steps within that moment only the last one is
written, because a run that was killed resumes there.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

logger = logging.getLogger(__name__)

_MOMENT = 0.25
"""Longest time in seconds for which a step is not stored."""

_Key = tuple[str, str]
"""A conversation, and the namespace of a graph within it."""
_Call = Callable[[], object]


@dataclass
class _Step:
    """A step to store: `calls` write it, `checkpoint` is its id."""

    checkpoint: str
    calls: list[_Call] = field(default_factory=list)


class _Late:
    """The steps that are not stored yet; copies of a saver share them."""

    def __init__(self) -> None:
        self.steps: dict[_Key, _Step] = {}
        self.storing: asyncio.Task[None] | None = None
        self.one_at_a_time = asyncio.Lock()
        self.soon = asyncio.Event()
        """The next steps are stored without waiting for the end of the moment."""

    def step(self, config: Any, checkpoint: str) -> _Step:
        """Return a step by its checkpoint; it replaces an earlier one, and a later one stays."""
        at = config["configurable"]
        key = str(at["thread_id"]), str(at["checkpoint_ns"])
        found = self.steps.get(key)
        if found is None or found.checkpoint < checkpoint:  # the ids of checkpoints grow with time
            found = self.steps[key] = _Step(checkpoint)
        return found if found.checkpoint == checkpoint else _Step(checkpoint)

    def take(self, thread: str | None) -> dict[_Key, _Step]:
        """Remove and return the steps of a conversation, or all."""
        taken = {}
        for key in list(self.steps):
            if thread in (None, key[0]):
                taken[key] = self.steps.pop(key)
        return taken

    def put_back(self, key: _Key, step: _Step) -> None:
        """Return a step that could not be stored, unless a later one has replaced it."""
        later = self.steps.setdefault(key, step)
        if later is not step and later.checkpoint == step.checkpoint:
            later.calls[:0] = step.calls


class StepSaver(AsyncSqliteSaver):
    """A saver of LangGraph that returns before a step is stored; `settle` waits until it is.

    Reads and deletions see the steps that are not stored yet.

    Args:
        saver: its connection reads and deletes.
        file: writes steps, in threads.
    """

    def __init__(self, saver: AsyncSqliteSaver, file: sqlite3.Connection) -> None:
        super().__init__(saver.conn)
        self._file, self._late = SqliteSaver(file), _Late()

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Accept a checkpoint, which replaces the one before if that is not stored yet."""
        step = self._late.step(config, checkpoint["id"])
        step.calls.insert(0, partial(self._file.put, config, checkpoint, metadata, new_versions))
        # Without its first step a run could not be resumed at all.
        self._start(soon=metadata.get("source") == "input")
        at = config["configurable"]
        named = {"thread_id": at["thread_id"], "checkpoint_ns": at["checkpoint_ns"]}
        return {"configurable": {**named, "checkpoint_id": checkpoint["id"]}}

    async def aput_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Accept what a node returned after a checkpoint, unless a later checkpoint has it already."""
        step = self._late.step(config, config["configurable"]["checkpoint_id"])
        step.calls.append(partial(self._file.put_writes, config, writes, task_id, task_path))
        self._start()

    async def aget_tuple(self, config: Any) -> Any:
        """Return a stored checkpoint, the last one of its conversation if the config names none."""
        await self.settle(str(config["configurable"]["thread_id"]))
        return await super().aget_tuple(config)

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[Any]:
        """Yield the stored checkpoints of a conversation."""
        await self.settle(str(config["configurable"]["thread_id"]) if config else None)
        async for found in super().alist(config, **options):
            yield found

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a conversation."""
        async with self._late.one_at_a_time:
            self._late.take(thread_id)
            await super().adelete_thread(thread_id)

    async def settle(self, thread: str | None) -> None:
        """Store the last step of a conversation now, or of all.

        Raises:
            Exception: the error of a step that could not be stored.
        """
        failed = await self._store(thread)
        for error in failed.values():
            raise error

    def delete_later(self, thread: str, rows: Sequence[str], given: Mapping[str, str]) -> None:
        """Delete rows of a settled conversation when the next steps are stored; each names table and rows."""
        step = self._late.steps.setdefault((thread, ""), _Step(""))
        step.calls.append(partial(self._delete, rows, given))
        self._start()

    async def close(self) -> None:
        """Store what is not stored yet."""
        if self._late.storing is not None:
            self._late.storing.cancel()
            await asyncio.wait([self._late.storing])
        failed = await self._store(None)
        if failed:
            logger.warning("the last steps of %d conversations could not be stored", len(failed))

    def _delete(self, rows: Sequence[str], given: Mapping[str, str]) -> None:
        with self._file.cursor() as cursor:
            for which in rows:
                cursor.execute(f"DELETE FROM {which}", given)

    def _start(self, soon: bool = False) -> None:
        """Have the steps stored, in a moment or soon."""
        late = self._late
        if soon:
            late.soon.set()
        if late.storing is None or late.storing.done():
            late.storing = asyncio.create_task(self._store_all())

    async def _store_all(self) -> None:
        """Store steps until none is left."""
        late, warned = self._late, False
        while late.steps:
            late.soon.clear()
            failed = await self._store(None)
            if failed and not warned:
                warned = True
                logger.warning("the steps of %d conversations are not stored yet", len(failed))
            with suppress(TimeoutError):
                async with asyncio.timeout(_MOMENT):
                    await late.soon.wait()

    async def _store(self, thread: str | None) -> dict[_Key, Exception]:
        """Store the steps of a conversation or of all; return the errors of those that could not be."""
        async with self._late.one_at_a_time:
            taken = self._late.take(thread)
            if not taken:
                return {}
            failed = await asyncio.to_thread(_write, taken)
            for key in failed:
                self._late.put_back(key, taken[key])
            return failed


def _write(steps: Mapping[_Key, _Step]) -> dict[_Key, Exception]:
    failed: dict[_Key, Exception] = {}
    for key, step in steps.items():
        try:
            for call in step.calls:
                call()
        except Exception as error:
            failed[key] = error
    return failed


@asynccontextmanager
async def open_file(path: Path) -> AsyncIterator[StepSaver]:
    """Open the file of conversations; its steps are stored before it is closed."""
    async with AsyncSqliteSaver.from_conn_string(str(path)) as reader:
        with closing(sqlite3.connect(path, check_same_thread=False)) as file:
            await reader.conn.execute("PRAGMA busy_timeout = 60000")
            file.execute("PRAGMA busy_timeout = 60000")
            # A power cut may lose the checkpoints of the last turn; its answer is in the store.
            file.execute("PRAGMA synchronous = NORMAL")
            saver = StepSaver(reader, file)
            try:
                yield saver
            finally:
                await saver.close()
