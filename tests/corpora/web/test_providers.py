from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragweave.corpora.web import available
from ragweave.corpora.web.providers import PROVIDERS, chosen, make
from ragweave.corpora.web.settings import WebSettings, web_settings
from ragweave.models.errors import InputError, MissingExtra, WebError

FOLDER = {"RAGWEAVE_WEB_FOLDER": "/pages"}
SEARX = {"RAGWEAVE_WEB_SEARX_URL": "http://127.0.0.1:8888"}
OWN_KEY = {"RAGWEAVE_TAVILY_KEY": "tvly-own"}
FOUND_KEY = {"TAVILY_API_KEY": "tvly-found"}
OFFLINE = {"RAGWEAVE_OFFLINE": "true"}


def named(name: str) -> dict[str, str]:
    return {"RAGWEAVE_WEB_PROVIDER": name}


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
        (FOUND_KEY | named("auto"), "tavily"),
        (FOUND_KEY | SEARX | named("auto"), "searx"),
        (named("auto"), ""),
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
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert available() == provider


def test_the_own_key_goes_before_the_found_one() -> None:
    settings = WebSettings(provider="tavily", tavily_key="own", found_tavily_key="found")  # type: ignore[arg-type]
    provider: Any = make(settings)
    assert provider._key == "own"


@pytest.mark.parametrize("name", ["folder", "searx", "tavily"])
def test_a_named_provider_without_its_setting_says_which_one_is_missing(name: str) -> None:
    with pytest.raises(WebError, match=rf"The {name} provider has no \w+\. Set RAGWEAVE_"):
        make(WebSettings(), name)


def test_no_provider_and_offline_are_sentences() -> None:
    with pytest.raises(WebError, match="No web search is configured"):
        make(WebSettings())
    with pytest.raises(WebError, match="RAGWEAVE_OFFLINE"):
        make(WebSettings(offline=True, searx_url="http://127.0.0.1:1"))
    with pytest.raises(WebError, match="RAGWEAVE_OFFLINE"):
        make(WebSettings(offline=True), "duckduckgo")


def test_an_unknown_provider_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="Choose one of folder, searx, tavily"):
        chosen(WebSettings(), "altavista")


def test_every_provider_carries_the_name_it_is_chosen_by(tmp_path: Path) -> None:
    settings = WebSettings(folder=tmp_path, searx_url="http://127.0.0.1:1", tavily_key="x")  # type: ignore[arg-type]
    assert {name: make(settings, name).name for name in PROVIDERS} == {name: name for name in PROVIDERS}


def test_a_setting_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_WEB_PAGE_BYTES", "many")
    with pytest.raises(InputError, match="RAGWEAVE_WEB_PAGE_BYTES cannot be used"):
        web_settings()


def test_a_key_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_TAVILY_KEY", "tvly-secret")
    assert "secret" not in repr(web_settings())


def test_the_cache_lies_in_the_home(home: Path) -> None:
    assert web_settings().home == home


@pytest.mark.parametrize("name", ["duckduckgo", "wikipedia"])
async def test_a_keyless_provider_without_its_package_names_the_extra(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "langchain_community", None)
    with pytest.raises(MissingExtra, match=r"ragweave\[community\]"):
        await make(WebSettings(), name).search("x", 3)
