"""A language model extracts entities, in one call a chunk."""

from __future__ import annotations

import pytest

from ragweave.components.entities import extractor
from ragweave.corpora.settings import corpora_settings
from ragweave.models.chat import override
from ragweave.tests.support import ScriptedChat

FIRST = "entity | Ada | person | She looked.\nrelation | Ada | Pell | lived in | 3"


async def extracted(reply: str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], int, int]:
    monkeypatch.setenv("RAGWEAVE_ENTITIES", "llm")
    corpora_settings.cache_clear()
    model = ScriptedChat(replies=[reply])
    with override(writer=model):
        made = extractor()
        assert made is not None
        entities, relations = await made.ask("Ada lived in Pell.")
    return [e.name for e in entities], len(relations), len(model.calls)


async def test_a_chunk_costs_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await extracted(FIRST, monkeypatch) == (["Ada"], 1, 1)


@pytest.mark.parametrize(("setting", "there"), [("llm", True), ("off", False)])
def test_a_model_extracts_only_where_it_was_asked_to(
    setting: str, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_ENTITIES", setting)
    corpora_settings.cache_clear()
    with override(writer=ScriptedChat()):
        assert (extractor() is not None) is there
