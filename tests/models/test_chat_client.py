from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ragweave.models import chat_client
from ragweave.models.chat_client import Served, connect, is_local
from ragweave.models.settings import model_settings


def served(put: Any, setting: str, url: str = "") -> Served:
    put(chat_url=url, chat=setting)
    return Served.of(model_settings().endpoint("writer"), model_settings())


@pytest.mark.parametrize(
    ("setting", "url", "name", "host"),
    [
        ("anthropic:claude-haiku", "", "claude-haiku", "anthropic"),
        ("gpt-4o-mini", "", "gpt-4o-mini", "its provider"),
        ("openai:qwen3:4b", "http://localhost:11434/v1", "qwen3:4b", "localhost:11434"),
        ("org/model", "https://user:secret@llm.example.org/v1", "org/model", "llm.example.org"),
    ],
)
def test_name_and_host_follow_from_the_setting_or_the_variable_of_the_provider(
    put: Any, monkeypatch: pytest.MonkeyPatch, setting: str, url: str, name: str, host: str
) -> None:
    made = served(put, setting, url)
    assert (made.name, made.host) == (name, host)
    assert served(put, "openai:gpt-4o-mini").host == "api.openai.com"
    monkeypatch.setenv("OPENAI_BASE_URL", "https://proxy.example.org/v1")
    assert served(put, "openai:gpt-4o-mini").host == "proxy.example.org"


def test_this_machine_is_told_from_others() -> None:
    assert all(map(is_local, ["localhost", "localhost:11434", "127.0.0.1:8000", "127.8.9.1", "[::1]:80"]))
    others = [
        "api.openai.com",
        "192.168.1.5:80",
        "localhost.example.org",
        "127.0.0.1.example.org",
        "",
        "0.0.0.0",
    ]
    assert not any(map(is_local, others))


def raised(result: Any) -> Any:
    if isinstance(result, Exception):
        raise result
    return result


async def test_calls_of_one_event_loop_share_a_client_and_other_loops_have_their_own(
    put: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    results: list[Any] = [ImportError("not yet"), object(), object(), object()]
    monkeypatch.setattr(chat_client, "build", lambda served: raised(results.pop(0)))
    model = served(put, "openai:m", "http://127.0.0.1:1/v1")
    with pytest.raises(ImportError):
        await connect(model)
    one, other = await asyncio.gather(connect(model), connect(model))
    assert one is other is await connect(model)
    assert await asyncio.to_thread(lambda: asyncio.run(connect(model))) is not one
