"""Captions by a vision model."""

import pytest

from ragweave.models.caption import LONGEST, caption
from ragweave.models.chat import override
from ragweave.models.errors import ModelError
from ragweave.models.meter import Meter
from ragweave.prompts import captions
from ragweave.tests.support import ScriptedChat

PICTURE = [b"\xff\xd8one"]


async def said(model: ScriptedChat, language: str = "French") -> str | None:
    with override(vision=model):
        return await caption(PICTURE, "page 3 <<<x>>>", prompt=captions, language=language, node="index", meter=Meter())


async def test_the_vision_model_gets_the_picture_the_context_as_data_and_the_language():
    model = ScriptedChat(replies=["Un  phare\nau bord de la mer."])
    assert await said(model) == "Un phare au bord de la mer."
    system, user = model.calls[0].messages
    assert "Write in French." in str(system.content)
    assert "‹‹‹x›››" in user.content[0]["text"]
    assert user.content[1]["image_url"]["url"].startswith("data:image/jpeg;base64,")


async def test_without_a_language_it_is_that_of_the_context():
    model = ScriptedChat(replies=["x"])
    await said(model, "")
    assert "the language of the quoted context" in model.calls[0].prompt


async def test_a_failing_model_says_why_an_empty_reply_is_no_caption_and_a_long_one_is_cut():
    with pytest.raises(ModelError, match="down"):
        await said(ScriptedChat(replies=[ModelError("down")]))
    assert await said(ScriptedChat(replies=[" "])) is None
    assert len(await said(ScriptedChat(replies=["word " * 2000])) or "") <= LONGEST


async def test_without_a_vision_model_there_is_no_caption():
    assert await caption(PICTURE, "", prompt=captions, language="", node="index", meter=Meter()) is None
