from __future__ import annotations

import pytest

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.web import available
from ragweave.corpora.web.providers import PROVIDERS, make
from ragweave.models.errors import InputError, MissingExtra, WebError

FOLDER = {"RAGWEAVE_WEB_FOLDER": "/pages"}
SEARX = {"RAGWEAVE_WEB_SEARX_URL": "http://127.0.0.1:8888"}
OWN_KEY = {"RAGWEAVE_TAVILY_KEY": "tvly-own"}
FOUND_KEY = {"TAVILY_API_KEY": "tvly-found"}
OFFLINE = {"RAGWEAVE_OFFLINE": "true"}


def named(name: str) -> dict[str, str]:
    return {"RAGWEAVE_WEB_PROVIDER": name}


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
        (FOUND_KEY | named("tavily"), "tavily"),
        (FOLDER | named("searx"), "searx"),
        (named("DuckDuckGo"), "duckduckgo"),
        (OFFLINE | SEARX | OWN_KEY, ""),
        (OFFLINE | OWN_KEY | named("tavily"), ""),
        (OFFLINE | named("duckduckgo"), ""),
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
    set_all(monkeypatch, FOUND_KEY | named("tavily"))
    with pytest.raises(WebError, match="RAGWEAVE_TAVILY_KEY"):
        make()


@pytest.mark.parametrize("name", ["folder", "searx", "tavily"])
def test_a_named_provider_without_its_setting_says_which_one_is_missing(name: str) -> None:
    with pytest.raises(WebError, match=rf"The {name} provider has no \w+\. Set RAGWEAVE_"):
        make(name)


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        ({}, "No web search is configured"),
        (OFFLINE | SEARX, "RAGWEAVE_OFFLINE"),
        (OFFLINE | named("duckduckgo"), "RAGWEAVE_OFFLINE"),
    ],
)
def test_no_provider_and_offline_are_sentences(
    environment: dict[str, str], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_all(monkeypatch, environment)
    with pytest.raises(WebError, match=why):
        make()


def test_an_unknown_provider_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="Choose one of folder, searx, tavily"):
        make("altavista")


def test_every_provider_carries_the_name_it_is_chosen_by(monkeypatch: pytest.MonkeyPatch) -> None:
    set_all(monkeypatch, FOLDER | SEARX | OWN_KEY)
    assert {name: make(name).name for name in PROVIDERS} == {name: name for name in PROVIDERS}


def test_a_setting_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    set_all(monkeypatch, {"RAGWEAVE_WEB_SEARX_URL": "file:///etc"})
    with pytest.raises(InputError, match="RAGWEAVE_WEB_SEARX_URL cannot be used"):
        make()


def test_a_key_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_TAVILY_KEY", "tvly-secret")
    assert "secret" not in repr(corpora_settings())


@pytest.mark.parametrize("name", ["duckduckgo", "wikipedia"])
async def test_a_keyless_provider_without_its_package_names_the_extra(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "langchain_community", None)
    with pytest.raises(MissingExtra, match=r"ragweave\[community\]"):
        await make(name).search("x", 3)
