"""The saver that a graph is given, as the graphs need it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from copy import copy
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from ragweave.nodes.state import SAVED


def reading(saver: Any) -> Any:
    """Return a saver that reads back the types of the state and no others, as LangGraph asks every program to say.

    One that cannot be awaited, such as `SqliteSaver` or `PostgresSaver`, is asked in threads, because the
    graphs await theirs also where they are invoked without. It has a lock of its own: LangGraph asks it from
    threads as well.
    """
    if not isinstance(saver, BaseCheckpointSaver):
        return saver
    if type(saver.serde) is JsonPlusSerializer:
        mine = copy(saver)
        mine.serde = JsonPlusSerializer(allowed_msgpack_modules=SAVED)
    else:
        mine = copy(saver.with_allowlist([(kind.__module__, kind.__name__) for kind in SAVED]))
    kind = type(saver)
    if kind.aput_writes is BaseCheckpointSaver.aput_writes:
        mine.__class__ = type(kind.__name__, (_InThreads, kind), {})
    return mine


class _InThreads(BaseCheckpointSaver[Any]):
    """What a graph awaits of a saver, by its methods that are not awaited."""

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
