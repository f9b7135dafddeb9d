from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from ragweave.models.errors import InputError
from ragweave.models.settings import Role, model_settings


def set_all(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"RAGWEAVE_{name}", value)


HERE, THERE = "http://127.0.0.1:8000/v1", "http://127.0.0.1:9000/v1"


@pytest.mark.parametrize(
    ("name", "value"),
    [("CHAT_WIDTH", "0"), ("CHAT_URL", "localhost:11434"), ("RATES", "{"), ("RATES", '{"m": [-1, 2]}')],
)
def test_a_value_that_cannot_be_used_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    set_all(monkeypatch, **{name: value})
    with pytest.raises(InputError, match=f"RAGWEAVE_{name} cannot be used"):
        model_settings()


@pytest.mark.parametrize("role", ["writer", "reasoner", "judge"])
def test_a_run_may_put_another_writer_in_the_place_of_the_usual_one(
    monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    set_all(monkeypatch, CHAT="m", CHAT_URL=f" {HERE}/ ", CHAT_KEY="sk-k", CHATS="n, m, o")
    assert model_settings().writers == ("m", "n", "o") and "sk-k" not in repr(model_settings())
    assert model_settings().endpoint(role) == ("m", HERE, SecretStr("sk-k"))
    assert model_settings().endpoint(role, "n") == ("n", HERE, SecretStr("sk-k"))


@pytest.mark.parametrize("role", ["reasoner", "judge", "check", "vision", "embed", "rerank", "asr"])
def test_a_role_may_live_on_a_server_of_its_own_with_a_key_of_its_own(
    monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    name = role.upper()
    set_all(
        monkeypatch, CHAT="m", CHAT_URL=HERE, **{name: "own", f"{name}_URL": THERE, f"{name}_KEY": "theirs"}
    )
    assert model_settings().endpoint(role) == ("own", THERE, SecretStr("theirs"))


@pytest.mark.parametrize(
    ("variables", "asked", "model", "key"),
    [
        ({"JUDGE": "larger"}, ("judge",), "larger", "k"),
        ({"JUDGE_URL": HERE}, ("judge",), "openai:m", "k"),
        ({"JUDGE": "larger", "JUDGE_KEY": "j"}, ("check",), "larger", "j"),
        ({"JUDGE": "larger", "CHECK": "strict"}, ("check",), "strict", "k"),
        ({"JUDGE_URL": THERE}, ("judge",), "openai:m", ""),
        ({"CHAT_URL": "", "JUDGE": "anthropic:larger"}, ("judge",), "anthropic:larger", ""),
        ({"CHAT_URL": "", "CHATS": "anthropic:n"}, ("writer", "anthropic:n"), "anthropic:n", ""),
        (
            {"CHAT_URL": "", "CHATS": "anthropic:n", "JUDGE": "openai:own"},
            ("judge", "anthropic:n"),
            "openai:own",
            "k",
        ),
    ],
)
def test_the_key_of_the_writer_goes_to_its_own_server_only(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], asked: tuple[Role, ...], model: str, key: str
) -> None:
    set_all(monkeypatch, **{"CHAT": "openai:m", "CHAT_URL": HERE, "CHAT_KEY": "k", **variables})
    found = model_settings().endpoint(*asked)
    assert (found.model, found.key.get_secret_value()) == (model, key)


def test_a_secret_may_lie_in_a_file_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("sk-file\n", encoding="utf-8")
    set_all(monkeypatch, CHAT="m", CHAT_URL=HERE, CHAT_KEY_FILE=str(tmp_path / "key"))
    assert model_settings().endpoint("writer") == ("m", HERE, SecretStr("sk-file"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"CHAT_KEY_FILE": "/nowhere/key"}, "CHAT_KEY_FILE names /nowhere/key, which cannot be read"),
        ({"CHAT_KEY": "sk-a", "CHAT_KEY_FILE": "/nowhere/key"}, "RAGWEAVE_CHAT_KEY_FILE are both set"),
    ],
)
def test_a_file_of_a_secret_that_is_not_there_or_not_alone_is_told(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], said: str
) -> None:
    set_all(monkeypatch, **given)
    with pytest.raises(InputError, match=said):
        model_settings()
