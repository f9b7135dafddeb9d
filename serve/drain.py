"""Stopping a server without cutting answers off: those under way come to their end, and no new one begins.

The first signal is kept from uvicorn until then: at once it would close the port, and sse-starlette every stream.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.server import HANDLED_SIGNALS

from ragweave.serve.desk import Desk


@contextmanager
def drained(desk: Desk) -> Iterator[None]:
    """Have the first signal to stop wait for the answers under way, where uvicorn serves; a second does not wait."""
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        found = {number: signal.getsignal(number) for number in HANDLED_SIGNALS}
        before = {n: h for n, h in found.items() if isinstance(getattr(h, "__self__", None), uvicorn.Server)}
    loop, tasks = asyncio.get_running_loop(), set[asyncio.Task[None]]()

    def hear(number: int, frame: FrameType | None) -> None:
        stop, first = before[number], not desk.slots.draining
        desk.slots.draining = True
        if first:
            loop.call_soon_threadsafe(
                lambda: tasks.add(loop.create_task(_drain(desk, stop.__self__, lambda: stop(number, frame))))
            )
        else:
            stop(number, frame)

    for number in before:
        signal.signal(number, hear)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def _drain(desk: Desk, server: uvicorn.Server, stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    ends = loop.time() + desk.settings.shutdown_seconds
    try:
        while desk.slots.taken and loop.time() < ends and not server.should_exit:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        await desk.runs.close()  # while those who read them can still be told
    finally:
        if not server.should_exit:
            server.config.timeout_graceful_shutdown = max(1, round(ends - loop.time()))
            stop()
