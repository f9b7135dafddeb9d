"""Share one hop to a thread among simultaneous reads: a hop costs more than most reads of a library."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from contextvars import copy_context
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

T = TypeVar("T")
Reads = list[tuple[Callable[[], Any], "asyncio.Future[Any]"]]

_MOST = 8
"""Most reads of one hop, about as many as one round of a question has; further ones take another hop."""

_waiting: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Reads]] = WeakKeyDictionary()


async def together(key: str, read: Callable[[], T], around: Callable[[], AbstractContextManager[None]]) -> T:
    """Run a read in a thread, together with all reads of the same key in this turn of the event loop.

    Args:
        key: groups the reads, such as the id of a library.
        read: called in the thread; its exception reaches only its caller.
        around: entered once around the reads of a hop; its exception reaches all their callers.
    """
    loop = asyncio.get_running_loop()
    waiting = _waiting.setdefault(loop, {})
    mine, done = waiting.setdefault(key, []), loop.create_future()
    mine.append((read, done))
    if len(mine) == 1:
        loop.call_soon(_start, loop, key, mine, around)
    if len(mine) == _MOST:
        waiting.pop(key)
    return cast("T", await done)


def _start(
    loop: asyncio.AbstractEventLoop,
    key: str,
    reads: Reads,
    around: Callable[[], AbstractContextManager[None]],
) -> None:
    waiting = _waiting[loop]
    if waiting.get(key) is reads:
        del waiting[key]
    loop.run_in_executor(None, copy_context().run, _run, loop, reads, around)


def _run(
    loop: asyncio.AbstractEventLoop, reads: Reads, around: Callable[[], AbstractContextManager[None]]
) -> None:
    made: list[tuple[Any, BaseException | None]] = []
    try:
        with around():
            for read, _ in reads:
                try:
                    made.append((read(), None))
                except Exception as error:
                    made.append((None, error))
    except Exception as error:
        made += [(None, error)] * (len(reads) - len(made))
    loop.call_soon_threadsafe(_tell, [done for _, done in reads], made)


def _tell(waiting: Sequence[asyncio.Future[Any]], made: Sequence[tuple[Any, BaseException | None]]) -> None:
    for done, (value, error) in zip(waiting, made, strict=True):
        if done.cancelled():
            continue
        if error is None:
            done.set_result(value)
        else:
            done.set_exception(error)
