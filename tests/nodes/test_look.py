"""Looking at the frames of kept clips."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragweave.app.api import astate
from ragweave.components.look import frames
from ragweave.corpora.types import Item
from ragweave.models.chat import override
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.frames import filmed
from ragweave.tests.support.knobs import context as knobs_of


@pytest.fixture
async def recording(tmp_path: Path, home: Path) -> Path:
    await filmed(tmp_path)
    return home


def text_model() -> ScriptedChat:
    def react(messages: list[Any]) -> Any:
        system = messages[0].text
        if "prepare the search" in system:
            return {"statement": "It is about the bridge.", "scene": "a bridge", "keywords": ["bridge"]}
        if "judge whether passages" in system:
            return {"verdicts": [{"n": n, "verdict": "relevant"} for n in (1, 2)]}
        return "The river is green [1]."

    return ScriptedChat(react=react)


class Refused(Exception):
    """What a client raises for an answer with an error status."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status_code = status
        self.body = {"code": "insufficient_quota"} if status == 429 else None


async def run(vision: ScriptedChat, **knobs: Any) -> Any:
    with override(writer=text_model(), vision=vision):
        knobs = {"channels": ("chunk", "visual", "speech"), **knobs}  # the second clip shares no word with it
        return await astate(
            "Which colour has the river?", context=knobs_of(mode="llm", **knobs), graph="video_rag"
        )


def looked(state: Any) -> list[str]:
    """Return what was seen in each clip."""
    return [e["seen"] for e in state["evidence"] if e.get("seen")]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "The image violates the content policy"),
        (400, "This model's maximum context length is 4096 tokens"),
        (400, "the image format webp is not supported"),
        (400, "the model does not support images larger than 20 MB"),
        (400, "At most 4 images may be provided in one request"),
        (400, "image inputs are only enabled for verified organizations"),
        (400, "Images are not supported for free tier keys"),
        (400, "this model does not accept images (limit of 5 per minute reached)"),
        (400, "image input is not supported, file type image/webp"),
        (400, "The model does not support images: too many tokens"),
        (401, "wrong key"),
        (429, "no credit"),
    ],
)
async def test_a_refusal_of_one_picture_or_call_ends_looking_for_its_turn_alone(
    recording: Path, status: int, said: str
) -> None:
    replies: list[Any] = [Refused(status, said)] * 2 + ["The river is green."] * 2
    vision = ScriptedChat(react=lambda messages: replies.pop(0))
    state = await run(vision)
    assert sum("could not be shown" in n for n in state["notes"]) == 1 and not looked(state)
    state = await run(vision)
    assert looked(state) == ["The river is green."] * 2
    assert not any("could not be shown" in n for n in state["notes"])


async def test_frames_that_are_gone_cost_a_note(recording: Path) -> None:
    for path in (recording / "libraries").rglob("*.jpg"):
        path.unlink()
    vision = ScriptedChat()
    state = await run(vision)
    assert not looked(state) and any("could not be looked at" in n for n in state["notes"])


@pytest.mark.parametrize(
    ("stored", "most", "shown"),
    [
        ([], 3, []),
        ([[0, "a"], [1, "b"]], 3, ["a", "b"]),
        ([[n, str(n)] for n in range(10)], 4, ["0", "3", "6", "9"]),
        ([[n, str(n)] for n in range(10)], 1, ["0"]),
        ("garbage", 3, []),
    ],
)
def test_frames_are_spread_over_the_clip(stored: Any, most: int, shown: list[str]) -> None:
    item = Item("c", "clip", "s", "t", "", {"kind": "time"}, meta={"frames": stored})
    assert [name for _, name in frames(item, most)] == shown
