"""Build an endpoint at its first request, because its packages take long to import and few clients use it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from starlette.types import ASGIApp, Receive, Scope, Send

Made = tuple[ASGIApp, AbstractAsyncContextManager[None]]
"""An app, and the context that stays open while it serves."""


class LateApp:
    """An ASGI app that is built in a thread at its first request."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make, self._making = make, asyncio.Lock()
        self._app: ASGIApp | None = None
        self._living: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and build the app before the first one."""
        async with self._making:
            if self._app is None:
                app, opened = await asyncio.to_thread(self._make)
                ready = asyncio.Event()
                # One task enters and leaves the context: task groups require that.
                self._living = asyncio.create_task(_live(opened, ready))
                await ready.wait()
                self._app = app
        await self._app(scope, receive, send)

    async def close(self) -> None:
        """Close the context of the app."""
        if self._living is not None:
            self._living.cancel()
            await asyncio.wait([self._living])


async def _live(opened: AbstractAsyncContextManager[None], ready: asyncio.Event) -> None:
    async with opened:
        ready.set()
        await asyncio.Event().wait()
