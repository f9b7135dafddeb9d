"""A real `langgraph dev` over a tiny library."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ragweave.tests.support.agent_server import agent_server
from ragweave.tests.support.library import build_library

TEXTS = {
    "lighthouse.md": (
        "# The lighthouse\n\n## History\n\nThe lamp of the lighthouse was first lit on 3 October 1874.\n"
    ),
    "ferry.md": "# The ferry\n\n## Timetable\n\nThe ferry sails four times a day from April to October.\n",
}


@pytest.fixture
async def server(tmp_path: Path, home: Path) -> AsyncIterator[str]:
    """Serve the graphs of langgraph.json, with a folder that stands in for the web."""
    await build_library(tmp_path / "notes", TEXTS)
    (web := tmp_path / "web").mkdir()
    (web / "chess.md").write_text(
        "# Chess\n\nThe chess tournament of Zanzibar in 1911 was won by Ada Brandt.\n"
    )
    (folder := tmp_path / "dev").mkdir()
    async with agent_server(folder, RAGWEAVE_WEB_FOLDER=str(web)) as address:
        yield address
