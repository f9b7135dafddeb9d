from __future__ import annotations

import pytest

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.web.providers import available, make
from ragweave.models.errors import InputError, WebError

FOLDER = {"RAGWEAVE_WEB_FOLDER": "/pages"}
SEARX = {"RAGWEAVE_WEB_SEARX_URL": "http://127.0.0.1:8888"}
OWN_KEY = {"RAGWEAVE_TAVILY_KEY": "tvly-own"}
FOUND_KEY = {"TAVILY_API_KEY": "tvly-found"}
OFFLINE = {"RAGWEAVE_OFFLINE": "true"}


def set_all(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAVILY_API_KEY", raising=False)


@pytest.mark.parametrize(
    ("environment", "provider"),
    [
        ({}, ""),
        (FOLDER, "folder"),
        (SEARX, "searx"),
        (OWN_KEY, "tavily"),
        (FOLDER | SEARX | OWN_KEY, "folder"),
        (SEARX | OWN_KEY, "searx"),
        (FOUND_KEY, ""),
        (FOUND_KEY | SEARX, "searx"),
        (OFFLINE | SEARX | OWN_KEY, ""),
        (OFFLINE | FOLDER | SEARX, "folder"),
        ({"RAGWEAVE_WEB_FOLDER": "", "RAGWEAVE_WEB_SEARX_URL": "", "RAGWEAVE_TAVILY_KEY": ""}, ""),
    ],
)
def test_only_what_was_configured_on_purpose_is_asked(
    environment: dict[str, str], provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_all(monkeypatch, environment)
    assert available() == provider


def test_a_key_that_lies_in_the_environment_is_never_used(monkeypatch: pytest.MonkeyPatch) -> None:
    set_all(monkeypatch, FOUND_KEY)
    with pytest.raises(WebError, match="RAGWEAVE_TAVILY_KEY"):
        make()


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        ({}, "No web search is configured"),
        (OFFLINE | SEARX, "RAGWEAVE_OFFLINE"),
    ],
)
def test_no_provider_and_offline_are_sentences(
    environment: dict[str, str], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_all(monkeypatch, environment)
    with pytest.raises(WebError, match=why):
        make()


@pytest.mark.parametrize(("environment", "name"), [(FOLDER, "folder"), (SEARX, "searx"), (OWN_KEY, "tavily")])
def test_every_provider_carries_the_name_it_is_chosen_by(
    environment: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_all(monkeypatch, environment)
    assert make().name == available() == name


def test_a_setting_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    set_all(monkeypatch, {"RAGWEAVE_WEB_SEARX_URL": "file:///etc"})
    with pytest.raises(InputError, match="RAGWEAVE_WEB_SEARX_URL cannot be used"):
        make()


def test_a_key_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_TAVILY_KEY", "tvly-secret")
    assert "secret" not in repr(corpora_settings())
