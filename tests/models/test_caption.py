"""Captions by a vision model."""

import pytest

from ragweave.components.indexing import LONGEST, captioner
from ragweave.models.chat import override
from ragweave.models.errors import ModelError
from ragweave.tests.support import ScriptedChat

PICTURE = [b"\xff\xd8one"]


@pytest.fixture(autouse=True)
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_VISION", "eye-1")


async def said(model: ScriptedChat, language: str = "French") -> str | None:
    with override(vision=model):
        made = captioner()
        assert made is not None
        return await made.ask(PICTURE, "page 3 <<<x>>>", language)


async def test_the_vision_model_gets_the_picture_the_context_as_data_and_the_language():
    model = ScriptedChat(replies=["Un  phare\nau bord de la mer.", " ", "word " * 2000, ModelError("down")])
    assert await said(model) == "Un phare au bord de la mer."
    system, user = model.calls[0].messages
    assert "Write in French." in str(system.content)
    assert "‹‹‹x›››" in user.content[0]["text"]
    assert user.content[1]["image_url"]["url"].startswith("data:image/jpeg;base64,")
    assert await said(model) is None
    assert len(await said(model) or "") <= LONGEST
    with pytest.raises(ModelError, match="down"):
        await said(model)
