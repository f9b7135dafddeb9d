from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.models.errors import InputError
from ragweave.models.settings import model_settings


def test_nothing_set_means_no_chat_model_and_the_embedded_encoder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-lying-around")
    settings = model_settings()
    assert (settings.chat, settings.embed, settings.home) == ("", "wordllama", home)


def test_keys_do_not_show_when_settings_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_KEY", "sk-secret")
    assert "sk-secret" not in repr(model_settings())


def test_rates_are_read_as_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_RATES", '{"gpt-4o-mini": [0.15, 0.6], "local": [0, 0]}')
    assert model_settings().rate_table() == {"gpt-4o-mini": (0.15, 0.6), "local": (0.0, 0.0)}


def test_a_trailing_slash_of_an_address_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_URL", " http://localhost:11434/v1/ ")
    assert model_settings().chat_url == "http://localhost:11434/v1"


@pytest.mark.parametrize(
    "name", ["RAGWEAVE_CHAT_TEMPERATURE", "RAGWEAVE_MODELS_DIR", "RAGWEAVE_RATES", "RAGWEAVE_CHAT_WIDTH"]
)
def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "")
    settings = model_settings()
    assert settings.chat_temperature is None
    assert settings.models_dir is None
    assert settings.rate_table() == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RAGWEAVE_CHAT_TIMEOUT", "soon"),
        ("RAGWEAVE_CHAT_TIMEOUT", "0"),
        ("RAGWEAVE_CHAT_WIDTH", "0"),
        ("RAGWEAVE_CHAT_JSON", "xml"),
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
