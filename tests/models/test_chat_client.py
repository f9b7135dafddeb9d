from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ragweave.models import chat_client
from ragweave.models.chat_client import Served, connect, is_local
from ragweave.models.settings import model_settings


def served(monkeypatch: pytest.MonkeyPatch, setting: str, url: str = "") -> Served:
    monkeypatch.setenv("RAGWEAVE_CHAT_URL", url)
    model_settings.cache_clear()
    monkeypatch.setenv("RAGWEAVE_CHAT", setting)
    model_settings.cache_clear()
    return Served.of(model_settings().endpoint("writer"), model_settings())


@pytest.mark.parametrize(
    ("setting", "url", "name", "host"),
    [
        ("openai:gpt-4o-mini", "", "gpt-4o-mini", "api.openai.com"),
        ("anthropic:claude-haiku", "", "claude-haiku", "anthropic"),
        ("gpt-4o-mini", "", "gpt-4o-mini", "its provider"),
        ("openai:qwen3", "http://localhost:8000/v1", "qwen3", "localhost:8000"),
        ("qwen3:4b", "http://localhost:11434/v1", "qwen3:4b", "localhost:11434"),
        ("openai:qwen3:4b", "http://localhost:11434/v1", "qwen3:4b", "localhost:11434"),
        ("org/model", "https://user:secret@llm.example.org/v1", "org/model", "llm.example.org"),
    ],
)
def test_name_and_host_follow_from_the_setting(
    monkeypatch: pytest.MonkeyPatch, setting: str, url: str, name: str, host: str
) -> None:
    made = served(monkeypatch, setting, url)
    assert (made.name, made.host) == (name, host)


def test_the_host_is_the_one_the_provider_variable_leads_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://proxy.example.org/v1")
    assert served(monkeypatch, "openai:gpt-4o-mini").host == "proxy.example.org"


@pytest.mark.parametrize("host", ["localhost", "localhost:11434", "127.0.0.1:8000", "127.8.9.1", "[::1]:80"])
def test_this_machine_is_told_from_others(host: str) -> None:
    assert is_local(host)


@pytest.mark.parametrize(
    "host",
    ["api.openai.com", "192.168.1.5:80", "localhost.example.org", "127.0.0.1.example.org", "openai", "", "0.0.0.0"],
)
def test_other_machines_are_not_this_one(host: str) -> None:
    assert not is_local(host)


async def test_calls_that_start_together_share_one_client(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[object] = []

    def build(served: Served) -> Any:
        built.append(object())
        return built[-1]

    monkeypatch.setattr(chat_client, "build", build)
    model = served(monkeypatch, "openai:m", "http://127.0.0.1:1/v1")
    assert len({id(c) for c in await asyncio.gather(*(connect(model) for _ in range(10)))}) == 1
    assert len(built) == 1


async def test_a_client_that_could_not_be_made_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    results: list[Any] = [ImportError("not yet"), "made"]

    def build(served: Served) -> Any:
        result = results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr(chat_client, "build", build)
    model = served(monkeypatch, "openai:m", "http://127.0.0.1:1/v1")
    with pytest.raises(ImportError):
        await connect(model)
    assert (await connect(model)).model == "made"


def test_clients_are_not_shared_among_event_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_client, "build", lambda served: object())
    model = served(monkeypatch, "openai:m", "http://127.0.0.1:1/v1")
    assert asyncio.run(connect(model)).model is not asyncio.run(connect(model)).model


def test_the_openai_client_neither_retries_nor_shares_its_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    model = served(monkeypatch, "m", "http://127.0.0.1:1/v1")
    first: Any = chat_client.build(model)
    second: Any = chat_client.build(model)
    assert first.max_retries == 0
    assert first.root_async_client._client is not second.root_async_client._client
