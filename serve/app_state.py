"""Hold what the routes of one app share: the store, the runs, the jobs and so on."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request
from pydantic import BaseModel, ConfigDict, model_validator

from ragweave.models.text import storable
from ragweave.serve.conversations import of_the_server
from ragweave.serve.event_writer import EventWriter
from ragweave.serve.jobs import Jobs
from ragweave.serve.kept_files import KeptFiles
from ragweave.serve.overview import Overviews
from ragweave.serve.pictures import PictureDesk
from ragweave.serve.problems import too_deep
from ragweave.serve.records import Records
from ragweave.serve.remembered import RememberedResponses
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
"""Seconds between two polls of the events of other servers."""


class Body(BaseModel):
    """The body of a request; an unknown member is an error."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, sent: Any) -> Any:
        return _readable(sent)


_DEEPEST = 100
"""Maximum nesting of lists and objects; clients nest only a few."""


def _readable(sent: Any, deep: int = 0) -> Any:
    """Return decoded JSON with lone surrogates replaced in its strings, so that they can be stored.

    Raises:
        InputError: it is nested too deeply.
    """
    if isinstance(sent, str):
        return storable(sent)
    if deep == _DEEPEST:
        raise too_deep()
    if isinstance(sent, dict):
        return {_readable(name): _readable(value, deep + 1) for name, value in sent.items()}
    if isinstance(sent, list):
        return [_readable(value, deep + 1) for value in sent]
    return sent


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
    responses: RememberedResponses = field(default_factory=RememberedResponses)

    def address(self, request: Request) -> str:
        """Return the public address of this server, for links in answers."""
        return self.settings.url or str(request.base_url).rstrip("/")


@asynccontextmanager
async def opened(
    settings: ServeSettings, store: Store, slots: Slots, pictures: PictureDesk
) -> AsyncIterator[AppState]:
    """Open the parts, and stop runs and jobs at the end."""
    replica = Replica()
    records = Records(store, replica.id)
    followed = Followed(records)
    async with of_the_server() as saver:
        writer = EventWriter(records)
        runs = Runs(records, writer, followed, saver, slots, pictures.files)
        jobs = Jobs(records, writer, followed)
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
        await _check_servers(replica, records, app_state)
        await jobs.take_over()
        several = store.shared or settings.workers > 1
        polling = asyncio.create_task(_poll(replica, records, followed, app_state)) if several else None
        try:
            yield app_state
        finally:
            if polling:
                polling.cancel()
                await asyncio.wait([polling])
            await app_state.runs.close()
            await app_state.jobs.close()
            await app_state.overviews.close()
            await app_state.setups.close()
            await app_state.pictures.close()
            await asyncio.to_thread(replica.close)
            await asyncio.to_thread(store.close)


async def _poll(replica: Replica, records: Records, followed: Followed, app_state: AppState) -> None:
    """Show the events of other servers, and check every second which servers have ended."""
    due, away = 0.0, False
    while True:
        await asyncio.sleep(_READ_ON)
        try:
            await followed.read_on()
            at = time.monotonic()
            if at >= due:
                due = at + 1
                await _check_servers(replica, records, app_state)
                if away:
                    logger.warning("the other servers can be seen again")
                away = False
        except Exception as error:  # the database cannot be reached; try again until it can
            if not away:
                logger.warning("the other servers cannot be seen (%s)", error)
            away = True


async def _check_servers(replica: Replica, records: Records, app_state: AppState) -> None:
    """Stop runs on request of other servers, and take care of the runs of servers that have ended."""
    await asyncio.to_thread(replica.beat)
    for id in await asyncio.to_thread(records.stopped):
        app_state.runs.stop(id)
        app_state.jobs.stop(id)
    running = await asyncio.to_thread(records.running)
    others = set()
    for record in running:
        if not records.mine(record):
            others.add(record.server)
    ended = await asyncio.to_thread(replica.ended, others)
    for record in running:
        owner: Runs | Jobs = app_state.runs if record.thread else app_state.jobs
        if record.server in ended or owner.lost(record):
            await owner.interrupt(record)


async def current_app_state(request: Request) -> AppState:  # async, so that it needs no thread
    """Return the state of the app that handles a request."""
    app_state: AppState = request.app.state.app_state
    return app_state


AppStateNow = Annotated[AppState, Depends(current_app_state)]
