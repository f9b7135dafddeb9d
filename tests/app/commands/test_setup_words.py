"""Errors of `ragweave setup`: one sentence with the command to type, and never a key."""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from dotenv import dotenv_values

from ragweave.app import extras, guide
from ragweave.models import offered, paper_weights
from ragweave.models.offers import OFFERS
from ragweave.models.paper_weights import PaperWeights
from ragweave.models.settings import model_settings, user_file
from ragweave.tests.support import Fault, ScriptedHub, ScriptedServer

ROOT = Path(__file__).resolve().parents[3]
SECRET = "sk-never-shown"


def written() -> dict[str, str | None]:
    return dict(dotenv_values(user_file()))


@pytest.fixture
def _alone(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No server on this machine, no extra installed, no pip, and a person at the keyboard."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(guide, "is_terminal", lambda: True)
    monkeypatch.setattr(offered, "SERVERS", {"Ollama": 9})
    monkeypatch.setattr(offered, "find_spec", lambda name: None)
    monkeypatch.setattr(extras, "can_install", lambda: False)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with ScriptedServer(models=["qwen3:4b"]) as served:
        monkeypatch.setattr(offered, "SERVERS", {"Ollama": urlsplit(served.base_url).port})
        yield served


def answered(monkeypatch: pytest.MonkeyPatch, *replies: Any) -> None:
    queue = [*replies]
    for name in ("typer.prompt", "typer.confirm", "getpass.getpass"):
        monkeypatch.setattr(name, lambda text, **options: queue.pop(0))


@pytest.mark.usefixtures("_alone")
def test_all_names_the_missing_extras_as_one_pip_line_and_fails(main: Any) -> None:
    code, out, err = main("setup", "--all", "--yes")
    assert code == 2 and "nothing can be had" not in out
    first, second = err.splitlines()
    assert (
        first
        == "error: packages are missing; install them with: pip install 'ragweave[local,fastembed,video]'."
    )
    assert "start Ollama, then: ragweave setup vision --all" in second
    assert not user_file().exists()


@pytest.mark.usefixtures("_alone")
def test_without_a_terminal_the_missing_extras_are_one_line_and_it_fails(
    main: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guide, "is_terminal", lambda: False)
    code, out, err = main("setup")
    assert code == 2 and "Chat model: none" in out
    assert err.count("\n") == 1 and "pip install 'ragweave[local,fastembed,video]'" in err


@pytest.mark.usefixtures("_alone")
@pytest.mark.parametrize("agreed", [True, False])
def test_a_choice_whose_packages_are_missing_has_them_installed_after_a_yes(
    agreed: bool, main: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(extras, "can_install", lambda: True)
    monkeypatch.setattr(extras, "install", asked.append)
    answered(monkeypatch, "1", agreed, False)
    code, _, err = main("setup", "encoder")
    assert asked == ([["fastembed"]] if agreed else [])
    assert (code, "pip install 'ragweave[fastembed]'" in err) == ((0, False) if agreed else (2, True))


@pytest.mark.usefixtures("_alone")
def test_pip_installs_what_an_extra_names_at_the_versions_of_the_checkout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commands: list[list[str]] = []

    def ran(command: list[str], **options: Any) -> Any:
        commands.append(command)
        return SimpleNamespace(
            returncode=len(commands) - 1, stderr="noise\nERROR: No matching distribution found.\n\n"
        )

    monkeypatch.setattr(subprocess, "run", ran)
    extras.install(["local"])
    assert "-c" in commands[0] and commands[0][-1].startswith("xllamacpp")
    with pytest.raises(
        Exception,
        match=r"pip could not install the packages \(No matching distribution found\)\. Install them with",
    ):
        extras.install(["local"])


@pytest.mark.usefixtures("_alone")
def test_the_extra_of_the_readme_brings_all_that_setup_needs() -> None:
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    (joined,) = stated["models"]
    needed = {offer.extra for offer in OFFERS if offer.extra}
    assert needed <= set(joined.removeprefix("ragweave[").removesuffix("]").split(","))
    assert "pip install -c constraints.txt '.[serve,models]'" in (ROOT / "README.md").read_text(
        encoding="utf-8"
    )


@pytest.mark.usefixtures("_alone")
def test_a_typed_name_of_a_provider_is_taken_and_anything_else_is_one_sentence(
    main: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragweave.app.guide.find_spec", lambda name: None)
    answered(monkeypatch, "2", "Mistral")
    assert "Mistral needs a package; pip install langchain-mistralai" in main("setup", "chat")[2]
    for typed in ("foo", "0", "9", "²", ""):
        answered(monkeypatch, "2", typed)
        code, _, err = main("setup", "chat")
        assert code == 2 and "none of the numbers and names" in err and "integer" not in err, typed


@pytest.mark.usefixtures("_alone")
@pytest.mark.parametrize(
    "url", ["foo", "localhost:11434", "ftp://x/v1", "http://", "http://[::1", f"http://h/ {SECRET}"]
)
def test_an_address_that_is_none_is_one_sentence_without_what_was_typed(url: str, main: Any) -> None:
    code, _, err = main("setup", "chat", "--model", "m", "--url", url)
    assert code == 2 and "not the address of a server" in err and SECRET not in err and err.count("\n") == 1


@pytest.mark.usefixtures("_alone")
def test_a_key_in_the_place_of_its_variable_is_not_printed(main: Any) -> None:
    code, out, err = main("setup", "chat", "--model", "openai:gpt-4o-mini", "--key", SECRET)
    assert code == 2 and "name of an environment variable" in err and SECRET not in out + err


@pytest.mark.usefixtures("_alone")
def test_a_key_that_a_server_repeats_is_not_printed(
    main: Any, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    given = ("setup", "chat", "--model", "qwen3:4b", "--url", server.base_url, "--key", "MY_KEY", "--yes")
    server.queue(Fault.status(400, f"no luck with {SECRET}"))
    code, out, err = main(*given)
    assert code == 2 and "no luck with …" in err and SECRET not in out + err
    server.queue(f"My key is {SECRET}")
    code, out, err = main(*given)
    assert code == 0 and "says: My key is …" in out and SECRET not in out + err
    assert written()["RAGWEAVE_CHAT_KEY"] == SECRET


@pytest.mark.usefixtures("_alone")
def test_a_password_in_an_address_is_written_and_not_printed(main: Any, server: ScriptedServer) -> None:
    server.queue("ready")
    url = server.base_url.replace("//", f"//me:{SECRET}@")
    code, out, err = main("setup", "chat", "--model", "qwen3:4b", "--url", url, "--yes")
    assert code == 0 and SECRET not in out + err and SECRET in str(written()["RAGWEAVE_CHAT_URL"])


@pytest.mark.usefixtures("_alone")
def test_a_model_that_is_served_here_needs_no_address_and_one_that_is_not_is_named(
    main: Any, server: ScriptedServer
) -> None:
    server.models = ("gemma:latest",)
    server.queue("ready")
    # Ollama knows a model without its tag, this server does not.
    code, _, err = main("setup", "chat", "--model", "gemma:latest", "--url", server.base_url, "--yes")
    assert code == 0, err
    code, _, err = main("setup", "chat", "--model", "strange", "--yes")
    assert code == 2 and "no server on this machine serves a model called 'strange'" in err


@pytest.mark.usefixtures("_alone")
@pytest.mark.parametrize("how", ["down", "page", "list"])
def test_what_is_no_model_server_is_one_sentence(how: str, main: Any, server: ScriptedServer) -> None:
    url = {
        "down": "http://127.0.0.1:9/v1",
        "page": server.base_url.replace("/v1", "/docs"),
        "list": server.base_url,
    }[how]
    server.pages = {"/v1/models": ["no", "list"]} if how == "list" else {}
    server.queue(*[Fault("html")] * 12)  # in each of the ways in which a server is asked
    code, _, err = main("setup", "chat", "--model", "qwen3:4b", "--url", url, "--yes")
    assert code == 2 and err.count("\n") == 1 and not user_file().exists()
    words = {
        "down": "no server can be reached at 127.0.0.1:9",
        "page": "404",
        "list": "not a reply of a language model",
    }
    assert words[how] in err


@pytest.mark.usefixtures("_alone")
def test_a_model_without_chat_is_one_sentence(main: Any, server: ScriptedServer) -> None:
    server.queue(Fault.status(400, '"nomic-embed-text" does not support chat'))
    code, _, err = main("setup", "chat", "--model", "qwen3:4b", "--url", server.base_url, "--yes")
    assert code == 2 and "does not support chat" in err and err.count("\n") == 1 and not user_file().exists()


@pytest.mark.usefixtures("_alone")
def test_the_context_of_the_server_is_shown_written_and_removed_with_the_model(
    main: Any, server: ScriptedServer
) -> None:
    server.pages = {"/api/ps": {"models": [{"name": "qwen3:4b", "context_length": 4_096}]}}
    server.queue("ready")
    code, out, err = main("setup", "chat", "--model", "qwen3:4b", "--url", server.base_url, "--yes")
    assert code == 0 and "It reads 4,096 tokens at once" in out and "OLLAMA_CONTEXT_LENGTH=" in out, err
    assert written()["RAGWEAVE_CHAT_CONTEXT"] == "4096" and model_settings().chat_context == 4_096
    server.pages = {}
    server.queue("ready")
    _, out, _ = main("setup", "chat", "--model", "qwen3:4b", "--url", server.base_url, "--yes")
    assert "does not tell how many tokens" in out and "RAGWEAVE_CHAT_CONTEXT" not in written()


@pytest.mark.usefixtures("_alone")
def test_the_context_of_another_place_is_not_that_of_a_nearer_model(monkeypatch: pytest.MonkeyPatch) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text("RAGWEAVE_CHAT=small\nRAGWEAVE_CHAT_CONTEXT=4096\n", encoding="utf-8")
    model_settings.cache_clear()
    assert model_settings().chat_context == 4_096
    monkeypatch.setenv("RAGWEAVE_CHAT", "openai:gpt-4o-mini")
    model_settings.cache_clear()
    assert model_settings().chat_context == 0


@pytest.mark.usefixtures("_alone")
@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("CHAT_WIDTH", "many", "it must be a whole number"),
        ("CHAT_WIDTH", "0", "it must be 1 or more"),
        ("OFFLINE", "perhaps", "it must be true or false"),
        ("OCR", "eyes", "it must be 'rapidocr' or 'off'"),
        ("CHAT_URL", "localhost", "it must start with http:// or https://"),
        ("CHAT_TIMEOUT", "0", "it must be more than 0"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_in_plain_words(
    name: str, value: str, said: str, main: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"RAGWEAVE_{name}", value)
    model_settings.cache_clear()
    code, _, err = main("setup", "chat", "--model", "m", "--yes")
    assert code == 2 and f"RAGWEAVE_{name} cannot be used: {said}" in err and err.count("\n") == 1


FILES = {
    "config.json": b'{"model_type": "bert"}',
    "model.safetensors": b"s" * 3_000,
    "pytorch_model.bin": b"p" * 3_000,
    "tokenizer.json": b"{}",
    "onnx/model.safetensors": b"o" * 2_000,
}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ScriptedHub]:
    """A hub with a model of a few letters in place of each that a paper names."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    tiny = PaperWeights("text encoder", "owner/model", {"RAGWEAVE_EMBED": "hf:{repo}@{commit}"})
    monkeypatch.setitem(paper_weights.PAPERS, "universal-rag", (tiny,))  # type: ignore[arg-type]
    with ScriptedHub(dict(FILES)) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        yield served


def env() -> str:
    return user_file().read_text(encoding="utf-8") if user_file().exists() else ""


@pytest.mark.usefixtures("hub")
def test_a_paper_is_fetched_by_name_size_and_licence_after_a_yes_and_its_commit_is_held(
    main: Any, hub: ScriptedHub, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [False, True]
    monkeypatch.setattr("typer.confirm", lambda text: answers.pop(0))
    code, out, _ = main("setup", "--paper", "universal-rag")
    assert code == 0 and f"owner/model at {hub.commit}, 0 MB, licence apache-2.0" in out
    assert env() == "" and not [p for m, p, _ in hub.asked if "/resolve/" in p]
    assert main("setup", "--paper", "universal-rag")[0] == 0
    assert f"RAGWEAVE_EMBED='hf:owner/model@{hub.commit}'" in env()
    (folder,) = (model_settings().weights / "hub").glob("models--owner--model/snapshots/*")
    assert {p.name for p in folder.iterdir()} == {"config.json", "model.safetensors", "tokenizer.json"}
    held = json.loads((model_settings().weights / "commits.json").read_text(encoding="utf-8"))
    assert held == {"owner/model": hub.commit}
    first, hub.commit = hub.commit, "ab" * 20
    main("setup", "--paper", "universal-rag", "--yes")
    assert [p for _, p, _ in hub.asked if p.startswith(f"/api/models/owner/model/revision/{first}")]


@pytest.mark.usefixtures("hub")
def test_what_lies_on_no_hub_is_named_and_taken_from_a_folder_or_from_a_copy(
    main: Any, hub: ScriptedHub, tmp_path: Path
) -> None:
    code, _, err = main("setup", "--paper", "crag", "--yes")
    assert code == 2 and "drive.google.com" in err and "--weights FOLDER" in err and env() == ""
    (made := tmp_path / "evaluator").mkdir()
    (made / "config.json").write_bytes(FILES["config.json"])
    (made / "pytorch_model.bin").write_bytes(b"p")
    assert "a pickle only, which can run code" in main("setup", "--paper", "crag", "--weights", str(made))[2]
    (made / "model.safetensors").write_bytes(b"s")
    (made / "tokenizer.json").write_bytes(b"{}")
    assert main("setup", "--paper", "crag", "--weights", str(made))[0] == 0
    assert f"RAGWEAVE_EVALUATOR='{made}'" in env()
    assert main("setup", "--paper", "crag", "--weights", "owner/model", "--yes")[0] == 0
    assert f"RAGWEAVE_EVALUATOR='owner/model@{hub.commit}'" in env()


@pytest.mark.usefixtures("hub")
def test_nothing_is_asked_offline_and_other_bytes_than_the_hub_stated_are_thrown_away(
    main: Any, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", _stating(b"other"))
    code, _, err = main("setup", "--paper", "universal-rag", "--yes")
    assert code == 2 and "model.safetensors of owner/model does not have the sha256" in err and env() == ""
    hub.asked.clear()
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "1")
    model_settings.cache_clear()
    assert "RAGWEAVE_OFFLINE forbids" in main("setup", "--paper", "universal-rag", "--yes")[2]
    assert hub.asked == [] and "there is no paper" in main("setup", "--paper", "unknown")[2]


def _stating(data: bytes) -> Any:
    """Return what the hub's client would say of a repository whose weights are other bytes."""
    import hashlib
    from types import SimpleNamespace

    lfs = SimpleNamespace(sha256=hashlib.sha256(data).hexdigest())
    held = [SimpleNamespace(rfilename="model.safetensors", size=1, lfs=lfs)]
    info = SimpleNamespace(sha="c0ffee" * 6 + "cafe", siblings=held, card_data=None)
    return lambda self, repo, **options: info
