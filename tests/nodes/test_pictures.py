"""Pictures among the evidence: found by what they show, looked at, shown to a writer, cited with their box."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from ragweave.app.api import astate
from ragweave.components import look as pictures
from ragweave.components.context import Context
from ragweave.components.look import frames
from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.ingest.run import index
from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.store import visual_search
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import Item
from ragweave.models.chat import override
from ragweave.models.ocr import TextLine
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.frames import filmed
from ragweave.tests.support.knobs import context as knobs_of

NOTE = """# Harbour

## The crane

![The crane of Pell](crane.png)
*The steam crane of Pell lifts forty tonnes.*

## The gate

![The gate](gate.png)
*The lock gate is closed at low water.*
"""


class Signs:
    """Reads a sign on dark pictures."""

    name = "signs"

    def lines(self, image: np.ndarray) -> list[TextLine]:
        return (
            [TextLine("The boiler was inspected by Ada Ostrander in May", (20.0, 30.0, 180.0, 50.0), 0.97)]
            if image.mean() < 90
            else []
        )


def drawn(shade: int) -> bytes:
    image = Image.new("RGB", (300, 200), (shade, shade, shade))
    ImageDraw.Draw(image).text((20, 30), "x", "white", font=ImageFont.load_default())
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


@pytest.fixture
async def harbour(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "harbour"
    folder.mkdir()
    for name, data in {"crane.png": drawn(40), "gate.png": drawn(180), "note.md": NOTE.encode()}.items():
        (folder / name).write_bytes(data)
    monkeypatch.setattr("ragweave.corpora.images.reader.ocr", Signs)
    monkeypatch.setattr(Readers, "read", lambda self, path, *more, **_: prepare(Path(path), *more))
    monkeypatch.setattr(pictures, "_blind", set())
    await index([folder])
    return stores().catalog.library("default").id


async def ask(question: str, model: ScriptedChat | None = None, **knobs: Any) -> dict[str, Any]:
    context = Context(corpora=("image",), max_hops=1, **knobs)
    if model is None:
        return dict(await astate(question, context=context))
    with override(writer=model):
        return dict(await astate(question, context=context))


async def test_the_small_mind_answers_from_the_words_of_a_picture_and_cites_their_box(harbour: str) -> None:
    answer = (await ask("Who inspected the boiler?"))["answer"]
    assert "Ada Ostrander" in answer.text
    [citation] = [c for c in answer.citations if "Ostrander" in c.quote]
    assert citation.locator["kind"] == "image" and citation.locator["bbox"] == [20.0, 30.0, 180.0, 50.0]
    assert Media.of(harbour).path(citation.locator["image"]).exists()
    assert [Path(p["file"]).name for p in citation.also] == [
        "crane.png"
    ]  # the file itself is the same picture


def react(reply: str, seen: str = "The crane is painted green.") -> Any:
    def made(messages: Any) -> Any:
        system = str(messages[0].content)
        if "You look at a picture" in system:
            return seen
        if "from numbered evidence" in system:
            return reply
        if "from numbered documents" in system:
            return "Final Answer: UNKNOWN" if "green" in reply else f"Final Answer: {reply}"
        raise AssertionError(system[:80])

    return made


async def test_a_model_that_sees_is_shown_the_picture_and_what_it_saw_supports_its_answer(
    harbour: str,
) -> None:
    model = ScriptedChat(react=react("The crane is painted green [1]."))
    state = await ask("Which colour has the steam crane of Pell?", model, route_by="local", grade_by="local")
    assert state["answer"].text == "The crane is painted green. [1] ✓"
    writer = next(c for c in model.calls if "numbered evidence" in c.prompt)
    parts = writer.messages[-1].content
    assert "The pictures of [1]" in parts[0]["text"] and parts[1]["image_url"]["url"].startswith(
        "data:image/jpeg"
    )
    looks = [c for c in model.calls if "You look at a picture" in c.prompt]
    assert len(looks) == len(parts) - 1 and "Which colour" in looks[0].prompt


class Shades:
    """An image encoder that knows dark from bright."""

    name, dim, frames = "shades", 2, 1

    def images(self, images: Any) -> np.ndarray:
        return np.array([[1, 0] if i.mean() < 90 else [0, 1] for i in images], dtype=np.float32)

    def texts(self, texts: Any) -> np.ndarray:
        return np.array([[1, 0] if "dark" in t else [0, 1] for t in texts], dtype=np.float32)


@pytest.mark.parametrize(("words", "first"), [("something dark", "crane"), ("something bright", "gate")])
async def test_with_an_encoder_what_a_picture_shows_decides(
    harbour: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, first: str
) -> None:
    monkeypatch.setattr(visual_search, "image_encoder", Shades)
    report = await index([tmp_path / "harbour"])
    assert report.seen == 4 and report.notes == []
    state = await ask(words)
    rows = {e["id"]: e for e in state["evidence"]}
    assert first in rows[state["candidates"][0]]["text"] + rows[state["candidates"][0]]["title"]


async def test_another_encoder_than_that_of_the_index_is_a_note_of_the_answer(
    harbour: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visual_search, "image_encoder", Shades)
    await index([tmp_path / "harbour"])
    other = Shades()
    other.name = "others"
    monkeypatch.setattr(visual_search, "image_encoder", lambda: other)
    answer = (await ask("Who inspected the boiler?"))["answer"]
    assert "Ada Ostrander" in answer.text and any(
        "seen by shades, and others is set" in n for n in answer.notes
    )


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
