"""What the routes share: the store, the runs, the jobs. One per app, opened and closed with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from pydantic import BaseModel, ConfigDict, model_validator

from ragweave.corpora.settings import corpora_settings
from ragweave.models.text import storable
from ragweave.serve.access import Slots
from ragweave.serve.pictures import PictureDesk
from ragweave.serve.runs import Runs
from ragweave.serve.settings import ServeSettings
from ragweave.serve.store import Store
from ragweave.serve.uploads import Jobs


class Body(BaseModel):
    """What a request sends; a member that is not known is an error."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, sent: Any) -> Any:
        return _readable(sent)


def _readable(sent: Any) -> Any:
    """Return decoded JSON whose texts can be stored: half characters may be escaped in it."""
    if isinstance(sent, str):
        return storable(sent)
    if isinstance(sent, dict):
        return {_readable(k): _readable(v) for k, v in sent.items()}
    return [_readable(v) for v in sent] if isinstance(sent, list) else sent


@dataclass(frozen=True)
class Desk:
    """The parts of a running server."""

    settings: ServeSettings
    slots: Slots
    store: Store
    runs: Runs
    jobs: Jobs
    saver: AsyncSqliteSaver
    pictures: PictureDesk


@asynccontextmanager
async def opened(settings: ServeSettings, store: Store, slots: Slots) -> AsyncIterator[Desk]:
    """Open the parts; at the end stop what is under way."""
    async with AsyncSqliteSaver.from_conn_string(str(corpora_settings().home / "conversations.sqlite")) as saver:
        await saver.setup()
        # What a power cut may take is the last turn; the answer itself stands in the store.
        await saver.conn.execute("PRAGMA synchronous = NORMAL")
        runs = Runs(store, saver, slots, settings.run_seconds)
        jobs = Jobs()
        await runs.take_over()
        await jobs.take_over()
        desk = Desk(settings, slots, store, runs, jobs, saver, PictureDesk())
        try:
            yield desk
        finally:
            await desk.runs.close()
            await desk.jobs.close()
            await desk.pictures.close()


def current_desk(request: Request) -> Desk:
    """Return the desk of the app that a request came to."""
    desk: Desk = request.app.state.desk
    return desk


DeskNow = Annotated[Desk, Depends(current_desk)]
