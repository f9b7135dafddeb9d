"""Run long synchronous work under asyncio in a thread, which stops when its task is cancelled."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")
E = TypeVar("E")


async def stoppable(work: Callable[[threading.Event], T]) -> T:
    """Run `work` in a thread; a cancelled task sets its event and waits until it has put things in order."""
    stop = threading.Event()
    running = asyncio.ensure_future(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        while not running.done():  # cancelled again meanwhile, it still waits
            with suppress(asyncio.CancelledError):
                await asyncio.wait([running])
        raise


def on_this_loop(listener: Callable[[E], None] | None) -> Callable[[E], None]:
    """Return a function that hands its argument from any thread to `listener` on the running loop."""
    loop = asyncio.get_running_loop()

    def tell(event: E) -> None:
        if listener is not None:
            loop.call_soon_threadsafe(listener, event)

    return tell
