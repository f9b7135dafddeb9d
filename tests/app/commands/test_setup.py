"""`ragweave setup` uses only what is named or found, and downloads and writes nothing without a yes."""

from __future__ import annotations

import errno
import shutil
import sys
import types
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from dotenv import dotenv_values

from ragweave.app import guide
from ragweave.components import exam
from ragweave.models import offered, offers
from ragweave.models.asr_whisper import Whisper
from ragweave.models.hub import held
from ragweave.models.settings import model_settings, user_file
from ragweave.models.speech import Transcript
from ragweave.tests.support import ScriptedHub, ScriptedServer

SMALL = "BAAI/bge-small-en-v1.5"
FILES = {
    "config.json": b"{}",
    "tokenizer.json": b"{} ",
    "onnx/model.onnx": b"m" * 3_000,
    "model.bin": b"w" * 2_000,
    "small.gguf": b"g" * 1_000,
    "other.bin": b"x",
}


def written() -> dict[str, str | None]:
    return dict(dotenv_values(user_file()))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(guide, "is_terminal", lambda: True)
    monkeypatch.setattr(offered, "SERVERS", {"Ollama": 9, "llama.cpp": 9})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """An Ollama on loopback that serves two chat models and one that embeds."""
    with ScriptedServer(models=["nomic-embed-text", "qwen3:4b", "gemma3:1b"]) as served:
        monkeypatch.setattr(offered, "SERVERS", {"Ollama": urlsplit(served.base_url).port, "llama.cpp": 9})
        yield served


class Fake:
    """A model of fastembed of either kind, opened from a folder that was fetched."""

    opened: list[dict[str, Any]]

    def __init__(self, **options: Any) -> None:
        self.opened.append(options)
        folder = options.get("specific_model_path")
        assert (
            folder is None or (Path(folder) / "onnx" / "model.onnx").read_bytes() == FILES["onnx/model.onnx"]
        )

    @classmethod
    def list_supported_models(cls) -> list[dict[str, Any]]:
        names = [offer.name for offer in offers.OFFERS if offer.source == "fastembed"]
        names += ["Qdrant/clip-ViT-B-32-text"]
        return [
            {"model": n, "sources": {"hf": "owner/model"}, "model_file": "onnx/model.onnx"} for n in names
        ]

    def embed(self, rows: list[Any], batch_size: int) -> list[Any]:
        return [np.array([1.0, len(str(row)), 0.5]) for row in rows]

    def rerank(self, question: str, texts: list[str], batch_size: int) -> list[float]:
        return [float("1874" in text) for text in texts]


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedHub]:
    """A hub from which every offer comes, models of a few letters, and the packages that open them."""
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    monkeypatch.setattr(Whisper, "transcribe", lambda self, sound, language="": Transcript())
    Fake.opened = []
    package = types.ModuleType("fastembed")
    package.TextEmbedding = package.ImageEmbedding = Fake  # type: ignore[attr-defined]
    cross = types.SimpleNamespace(TextCrossEncoder=Fake)
    for name, module in {"fastembed": package, "fastembed.rerank": package}.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, "fastembed.rerank.cross_encoder", cross)
    monkeypatch.setattr(offered, "find_spec", lambda name: object())
    with ScriptedHub({**FILES}) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        whisper = {"model.bin": served.sha256("model.bin"), "config.json": served.sha256("config.json")}
        moved = {
            "whisper": {"name": "owner/model", "commit": served.commit, "sha256": whisper, "companions": ()}
        }
        moved |= {"gguf": {"name": "owner/model", "file": "small.gguf"}}
        monkeypatch.setattr(offered, "OFFERS", [replace(o, **moved.get(o.source, {})) for o in offers.OFFERS])
        yield served


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """What a person answers to each question, in order; returns the questions that were asked."""
    asked: list[str] = []

    def given(*replies: Any) -> list[str]:
        queue = [*replies]

        def reply(text: str, **options: Any) -> Any:
            asked.append(text)
            assert queue, f"no answer is left for {text!r}"
            return queue.pop(0)

        for name in ("prompt", "confirm"):
            monkeypatch.setattr(f"typer.{name}", reply)
        monkeypatch.setattr("getpass.getpass", reply)
        return asked

    yield given


def test_a_served_model_is_found_tried_and_written_to_the_users_settings(
    main: Any, server: ScriptedServer, answers: Any
) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text("OTHER=1\nRAGWEAVE_CHAT=old\nRAGWEAVE_CHAT_KEY=old\n", encoding="utf-8")
    server.queue("ready")
    answers("1", True)
    code, out, _ = main("setup", "chat")
    assert code == 0 and "1. qwen3:4b, which Ollama serves here" in out and "nomic" not in out
    assert "licence Apache-2.0" in out and "qwen3:4b says: ready" in out
    expected = {"OTHER": "1", "RAGWEAVE_CHAT": "qwen3:4b", "RAGWEAVE_CHAT_URL": server.base_url}
    assert {k: v for k, v in written().items() if k not in offers.SLOW} == expected
    assert user_file().stat().st_mode & 0o777 == 0o600 and not list(user_file().parent.glob("*.draft"))
    assert model_settings().chat == "qwen3:4b"


def test_a_nearer_env_file_counts_before_it_with_its_own_server_and_key(
    main: Any, server: ScriptedServer, answers: Any
) -> None:
    server.queue("ready")
    answers("1", True)
    Path(".env").write_text("RAGWEAVE_CHAT=openai:gpt-4o-mini\nRAGWEAVE_CHAT_KEY=sk-mine\n", encoding="utf-8")
    assert "RAGWEAVE_CHAT is set in " in main("setup", "chat")[1]
    at = model_settings().endpoint("writer")
    assert (at.model, at.url, at.key.get_secret_value()) == ("openai:gpt-4o-mini", "", "sk-mine")
    Path(".env").unlink()
    model_settings.cache_clear()
    assert model_settings().endpoint("writer").url == server.base_url


def test_nothing_is_written_after_a_no(main: Any, server: ScriptedServer, answers: Any) -> None:
    server.queue("ready")
    answers("2", False)
    assert "gemma3:1b says: ready" in main("setup", "chat")[1]
    assert not user_file().exists()


def test_ollama_downloads_a_model_after_a_yes_and_what_goes_wrong_is_one_sentence(
    main: Any, server: ScriptedServer, answers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.models = ("nomic-embed-text",)
    assert "Download 2,500 MB?" in answers("1", False) or main("setup", "chat")[0] == 0
    assert not user_file().exists()
    half = {"status": "pulling", "total": 100, "completed": 50}
    for rows, said in (
        ([half, {"error": "no space left on device"}], "no space left on device"),
        ([half], "did not finish"),
        ([], "did not finish"),
    ):
        server.pulled = rows
        answers("1", True)
        code, _, err = main("setup", "chat")
        assert code == 2 and said in err and err.count("\n") == 1
    server.pulled = [half, {"status": "success"}]
    server.queue("ready")
    answers("1", True, True)
    code, out, _ = main("setup", "chat")
    assert code == 0 and "50 %" in out and written()["RAGWEAVE_CHAT"] == "qwen3:4b-instruct"
    assert written()["RAGWEAVE_CHAT_TIMEOUT"] == "300"
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "1")
    model_settings.cache_clear()
    server.models = ("nomic-embed-text",)
    answers("1", True)
    assert "RAGWEAVE_OFFLINE forbids" in main("setup", "chat")[2]


def test_a_key_for_an_address_is_asked_for_hidden_and_never_shown(
    main: Any, server: ScriptedServer, answers: Any
) -> None:
    server.key, server.models = "sk-secret", ("big",)
    server.queue("ready")
    asked = answers("2", 5, server.base_url, "sk-wrong")
    code, out, err = main("setup", "chat")
    assert code == 2 and "refused the key" in err and not user_file().exists()
    asked = answers("2", 5, server.base_url.removesuffix("/v1"), "sk-secret", "1", True)
    code, out, err = main("setup", "chat")
    assert code == 0 and written()["RAGWEAVE_CHAT_KEY"] == "sk-secret", err
    assert (written()["RAGWEAVE_CHAT"], written()["RAGWEAVE_CHAT_URL"]) == ("big", server.base_url)
    assert "RAGWEAVE_CHAT_KEY=…" in out and "sk-secret" not in out + err + "".join(asked)


@pytest.mark.parametrize(
    ("part", "number", "setting", "files"),
    [
        ("encoder", "1", f"fastembed:{SMALL}@{{commit}}", ["onnx/model.onnx"]),
        ("reranker", "1", "fastembed:Xenova/ms-marco-MiniLM-L-6-v2@{commit}", ["onnx/model.onnx"]),
        ("pictures", "1", "fastembed:Qdrant/clip-ViT-B-32-vision@{commit}+{commit}", ["onnx/model.onnx"]),
        ("speech", "1", "whisper:owner/model@{commit}", ["model.bin"]),
    ],
)
def test_a_download_is_offered_by_size_and_licence_fetched_after_a_yes_tried_and_held_at_its_commit(
    part: Any, number: str, setting: str, files: list[str], main: Any, hub: ScriptedHub, answers: Any
) -> None:
    answers(number, False)
    assert main("setup", part)[0] == 0 and hub.asked == [] and not user_file().exists()
    asked = answers(number, True, True)
    code, out, err = main("setup", part)
    assert code == 0, err
    assert " MB, licence " in out and asked[-1].startswith("Write to your settings")
    assert written()[offers.TABLE[part].variable] == setting.format(commit=hub.commit)
    assert held("owner/model", hub.commit, files) is not None
    hub.asked.clear()
    model_settings.cache_clear()
    main("doctor")  # opens it from what is here
    assert hub.asked == []
    assert main("setup", part, "--remove", "--yes")[0] == 0
    assert offers.TABLE[part].variable not in written()


def test_a_gguf_is_fetched_and_answers_in_this_process(
    main: Any, hub: ScriptedHub, server: ScriptedServer, answers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragweave.models.chat_gguf.served", lambda model: (server.base_url, "key"))
    monkeypatch.setattr(offered, "SERVERS", {})
    server.models = ("local",)
    server.queue("ready")
    answers("1", True, True)
    code, out, err = main("setup", "chat")
    assert code == 0 and "says: ready" in out, err
    assert written()["RAGWEAVE_CHAT"] == f"gguf:owner/model@{hub.commit}/small.gguf"


def test_an_encoder_is_written_once_every_library_has_its_vectors(
    main: Any, hub: ScriptedHub, answers: Any, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("# A\n\nThe harbour was built in 1874.\n")
    for library in ("default", "newt"):
        assert main("index", str(tmp_path / "a.md"), "--library", library)[0] == 0
    asked = answers("1", True, False)
    out = main("setup", "encoder")[1]
    assert (
        asked[-1].startswith("Now?") and "Library newt: its 2 items are to be encoded again, in about " in out
    )
    assert not user_file().exists() and main("search", "harbour")[0] == 0
    answers("1", True, True, True)
    assert (
        main("setup", "encoder")[0] == 0 and written()["RAGWEAVE_EMBED"] == f"fastembed:{SMALL}@{hub.commit}"
    )
    assert main("search", "harbour")[0] == 0 and main("search", "harbour", "-l", "newt")[0] == 0
    assert main("setup", "encoder", "--remove", "--yes")[0] == 0
    assert main("search", "harbour", "-l", "newt")[0] == 0


def test_all_with_yes_takes_the_recommended_models_and_continues_after_a_failure(
    main: Any, hub: ScriptedHub, server: ScriptedServer
) -> None:
    server.queue("ready", "blue")
    hub.files["model.bin"] = b"v" * 2_000
    code, out, err = main("setup", "--all", "--yes")
    assert (
        code == 2 and err.startswith("error: ") and "model.bin of owner/model" in err and err.count("\n") == 1
    )
    assert "qwen3:4b says: blue (it was shown a blue picture)" in out
    assert {f"RAGWEAVE_{n}" for n in ("CHAT", "EMBED", "RERANK", "IMAGE_TEXT", "VISION")} <= written().keys()
    assert "RAGWEAVE_ASR" not in written()
    hub.files["model.bin"] = FILES["model.bin"]
    assert main("setup", "--all", "--yes")[0] == 0
    assert str(written()["RAGWEAVE_ASR"]).startswith("whisper:")


def test_without_a_terminal_it_lists_and_changes_nothing(
    main: Any, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guide, "is_terminal", lambda: False)
    code, out, _ = main("setup")
    assert code == 0 and "ragweave setup --all --yes" in out and "Chat model: none" in out
    assert main("setup", "--yes")[0] == main("setup", "ears")[0] == main("setup", "--remove")[0] == 2
    assert main("setup", "--model", "x", "--key", "NO_SUCH_KEY")[0] == 2
    assert hub.asked == [] and not user_file().exists()


@pytest.mark.parametrize("fault", ["down", "offline", "disk", "full", "hash", "cut", "gone"])
def test_what_keeps_a_download_from_ending_is_one_sentence_and_nothing_is_written(
    fault: str, main: Any, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {
        "down": "the hub cannot be reached",
        "offline": "RAGWEAVE_OFFLINE forbids",
        "disk": "226 MB, and 1 MB are free",
        "full": "is full",
        "hash": "does not have the sha256 that Ragweave states",
        "cut": "files that came whole are kept",
        "gone": "the hub has no model.bin",
    }[fault]
    with monkeypatch.context() as patch:
        if fault == "down":
            patch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
        elif fault == "offline":
            patch.setenv("RAGWEAVE_OFFLINE", "1")
            model_settings.cache_clear()
        elif fault == "disk":
            patch.setattr(shutil, "disk_usage", lambda path: types.SimpleNamespace(free=1_000_000))
        elif fault == "full":
            full = OSError(errno.ENOSPC, "No space left on device")
            patch.setattr("huggingface_hub.snapshot_download", lambda *a, **k: (_ for _ in ()).throw(full))
        elif fault == "hash":
            hub.files["model.bin"] = b"v" * 2_000
        elif fault == "cut":
            hub.cut_after = [0] * 50
        else:
            del hub.files["model.bin"]
        code, _, err = main("setup", "speech", "--all", "--yes")
    assert code == 2 and said in err and err.count("error: ") == 1
    assert not user_file().exists()
    model_settings.cache_clear()
    if fault == "gone":
        return  # a commit never gets a file that it had not
    hub.files, hub.cut_after = {**FILES}, []
    assert main("setup", "speech", "--all", "--yes")[0] == 0 and written()["RAGWEAVE_ASR"]


def test_a_download_resumes_after_a_lost_connection(
    main: Any, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 100)
    hub.cut_after = [700] * 3
    assert main("setup", "speech", "--all", "--yes")[0] == 0
    assert any(path == "/store/model.bin" and asked == "bytes=700-" for _, path, asked in hub.asked)


def test_settings_stay_as_they_were_if_the_disk_is_full(
    main: Any, server: ScriptedServer, answers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text("RAGWEAVE_CHAT=old\n", encoding="utf-8")
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr("ragweave.models.user_settings.set_key", lambda *a: (_ for _ in ()).throw(full))
    server.queue("ready")
    answers("1", True)
    code, _, err = main("setup", "chat")
    assert code == 2 and "No space left" in err
    assert user_file().read_text(encoding="utf-8") == "RAGWEAVE_CHAT=old\n"


@pytest.mark.exam
def test_the_chat_model_sits_the_exam_and_a_failure_names_the_setting(
    main: Any, server: ScriptedServer, answers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def sit(ask: Any) -> exam.ExamResult:
        return exam.ExamResult(right=20, of=40, missed=("myth", "denied"))

    monkeypatch.setattr(exam, "sit", sit)
    server.queue("ready")
    answers("1", True)
    code, out, _ = main("setup", "chat")
    assert code == 0 and exam.SITS in out
    assert "qwen3:4b judged 20 of 40" in out and "missed myth, denied" in out and "set RAGWEAVE_CHECK" in out


def test_two_models_that_belong_together_are_fetched_together_and_written_as_one_setting(
    main: Any, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.repo = "owner/(?:model|other)"
    [english, *_] = [o for o in offered.OFFERS if o.part == "speech"]
    pair = replace(english, companions=(replace(english, name="owner/other"),))
    monkeypatch.setattr(offered, "OFFERS", [pair])
    code, out, _ = main("setup", "speech", "--all", "--yes")
    assert code == 0 and "download owner/model and owner/other: 226 MB, licence MIT" in out
    assert written()["RAGWEAVE_ASR"] == f"whisper:owner/model@{hub.commit}+owner/other@{hub.commit}"
    assert {path.split("/resolve")[0] for verb, path, _ in hub.asked if "/resolve/" in path} == {
        "/owner/model",
        "/owner/other",
    }
