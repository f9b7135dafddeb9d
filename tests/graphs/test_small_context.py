"""A run with a model that reads 4,096 tokens at once: it answers from what fits, and says what was left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragweave.app.api import aask
from ragweave.components.answer import Answer
from ragweave.components.context import Context
from ragweave.models import context_window
from ragweave.models.settings import model_settings
from ragweave.tests.support import ScriptedServer, build_library

SAID = "In {year} the harbour wall of stone was raised by {year} stones, and the clerk wrote of it. "
FILES = {
    f"note{n}.md": (
        f"# Harbour note {n}\n\n" + "".join(SAID.format(year=1_000 + 60 * n + m) for m in range(100))
    )
    for n in range(6)
}
QUESTION = "What did the clerk write of the harbour wall of stone?"


@pytest.fixture
async def asked(home: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(context_window, "_windows", {})
    monkeypatch.setattr("ragweave.models.failures.BACKOFF", 0.0)
    await build_library(tmp_path / "files", FILES)

    async def ask(server: ScriptedServer, **settings: str) -> Answer:
        given = {"chat": "small", "chat_url": server.base_url, "chat_cache": "false", **settings}
        for name, value in given.items():
            monkeypatch.setenv(f"RAGWEAVE_{name.upper()}", value)
        model_settings.cache_clear()
        return await aask(QUESTION, context=Context(max_hops=1, check_by="off", corpora=("document",)))

    return ask


def reply_within(tokens: int) -> Callable[[Any], str]:
    """Return a model that answers only a prompt that it reads whole."""

    def reply(request: Any) -> str:
        whole = len(request.prompt.encode()) // 4 <= tokens
        answer = "The wall was raised. [1]" if whole else "UNKNOWN. The documents do not tell."
        return f"Final Answer: {answer}"

    return reply


reply = reply_within(4_096)


async def test_a_server_that_cuts_in_silence_is_found_out_and_asked_again_with_less(asked: Any) -> None:
    with ScriptedServer(react=reply_within(2_048)) as server:
        server.context = 2_048
        answer = await asked(server)
        sizes = [len(request.prompt.encode()) // 4 for request in server.requests]
    assert max(sizes) > 2_048 > sizes[-1], sizes
    assert "The wall was raised." in answer.text
    assert [
        note for note in answer.notes if "small reads 2,048 tokens at once, so a prompt was cut" in note
    ], answer.notes


@pytest.mark.parametrize("how", ["set", "told"])
async def test_where_the_size_is_known_no_prompt_is_longer(how: str, asked: Any) -> None:
    with ScriptedServer(react=reply) as server:
        server.context = 4_096
        server.pages = {"/props": {"default_generation_settings": {"n_ctx": 4_096}}} if how == "told" else {}
        answer = await asked(server, **({"chat_context": "4096"} if how == "set" else {}))
        sizes = [len(request.prompt.encode()) // 4 for request in server.requests]
    assert max(sizes) <= 3_072 and "The wall was raised." in answer.text
    assert any("reads" in note and " at once" in note for note in answer.notes), answer.notes
