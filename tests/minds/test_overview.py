"""What a language model says of a whole recording, read tolerantly."""

from __future__ import annotations

import json

import pytest

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.video.described import Overview
from ragweave.minds.llm.overview import sum_up, summariser
from ragweave.models.chat import chat, override
from ragweave.models.meter import Meter
from ragweave.tests.support import ScriptedChat


async def summed(*replies: str) -> Overview | None:
    with override(writer=ScriptedChat(replies=list(replies))):
        model = chat("writer")
        assert model is not None
        return await sum_up(model, "[0:00] A comet came.", Meter())


async def test_a_reply_becomes_title_summary_chapters_and_phrases() -> None:
    chapters = [{"at": "[0:00]", "title": "Comet"}, {"at": "1:02:03", "title": "Moon"}, {"at": "soon", "title": "Lost"}]
    reply = {"title": "Comets", "summary": "About\ncomets.", "chapters": chapters, "phrases": "Pell, Ada"}
    found = await summed(json.dumps(reply))
    assert found == Overview("Comets", "About comets.", ((0.0, "Comet"), (3723.0, "Moon")), ("Pell", "Ada"))


async def test_a_reply_that_says_nothing_is_none() -> None:
    assert await summed(json.dumps({"title": "Comets"})) is None


@pytest.mark.parametrize(("setting", "there"), [("small", False), ("llm", True)])
def test_a_model_sums_up_only_where_it_was_asked_to(setting: str, there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_SUMMARIES", setting)
    corpora_settings.cache_clear()
    with override(writer=ScriptedChat()):
        assert (summariser() is not None) is there
