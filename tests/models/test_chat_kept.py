"""Which replies of a chat model are kept: those that gave what was asked for, and no others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pydantic import BaseModel

from ragweave.components.overview import overview_of
from ragweave.models.chat import Chat, chat, override
from ragweave.models.chat_cache import reply_cache
from ragweave.models.meter import Meter
from ragweave.tests.support import ScriptedChat

ASK = [("user", "Which towns?")]


class Towns(BaseModel):
    towns: list[str]


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    reply_cache.cache_clear()


def cached(model: ScriptedChat) -> Chat:
    with override(writer=model, cached=True):
        made = chat()
    assert made is not None
    return made


async def test_a_text_that_gave_nothing_is_asked_for_again_and_a_good_one_is_kept() -> None:
    model = cached(ScriptedChat(replies=["sorry", "Oslo", "never asked for"]))
    good = "Oslo".__eq__
    meter = Meter()
    said = [await model.text(ASK, node="n", meter=meter, good=good) for _ in range(3)]
    assert said == ["sorry", "Oslo", "Oslo"]
    assert (meter.spent.calls, meter.spent.cached) == (2, 1)


async def test_a_kept_reply_that_does_not_satisfy_who_asks_now_is_not_taken() -> None:
    model = cached(ScriptedChat(replies=["Oslo", "Bergen"]))
    assert await model.text(ASK, node="n", meter=Meter()) == "Oslo"
    assert await model.text(ASK, node="n", meter=Meter(), good="Bergen".__eq__) == "Bergen"


async def test_a_structured_reply_of_empty_lists_is_not_kept() -> None:
    model = cached(ScriptedChat(replies=[{"towns": []}, {"towns": ["Oslo"]}]))
    found = [await model.json(ASK, Towns, node="n", meter=Meter()) for _ in range(3)]
    assert [read.towns for read in found if read] == [[], ["Oslo"], ["Oslo"]]


async def test_a_stream_that_gave_nothing_is_asked_for_again() -> None:
    model = cached(ScriptedChat(replies=["No idea.", "In Oslo.", "never asked for"]))

    async def streamed() -> str:
        parts = model.stream(ASK, node="n", meter=Meter(), good=lambda text: "Oslo" in text)
        return "".join([part async for part in parts])

    assert [await streamed() for _ in range(3)] == ["No idea.", "In Oslo.", "In Oslo."]


async def test_a_fresh_model_is_called_whatever_is_kept_and_its_reply_is_kept_instead() -> None:
    model = cached(ScriptedChat(replies=["Oslo", "Bergen"]))
    assert await model.text(ASK, node="n", meter=Meter()) == "Oslo"
    model.call_always()
    assert await model.text(ASK, node="n", meter=Meter()) == "Bergen"
    assert await cached(ScriptedChat(replies=[])).text(ASK, node="n", meter=Meter()) == "Bergen"


async def test_an_introduction_that_cannot_be_used_is_written_again_when_it_is_asked_for_once_more() -> None:
    model = cached(ScriptedChat(replies=["I am only a model.", {"summary": "Two notes on ferries."}]))
    first = await overview_of(["Ferries"], ["The ferry sails."], model, Meter())
    second = await overview_of(["Ferries"], ["The ferry sails."], model, Meter())
    assert first == ("", []) and second[0] == "Two notes on ferries."
