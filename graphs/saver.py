"""Adapt the saver of a caller to the graphs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from copy import copy
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from ragweave.nodes.state import SAVED


def reading(saver: Any) -> Any:
    """Return a saver that restores only the types of the state, as LangGraph requires.

    A saver without asynchronous methods, such as `SqliteSaver` or `PostgresSaver`, runs in threads, because
    the graphs always await their saver. It has its own lock: LangGraph also calls it from threads.
    """
    if not isinstance(saver, BaseCheckpointSaver):
        return saver
    if type(saver.serde) is JsonPlusSerializer:
        mine = copy(saver)
        mine.serde = JsonPlusSerializer(allowed_msgpack_modules=SAVED)
    else:
        allowed = [(kind.__module__, kind.__name__) for kind in SAVED]
        mine = copy(saver.with_allowlist(allowed))
    kind = type(saver)
    if kind.aput_writes is BaseCheckpointSaver.aput_writes:
        mine.__class__ = type(kind.__name__, (_InThreads, kind), {})
    return mine


class _InThreads(BaseCheckpointSaver[Any]):
    """The asynchronous methods of a saver, by its synchronous ones."""

    async def aget_tuple(self, *given: Any, **options: Any) -> Any:
        return await asyncio.to_thread(self.get_tuple, *given, **options)

    async def alist(self, *given: Any, **options: Any) -> AsyncIterator[Any]:
        for row in await asyncio.to_thread(lambda: list(self.list(*given, **options))):
            yield row

    async def aput(self, *given: Any, **options: Any) -> Any:
        return await asyncio.to_thread(self.put, *given, **options)

    async def aput_writes(self, *given: Any, **options: Any) -> None:
        await asyncio.to_thread(self.put_writes, *given, **options)

    async def adelete_thread(self, *given: Any, **options: Any) -> None:
        await asyncio.to_thread(self.delete_thread, *given, **options)
