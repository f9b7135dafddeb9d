"""A server in this process over a tiny library."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from openai import AsyncOpenAI

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.stores import close_stores
from ragweave.graphs import run as graphs
from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.tests.support.library import build_library
from ragweave.tests.support.serving import Graph, in_process, on_loopback

TEXTS = {
    "lighthouse.md": (
        "# The lighthouse\n\n## History\n\nThe lamp of the lighthouse was first lit on 3 October 1874.\n"
    ),
    "ferry.md": "# The ferry\n\n## Timetable\n\nThe ferry sails four times a day from April to October.\n",
}
QUESTION = "When was the lamp of the lighthouse first lit?"
TEA = {"tea.md": "# Tea\n\nTea is brewed at ninety degrees.\n"}


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `notes` and the `home` they were indexed into, to be copied: indexing takes longer than a test."""
    folder = tmp_path_factory.mktemp("indexed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGWEAVE_HOME", str(folder / "home"))
        corpora_settings.cache_clear()
        asyncio.run(build_library(folder / "notes", TEXTS))
        asyncio.run(build_library(folder / "tea", TEA, "tea room"))
        close_stores()
    corpora_settings.cache_clear()
    return folder


@pytest.fixture
def notes(indexed: Path, home: Path) -> Path:
    """Put the libraries `default` and `tea room` into the home of the test and return the folder of the notes."""
    shutil.copytree(indexed / "home", home, dirs_exist_ok=True)
    return indexed / "notes"


@pytest.fixture
def app(home: Path) -> FastAPI:
    """A server with the limits of a fresh machine."""
    return create_app(ServeSettings())


@pytest.fixture
async def client(notes: Path, app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client of that server, over the two notes."""
    async with in_process(app) as client:
        yield client


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch) -> Graph:
    """A stand-in for the graph."""
    stand_in = Graph()
    monkeypatch.setattr(graphs, "astream", stand_in.astream)
    return stand_in


@dataclass
class Pause:
    """A call that has begun, and goes on once it may."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    may: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
async def paused(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Pause]:
    """Have the calls of a method, or the first alone, wait in their thread: before their work, or once it is done."""
    loop = asyncio.get_running_loop()

    def pause(owner: type, name: str, after: bool = False, once: bool = False) -> Pause:
        pause, work = Pause(), getattr(owner, name)

        def slow(*given: Any, **more: Any) -> Any:
            if once and pause.begun.is_set():
                return work(*given, **more)
            done = work(*given, **more) if after else None
            loop.call_soon_threadsafe(pause.begun.set)
            assert pause.may.wait(60)
            return done if after else work(*given, **more)

        monkeypatch.setattr(owner, name, slow)
        return pause

    return pause


@pytest.fixture
async def chat(notes: Path, app: FastAPI) -> AsyncIterator[AsyncOpenAI]:
    """The OpenAI client of a server on loopback."""
    async with (
        on_loopback(app) as address,
        AsyncOpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as client,
    ):
        yield client
