"""Errors of `ragweave setup`: one sentence with the command to type, and never a key."""

from __future__ import annotations

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
from ragweave.models import offered
from ragweave.models.offers import OFFERS
from ragweave.models.settings import model_settings, user_file
from ragweave.tests.support import Fault, ScriptedServer

ROOT = Path(__file__).resolve().parents[3]
SECRET = "sk-never-shown"


def written() -> dict[str, str | None]:
    return dict(dotenv_values(user_file()))


@pytest.fixture(autouse=True)
def _alone(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No server on this machine, no extra installed, no pip, and a person at the keyboard."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(guide, "_is_terminal", lambda: True)
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


def test_without_a_terminal_the_missing_extras_are_one_line_and_it_fails(
    main: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guide, "_is_terminal", lambda: False)
    code, out, err = main("setup")
    assert code == 2 and "Chat model: none" in out
    assert err.count("\n") == 1 and "pip install 'ragweave[local,fastembed,video]'" in err


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


@pytest.mark.parametrize(
    "url", ["foo", "localhost:11434", "ftp://x/v1", "http://", "http://[::1", f"http://h/ {SECRET}"]
)
def test_an_address_that_is_none_is_one_sentence_without_what_was_typed(url: str, main: Any) -> None:
    code, _, err = main("setup", "chat", "--model", "m", "--url", url)
    assert code == 2 and "not the address of a server" in err and SECRET not in err and err.count("\n") == 1


def test_a_key_in_the_place_of_its_variable_is_not_printed(main: Any) -> None:
    code, out, err = main("setup", "chat", "--model", "openai:gpt-4o-mini", "--key", SECRET)
    assert code == 2 and "name of an environment variable" in err and SECRET not in out + err


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


def test_a_password_in_an_address_is_written_and_not_printed(main: Any, server: ScriptedServer) -> None:
    server.queue("ready")
    url = server.base_url.replace("//", f"//me:{SECRET}@")
    code, out, err = main("setup", "chat", "--model", "qwen3:4b", "--url", url, "--yes")
    assert code == 0 and SECRET not in out + err and SECRET in str(written()["RAGWEAVE_CHAT_URL"])


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


def test_a_model_without_chat_is_one_sentence(main: Any, server: ScriptedServer) -> None:
    server.queue(Fault.status(400, '"nomic-embed-text" does not support chat'))
    code, _, err = main("setup", "chat", "--model", "qwen3:4b", "--url", server.base_url, "--yes")
    assert code == 2 and "does not support chat" in err and err.count("\n") == 1 and not user_file().exists()


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


def test_the_context_of_another_place_is_not_that_of_a_nearer_model(monkeypatch: pytest.MonkeyPatch) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text("RAGWEAVE_CHAT=small\nRAGWEAVE_CHAT_CONTEXT=4096\n", encoding="utf-8")
    model_settings.cache_clear()
    assert model_settings().chat_context == 4_096
    monkeypatch.setenv("RAGWEAVE_CHAT", "openai:gpt-4o-mini")
    model_settings.cache_clear()
    assert model_settings().chat_context == 0


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
