"""Stop a server gracefully: answers in progress finish, and no new one begins.

uvicorn receives the first signal only then, because it would close the port at once, and sse-starlette every
stream. A second signal stops the answers; uvicorn receives it when their readers know.
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

_NOTICE_SECONDS = 2.0
"""Longest wait until the readers of stopped answers have received the end."""


@contextmanager
def drained(app_state: AppState) -> Iterator[None]:
    """Let the first stop signal wait for the answers in progress; a second signal stops them.

    Without uvicorn, signals are left alone.
    """
    before = _uvicorn_handlers()
    loop = asyncio.get_running_loop()
    tasks = set[asyncio.Task[None]]()
    at_once = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop = before[number]
        first = not app_state.slots.draining
        app_state.slots.draining = True
        if first:
            drain = partial(_drain, app_state, stop.__self__, at_once, lambda: stop(number, frame))
            loop.call_soon_threadsafe(lambda: tasks.add(loop.create_task(drain())))
        elif at_once.is_set() or stop.__self__.should_exit:
            stop(number, frame)
        else:
            at_once.set()

    for number in before:
        signal.signal(number, on_signal)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _uvicorn_handlers() -> dict[int, Any]:
    """Return the signal handlers of uvicorn by the number of the signal."""
    handlers: dict[int, Any] = {}
    if threading.current_thread() is not threading.main_thread():
        return handlers
    for number in HANDLED_SIGNALS:
        handler = signal.getsignal(number)
        if isinstance(getattr(handler, "__self__", None), uvicorn.Server):
            handlers[number] = handler
    return handlers


async def _drain(
    app_state: AppState, server: uvicorn.Server, at_once: threading.Event, stop: Callable[[], None]
) -> None:
    """Wait for the answers in progress, stop the rest, and stop the server."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + app_state.settings.shutdown_seconds

    async def wait(until: float, cut_short: Callable[[], bool]) -> None:
        while app_state.slots.taken and loop.time() < until and not cut_short():  # noqa: ASYNC110
            await asyncio.sleep(0.1)

    try:
        await wait(ends, lambda: at_once.is_set() or server.should_exit)
        stopped = app_state.slots.taken
        app_state.slots.end()
        await app_state.runs.close()  # while their readers are still connected
        await wait(loop.time() + _NOTICE_SECONDS, lambda: server.should_exit)
        if stopped:  # let the last events reach the readers
            await asyncio.sleep(0.1)
    finally:
        if not server.should_exit:
            server.config.timeout_graceful_shutdown = max(1, round(ends - loop.time()))
            stop()
