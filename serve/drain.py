"""Stopping a server without cutting answers off: those under way come to their end, and no new one begins.

The first signal is kept from uvicorn until then: at once it would close the port, and sse-starlette every
stream. So is a second, which does not wait for the answers, until their readers are told.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.server import HANDLED_SIGNALS

from ragweave.serve.app_state import AppState

_TELLING = 2.0
"""Seconds in which those who read answers that are broken off are told."""


@contextmanager
def drained(app_state: AppState) -> Iterator[None]:
    """Have the first signal to stop wait for the answers under way, where uvicorn serves; a second breaks them off."""
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        found = {number: signal.getsignal(number) for number in HANDLED_SIGNALS}
        before = {n: h for n, h in found.items() if isinstance(getattr(h, "__self__", None), uvicorn.Server)}
    loop, tasks, at_once = asyncio.get_running_loop(), set[asyncio.Task[None]](), threading.Event()

    def hear(number: int, frame: FrameType | None) -> None:
        stop, first = before[number], not app_state.slots.draining
        app_state.slots.draining = True
        if first:
            drain = partial(_drain, app_state, stop.__self__, at_once, lambda: stop(number, frame))
            loop.call_soon_threadsafe(lambda: tasks.add(loop.create_task(drain())))
        elif at_once.is_set() or stop.__self__.should_exit:
            stop(number, frame)
        else:
            at_once.set()

    for number in before:
        signal.signal(number, hear)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def _drain(
    app_state: AppState, server: uvicorn.Server, at_once: threading.Event, stop: Callable[[], None]
) -> None:
    loop = asyncio.get_running_loop()
    ends = loop.time() + app_state.settings.shutdown_seconds

    async def wait(until: float, cut_short: Callable[[], bool]) -> None:
        while app_state.slots.taken and loop.time() < until and not cut_short():  # noqa: ASYNC110
            await asyncio.sleep(0.1)

    try:
        await wait(ends, lambda: at_once.is_set() or server.should_exit)
        broken_off = app_state.slots.taken
        app_state.slots.end()
        await app_state.runs.close()  # while those who read them can still be told
        await wait(loop.time() + _TELLING, lambda: server.should_exit)
        if broken_off:  # what was said last is on its way
            await asyncio.sleep(0.1)
    finally:
        if not server.should_exit:
            server.config.timeout_graceful_shutdown = max(1, round(ends - loop.time()))
            stop()
