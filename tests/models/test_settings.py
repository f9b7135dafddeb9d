from __future__ import annotations

import pytest
from pydantic import SecretStr

from ragweave.models.errors import InputError
from ragweave.models.settings import Role, model_settings


def test_an_address_is_trimmed_and_a_key_does_not_show_when_settings_are_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_all(monkeypatch, CHAT_URL=" http://localhost:11434/v1/ ", CHAT_KEY="sk-secret")
    assert model_settings().chat_url == "http://localhost:11434/v1"
    assert "sk-secret" not in repr(model_settings())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RAGWEAVE_CHAT_TIMEOUT", "soon"),
        ("RAGWEAVE_CHAT_TIMEOUT", "0"),
        ("RAGWEAVE_CHAT_WIDTH", "0"),
        ("RAGWEAVE_CHAT_URL", "localhost:11434"),
        ("RAGWEAVE_CHAT_CACHE", "perhaps"),
        ("RAGWEAVE_RATES", "{"),
        ("RAGWEAVE_RATES", "[1, 2]"),
        ("RAGWEAVE_RATES", '{"m": 3}'),
        ("RAGWEAVE_RATES", '{"m": [-1, 2]}'),
    ],
)
def test_a_value_that_cannot_be_used_names_its_variable(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=f"{name} cannot be used"):
        model_settings()


def set_all(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"RAGWEAVE_{name}", value)


HERE, THERE = "http://127.0.0.1:8000/v1", "http://127.0.0.1:9000/v1"


@pytest.mark.parametrize("role", ["reasoner", "judge", "vision"])
def test_a_role_that_is_not_set_is_the_writer(monkeypatch: pytest.MonkeyPatch, role: Role) -> None:
    set_all(monkeypatch, CHAT="m", CHAT_URL=HERE, CHAT_KEY="k")
    assert model_settings().endpoint(role) == model_settings().endpoint("writer") == ("m", HERE, SecretStr("k"))


@pytest.mark.parametrize("role", ["writer", "reasoner", "judge"])
def test_a_run_may_put_another_writer_in_the_place_of_the_usual_one(
    monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    set_all(monkeypatch, CHAT="m", CHAT_URL=HERE, CHAT_KEY="k", CHATS="n, m, o")
    assert model_settings().writers == ("m", "n", "o")
    assert model_settings().endpoint(role, "n") == ("n", HERE, SecretStr("k"))


def test_another_writer_takes_no_place_and_no_key_that_is_not_the_writers(monkeypatch: pytest.MonkeyPatch) -> None:
    set_all(monkeypatch, CHAT="openai:m", CHAT_KEY="k", CHATS="anthropic:n", JUDGE="openai:own", VISION_URL=THERE)
    assert model_settings().endpoint("writer", "anthropic:n").key.get_secret_value() == ""
    assert model_settings().endpoint("judge", "anthropic:n") == ("openai:own", "", SecretStr("k"))
    assert model_settings().endpoint("vision", "anthropic:n").model == "openai:m"


@pytest.mark.parametrize("role", ["reasoner", "judge", "vision", "embed", "rerank", "asr"])
def test_a_role_may_live_on_a_server_of_its_own_with_a_key_of_its_own(
    monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    name = role.upper()
    set_all(monkeypatch, CHAT="m", CHAT_URL=HERE, **{name: "own", f"{name}_URL": THERE, f"{name}_KEY": "theirs"})
    assert model_settings().endpoint(role) == ("own", THERE, SecretStr("theirs"))


@pytest.mark.parametrize(
    ("variables", "key"),
    [
        ({"JUDGE": "larger"}, "k"),
        ({"JUDGE_URL": HERE}, "k"),
        ({"JUDGE_URL": THERE}, ""),
        ({"CHAT_URL": "", "JUDGE": "openai:larger"}, "k"),
        ({"CHAT_URL": "", "JUDGE": "anthropic:larger"}, ""),
    ],
)
def test_the_key_of_the_writer_goes_to_its_own_server_only(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], key: str
) -> None:
    set_all(monkeypatch, **{"CHAT": "openai:m", "CHAT_URL": HERE, "CHAT_KEY": "k", **variables})
    assert model_settings().endpoint("judge").key.get_secret_value() == key
