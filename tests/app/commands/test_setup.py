"""`ragweave setup`: nothing is used that was not named or found here, and nothing is written unasked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ragweave.app.commands import setup
from ragweave.tests.support import Fault, ScriptedServer


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with ScriptedServer(models=["nomic-embed-text", "qwen3:4b", "gemma3:1b"]) as served:
        monkeypatch.setattr(setup, "PORTS", {"Ollama": urlsplit(served.base_url).port, "llama.cpp": 9})
        yield served


def test_a_server_of_this_machine_is_found_tried_and_written(main: Any, server: ScriptedServer) -> None:
    Path(".env").write_text("OTHER=1\nRAGWEAVE_CHAT=old\nRAGWEAVE_CHAT_KEY=old\n", encoding="utf-8")
    server.queue("ready")
    code, out, _ = main("setup", "--yes")
    assert code == 0
    assert out.startswith("1. qwen3:4b at http://127.0.0.1:") and "embed" not in out
    assert "qwen3:4b says: ready" in out
    written = Path(".env").read_text(encoding="utf-8")
    assert "OTHER=1" in written and "RAGWEAVE_CHAT='qwen3:4b'" in written
    assert f"RAGWEAVE_CHAT_URL='{server.base_url}'" in written
    assert "old" not in written


def test_nothing_is_written_where_the_answer_is_no(
    main: Any, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.queue("ready")
    monkeypatch.setattr("typer.prompt", lambda *args, **more: 2)
    monkeypatch.setattr("typer.confirm", lambda *args: False)
    assert "gemma3:1b says: ready" in main("setup")[1]
    assert not Path(".env").exists()


def test_a_model_that_fails_is_not_written(main: Any, server: ScriptedServer) -> None:
    server.queue(Fault.status(401))
    code, _, err = main("setup", "--yes")
    assert code == 2 and "refused the key" in err
    assert not Path(".env").exists()


def test_without_a_server_it_says_what_to_do(main: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "PORTS", {"Ollama": 9})
    code, _, err = main("setup")
    assert code == 2 and "ragweave setup --model openai:NAME" in err


def test_a_key_that_was_named_and_is_not_there_is_told(main: Any) -> None:
    code, _, err = main("setup", "--model", "openai:gpt-4o-mini", "--key", "NO_SUCH_KEY")
    assert code == 2 and "no NO_SUCH_KEY" in err
