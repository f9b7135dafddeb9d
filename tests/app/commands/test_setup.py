"""`ragweave setup`: nothing is used that was not named or found here, and nothing is written unasked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ragweave.app.commands import setup
from ragweave.models.asr_whisper import Whisper
from ragweave.models.settings import model_settings
from ragweave.models.whisper_files import Offered, downloaded
from ragweave.tests.support import ScriptedHub, ScriptedServer


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


FILES = {"config.json": b"{}", "model.bin": b"m" * 3_000, "tokenizer.json": b"{} ", "vocabulary.txt": b"a\n"}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedHub]:
    """A hub that holds a model of a few letters, which is offered; nothing is loaded from it."""
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    monkeypatch.setattr(Whisper, "check", lambda self: None)
    monkeypatch.setattr(setup, "_attended", lambda: True)
    with ScriptedHub({**FILES, "other.bin": b"x"}) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        digests = {name: served.sha256(name) for name in FILES}
        monkeypatch.setattr(
            "ragweave.models.whisper_files.SMALL", Offered("owner/model", served.commit, 1, "MIT", digests)
        )
        yield served


def test_hearing_is_offered_by_name_size_and_licence_and_fetched_after_a_yes(
    main: Any, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("typer.confirm", lambda text: asked.append(text) or True)
    code, out, _ = main("setup", "--hearing")
    assert code == 0 and len(asked) == 1 and asked[0].startswith("Download it to ")
    assert "owner/model" in out and "1 MB" in out and "licence MIT" in out
    assert f"RAGWEAVE_ASR='whisper:owner/model@{hub.commit}'" in Path(".env").read_text(encoding="utf-8")
    folder = downloaded("owner/model", hub.commit)
    assert folder is not None and {p.name for p in folder.iterdir()} == set(FILES)


def test_nothing_is_fetched_without_a_yes(
    main: Any, hub: ScriptedHub, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("typer.confirm", lambda text: not text.startswith("Download"))
    assert main("setup", "--hearing")[0] == 0
    server.queue("ready", "ready")
    monkeypatch.setattr("typer.prompt", lambda *args, **more: 1)
    assert "Speech: Whisper small" in main("setup")[1]
    assert "Speech" not in main("setup", "--yes")[1]  # which is a yes to what was found, not to a download
    assert hub.asked == [] and "RAGWEAVE_ASR" not in Path(".env").read_text(encoding="utf-8")


def test_nothing_is_fetched_offline_and_a_file_of_another_sha256_is_thrown_away(
    main: Any, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.files["vocabulary.txt"] = b"b\n"
    code, _, err = main("setup", "--hearing", "--yes")
    assert code == 2 and "vocabulary.txt of owner/model does not have the sha256 that Ragweave states" in err
    hub.asked.clear()
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "1")
    model_settings.cache_clear()
    assert "RAGWEAVE_OFFLINE forbids" in main("setup", "--hearing", "--yes")[2]
    assert hub.asked == [] and not Path(".env").exists()
