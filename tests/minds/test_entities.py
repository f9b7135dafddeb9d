"""A language model extracts entities, with as many further rounds as are allowed."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.corpora.settings import corpora_settings
from ragweave.minds.llm.entities import extract, extractor, summarise
from ragweave.models.chat import chat, override
from ragweave.models.meter import Meter
from ragweave.tests.support import ScriptedChat

FIRST = "entity | Ada | person | She looked.\nrelation | Ada | Pell | lived in | 3"
MORE = "entity | Pell | place | A town."


async def extracted(replies: list[Any], gleanings: int) -> tuple[list[str], int, ScriptedChat]:
    model = ScriptedChat(replies=replies)
    with override(writer=model):
        found = chat("judge")
        assert found is not None
        entities, relations = await extract(found, "Ada lived in Pell.", gleanings, Meter())
    return [e.name for e in entities], len(relations), model


async def test_without_gleaning_a_chunk_costs_one_call() -> None:
    names, relations, model = await extracted([FIRST], 0)
    assert (names, relations, len(model.calls)) == (["Ada"], 1, 1)


async def test_a_gleaning_adds_what_was_missed() -> None:
    names, _, model = await extracted([FIRST, MORE], 1)
    assert names == ["Ada", "Pell"]
    assert "entity | Ada" in model.calls[1].prompt


async def test_gleaning_ends_where_it_brings_nothing_new() -> None:
    names, _, model = await extracted([FIRST, "NONE"], 5)
    assert names == ["Ada"] and len(model.calls) == 2


async def test_garbage_is_no_entity_and_no_error() -> None:
    names, relations, _ = await extracted(["I am sorry, I cannot do that."], 0)
    assert (names, relations) == ([], 0)


@pytest.mark.parametrize(("setting", "there"), [("small", False), ("llm", True), ("off", False)])
def test_a_model_extracts_only_where_it_was_asked_to(
    setting: str, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_ENTITIES", setting)
    corpora_settings.cache_clear()
    with override(writer=ScriptedChat()):
        assert (extractor() is not None) is there


async def test_long_descriptions_are_put_in_short_by_a_model_or_not_at_all() -> None:
    with override(writer=ScriptedChat(replies=["Ada  looked\nat stars."])):
        assert await summarise("Ada", ["She looked.", "At stars."]) == "Ada looked at stars."
    assert await summarise("Ada", ["She looked."]) is None
