"""What the routes share: the store, the runs, the jobs. One per app, opened and closed with it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request
from pydantic import BaseModel, ConfigDict, model_validator

from ragweave.models.text import storable
from ragweave.serve.conversations import of_the_server
from ragweave.serve.jobs import Jobs
from ragweave.serve.kept_files import KeptFiles
from ragweave.serve.overview import Overviews
from ragweave.serve.pictures import PictureDesk
from ragweave.serve.problems import too_deep
from ragweave.serve.records import Records
from ragweave.serve.remote_journal import Followed
from ragweave.serve.replica import Replica
from ragweave.serve.runs import Runs
from ragweave.serve.setting_up import Setups
from ragweave.serve.settings import ServeSettings
from ragweave.serve.slots import Slots
from ragweave.serve.store import Store

if TYPE_CHECKING:
    from ragweave.serve.conversations import Saver

logger = logging.getLogger(__name__)

_READ_ON = 0.1
"""Seconds between two looks at what other servers tell."""


class Body(BaseModel):
    """What a request sends; a member that is not known is an error."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, sent: Any) -> Any:
        return _readable(sent)


_DEEPEST = 100
"""Lists and objects within each other; clients nest a few, and what goes through them goes deeper with each."""


def _readable(sent: Any, deep: int = 0) -> Any:
    """Return decoded JSON whose texts can be stored: half characters may be escaped in it.

    Raises:
        InputError: it is nested too deeply.
    """
    if isinstance(sent, str):
        return storable(sent)
    if deep == _DEEPEST:
        raise too_deep()
    if isinstance(sent, dict):
        return {_readable(k): _readable(v, deep + 1) for k, v in sent.items()}
    return [_readable(v, deep + 1) for v in sent] if isinstance(sent, list) else sent


@dataclass(frozen=True)
class AppState:
    """The parts of a running server."""

    settings: ServeSettings
    slots: Slots
    store: Store
    runs: Runs
    jobs: Jobs
    saver: Saver
    pictures: PictureDesk
    overviews: Overviews
    setups: Setups
    kept: KeptFiles

    def address(self, request: Request) -> str:
        """Return where readers find this server, for links in what is sent to them."""
        return self.settings.url or str(request.base_url).rstrip("/")


@asynccontextmanager
async def opened(
    settings: ServeSettings, store: Store, slots: Slots, pictures: PictureDesk
) -> AsyncIterator[AppState]:
    """Open the parts; at the end stop what is under way."""
    replica = Replica()
    records = Records(store, replica.id)
    followed = Followed(records)
    async with of_the_server() as saver:
        runs = Runs(records, followed, saver, slots, pictures.files)
        jobs = Jobs(records, followed)
        app_state = AppState(
            settings,
            slots,
            store,
            runs,
            jobs,
            saver,
            pictures,
            Overviews(store, slots),
            Setups(),
            KeptFiles(store),
        )
        await _look_round(replica, records, app_state)
        await jobs.take_over()
        several = store.shared or settings.workers > 1
        living = asyncio.create_task(_live(replica, records, followed, app_state)) if several else None
        try:
            yield app_state
        finally:
            if living:
                living.cancel()
                await asyncio.wait([living])
            await app_state.runs.close()
            await app_state.jobs.close()
            await app_state.overviews.close()
            await app_state.setups.close()
            await app_state.pictures.close()
            await asyncio.to_thread(replica.close)
            await asyncio.to_thread(store.close)


async def _live(replica: Replica, records: Records, followed: Followed, app_state: AppState) -> None:
    """Live beside other servers: show what they tell, and look round every second."""
    due, away = 0.0, False
    while True:
        await asyncio.sleep(_READ_ON)
        try:
            await followed.read_on()
            if (at := time.monotonic()) >= due:
                due = at + 1
                await _look_round(replica, records, app_state)
            away = False
        except Exception as error:  # the database is away; when it is back, this goes on
            if not away:
                logger.warning("the other servers cannot be seen (%s)", error)
            away = True


async def _look_round(replica: Replica, records: Records, app_state: AppState) -> None:
    """Stop what others asked to stop, and say how the runs of those ended that have ended."""
    await asyncio.to_thread(replica.beat)
    for id in await asyncio.to_thread(records.stopped):
        app_state.runs.stop(id)
        app_state.jobs.stop(id)
    running = await asyncio.to_thread(records.running)
    gone = await asyncio.to_thread(replica.ended, {r.server for r in running if not records.mine(r)})
    for record in running:
        place: Runs | Jobs = app_state.runs if record.thread else app_state.jobs
        if record.server in gone or place.lost(record):
            await place.interrupt(record)


async def current_app_state(request: Request) -> AppState:  # async, so that it takes no thread
    """Return the state of the app that a request came to."""
    app_state: AppState = request.app.state.app_state
    return app_state


AppStateNow = Annotated[AppState, Depends(current_app_state)]
