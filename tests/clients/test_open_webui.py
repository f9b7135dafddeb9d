"""The calls that Open WebUI makes, recorded from the app and shortened: questions, files, pictures, its own chores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from ragweave.graphs import run as graphs
from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.tests.clients.matrix import HERE
from ragweave.tests.clients.programs.common import PICTURE
from ragweave.tests.support.library import build_library
from ragweave.tests.support.notes import TEXTS
from ragweave.tests.support.serving import in_process

CALLS: dict[str, Any] = json.loads(
    (HERE / "open_webui.json").read_text(encoding="utf-8").replace("PICTURE", PICTURE)
)
WORDS = {
    "chat": "3 October 1874",
    "follow-up": "four times a day",
    "file": "1911 by Rosa",
    "file in the system message": "1911 by Rosa",
    "file as a member": "1911 by Rosa",
    "picture": "3 October 1874",
    "system": "3 October 1874",
}


@pytest.fixture
async def client(home: Path, tmp_path: Path) -> Any:
    """A client of a server over two notes."""
    await build_library(tmp_path / "notes", TEXTS)
    async with in_process(create_app(ServeSettings())) as found:
        yield found


@pytest.mark.parametrize(("call", "words"), WORDS.items(), ids=WORDS)
async def test_a_question_is_streamed_with_its_sources(
    client: httpx.AsyncClient, call: str, words: str
) -> None:
    models = (await client.get("/v1/models", headers=CALLS["headers"])).json()["data"]
    assert "agent" in [model["id"] for model in models]
    told = await client.post("/v1/chat/completions", json=CALLS[call], headers=CALLS["headers"])
    rows = [json.loads(row[6:]) for row in told.text.split("\n\n") if row.startswith("data: {")]
    deltas = [row["choices"][0]["delta"] for row in rows if row["choices"]]
    text = "".join(delta.get("content") or "" for delta in deltas).replace("**", "")
    quotes = text.split("\n---\n")[0]
    assert words in quotes and "Sources:" in text and told.text.rstrip().endswith("[DONE]")
    assert "Task" not in text and "attached_files" not in text and "Not used" not in text
    searched = "".join(delta.get("reasoning_content") or "" for delta in deltas)
    assert not any(mark in searched for mark in ("### ", "<source", "attached_files"))
    assert "share few words" not in text  # no words of a template are searched


@pytest.mark.parametrize(
    ("call", "reply"),
    [("title", {"title"}), ("tags", {"tags"}), ("follow-ups", {"follow_ups"}), ("queries", {"queries"})],
)
async def test_what_the_app_wants_of_its_own_makes_no_run(
    client: httpx.AsyncClient, call: str, reply: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(graphs, "astream")
    told = await client.post("/v1/chat/completions", json=CALLS[call], headers=CALLS["headers"])
    assert json.loads(told.json()["choices"][0]["message"]["content"]).keys() == reply
