"""A server in this process over a tiny library."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.testing import build_library
from ragweave.testing.serving import in_process

TEXTS = {
    "lighthouse.md": "# The lighthouse\n\n## History\n\nThe lamp of the lighthouse was first lit on 3 October 1874.\n",
    "ferry.md": "# The ferry\n\n## Timetable\n\nThe ferry sails four times a day from April to October.\n",
}


@pytest.fixture
async def notes(tmp_path: Path, home: Path) -> Path:
    """Make the library `default` of two notes and return their folder."""
    await build_library(tmp_path / "notes", TEXTS)
    return tmp_path / "notes"


@pytest.fixture
def app(home: Path) -> FastAPI:
    """A server with the limits of a fresh machine."""
    return create_app(ServeSettings())


@pytest.fixture
async def client(app: FastAPI, notes: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client of that server, over the two notes."""
    async with in_process(app) as client:
        yield client
