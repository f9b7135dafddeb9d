"""Jobs and runs that are stopped while their end is being written down."""

from __future__ import annotations

import asyncio
import io
import threading
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ragweave.corpora.store.stores import stores
from ragweave.serve import jobs, remote_journal, uploads
from ragweave.serve.access import Caller
from ragweave.serve.records import Records
from ragweave.tests.serve.conftest import QUESTION
from ragweave.tests.support.serving import Graph, begin, told


@dataclass
class Ending:
    """An end that `begun` to be written down, and is written once it `may`."""

    begun: asyncio.Event
    may: threading.Event


@pytest.fixture
async def ending(monkeypatch: pytest.MonkeyPatch) -> Ending:
    found, end, loop = Ending(asyncio.Event(), threading.Event()), Records.end, asyncio.get_running_loop()

    def slow(self: Records, *told: Any, **kept: Any) -> None:
        loop.call_soon_threadsafe(found.begun.set)
        assert found.may.wait(60)
        end(self, *told, **kept)

    monkeypatch.setattr(Records, "end", slow)
    return found


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_job_tells_that_end(
    client: httpx.AsyncClient, app: FastAPI, monkeypatch: pytest.MonkeyPatch, ending: Ending, elsewhere: bool
) -> None:
    async def indexed(*_: Any, **__: Any) -> None:
        return None

    monkeypatch.setattr(jobs, "aindex", indexed)
    library, here = stores().catalog.library("default"), app.state.app_state.jobs
    record = await here.start(Caller(), library, [uploads.keep("a.md", io.BytesIO(b"words"), library.id)], [])
    journal, task = await here.journal(record), here._jobs[record.id].task
    await ending.begun.wait()
    if elsewhere:  # the other server was asked, and this one heard of it
        here.stop(record.id)
        stopped = asyncio.create_task(asyncio.sleep(0))
    else:
        stopped = asyncio.create_task(here.cancel(record))
    await asyncio.sleep(0)
    ending.may.set()
    await asyncio.wait([stopped, task])
    assert [entry.type for entry in journal.entries] == ["end"] and journal.closed
    assert (await here.get(Caller(), record.id)).status == "done" and await here.mine(Caller()) == []


@pytest.mark.parametrize("asks", [False, True])
async def test_who_stops_a_run_waits_for_that_end_and_for_no_other_server(
    client: httpx.AsyncClient,
    app: FastAPI,
    graph: Graph,
    monkeypatch: pytest.MonkeyPatch,
    ending: Ending,
    asks: bool,
) -> None:
    elsewhere: list[str] = []
    monkeypatch.setattr(Records, "stop", lambda self, id: elsewhere.append(id))
    monkeypatch.setattr(remote_journal, "_STOPS", 0)
    graph.consent = asks
    graph.may.set()
    run, runs = await begin(client, QUESTION), app.state.app_state.runs
    await ending.begun.wait()
    record = await runs.get(Caller(), run["run"])
    stopped = asyncio.create_task(runs.cancel(record))
    await asyncio.sleep(0)
    ending.may.set()
    await stopped
    assert elsewhere == []
    assert (await runs.get(Caller(), run["run"])).status == ("cancelled" if asks else "done")
    assert [e["type"] for e in await told(client, run["run"])][-1] == "end"
