"""Frames of clips reach every writer that can see, and documents reach it whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from ragweave.app.api import aindex, astate
from ragweave.models.chat import override
from ragweave.models.errors import ModelError
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.frames import filmed
from ragweave.tests.support.knobs import context as knobs_of
from ragweave.tests.support.library import build_library

QUESTION = "Which colour has the river under the red bridge in the recording?"


@pytest.fixture
async def recording(tmp_path: Path, home: Path) -> Path:
    await filmed(tmp_path)
    return home


def pictures(call: Any) -> int:
    """Return how many pictures a call carries."""
    parts = [p for m in call.messages if isinstance(m.content, list) for p in m.content]
    return sum(p.get("type") in ("image", "image_url") for p in parts)


def answering(messages: list[Any]) -> Any:
    system = messages[0].text
    if "judge whether passages" in system:
        return {"verdicts": [{"n": n, "verdict": "relevant"} for n in (1, 2)]}
    if "Final Answer" not in system:
        return "It is green [1]."
    return "Final Answer: It is green [1]." if "[1]" in messages[-1].text else f"Query: {QUESTION}"


async def answered(graph: str, model: ScriptedChat, **knobs: Any) -> Any:
    with override(writer=model):
        return await astate(QUESTION, context=knobs_of(mode="llm", check_by="off", **knobs), graph=graph)


@pytest.mark.parametrize("graph", ["universal_rag", "rag_fusion", "crag", "auto_rag"])
async def test_a_writer_that_can_see_is_shown_the_frames_of_the_clips(recording: Path, graph: str) -> None:
    model = ScriptedChat(react=answering)
    state = await answered(graph, model, corpora=("clip",))
    assert "green" in state["answer"].text
    shown = [c for c in model.calls if pictures(c)]
    assert len(shown) == 1 and 0 < pictures(shown[0]) <= 32
    assert "frames) are attached" in shown[0].prompt


async def test_a_model_without_eyes_answers_from_the_words_and_is_not_shown_pictures_again(
    recording: Path,
) -> None:
    def blind(messages: list[Any]) -> Any:
        if any(isinstance(m.content, list) for m in messages):
            return ModelError("images are not supported", "use another model")
        return answering(messages)

    for refusals in (1, 0):
        model = ScriptedChat(react=blind)
        state = await answered("universal_rag", model, corpora=("clip",))
        assert "green" in state["answer"].text
        assert sum(map(pictures, model.calls)) == 15 * refusals  # of the one clip that bears on the question
        assert "attached" not in model.calls[-1].prompt and len(model.calls) == 1 + refusals


async def test_where_sentences_are_checked_what_the_frames_show_is_written_down_first(
    recording: Path,
) -> None:
    vision = ScriptedChat(react=lambda messages: "The river is green.")
    with override(writer=ScriptedChat(react=answering), vision=vision):
        knobs = knobs_of(mode="llm", check_by="on", corpora=("clip",), top_k=1)
        state = await astate(QUESTION, context=knobs, graph="universal_rag")
    assert [pictures(c) for c in vision.calls] == [15]
    assert "green" in state["answer"].text


@pytest.fixture
async def quiet(recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A film, a photograph without a word, and a note with the rules."""
    folder = tmp_path / "house"
    folder.mkdir()
    Image.new("RGB", (120, 90), (90, 140, 200)).save(folder / "crater.png")
    (folder / "rules.md").write_text("# Rules\n\nThe quiet hours are from ten to six.\n")
    monkeypatch.setenv("RAGWEAVE_OCR", "off")
    await aindex(folder)


def house(messages: list[Any]) -> Any:
    system = messages[0].text
    if "Final Answer" in system:
        return "Final Answer: UNKNOWN. No lake is named."
    return "NOTHING" if "You look at" in system else "UNKNOWN"


@pytest.mark.parametrize("question", ["What are the quiet hours?", "When are the quiet hours at the lake?"])
async def test_pictures_and_frames_that_have_nothing_to_do_with_a_question_cost_neither_call_nor_place(
    quiet: None, question: str
) -> None:
    model = ScriptedChat(react=house)
    with override(writer=model):
        state = await astate(question, context=knobs_of(mode="llm"))
    assert [pictures(c) for c in model.calls] == [0] and "No lake is named" in state["answer"].text
    assert "rules.md" in model.calls[0].prompt and "crater" not in model.calls[0].prompt


async def test_a_document_is_read_whole(tmp_path: Path, home: Path) -> None:
    chapters = [
        f"Chapter {n}. The harbour of Rook has {n} cranes and a long history of storms." for n in range(90)
    ]
    await build_library(tmp_path / "notes", {"rook.md": "# Rook\n\n" + "\n\n".join(chapters)})
    model = ScriptedChat(react=answering)
    knobs: dict[str, Any] = {"corpora": ("document",), "top_k": 1}
    await answered("universal_rag", model, **knobs)
    assert "Chapter 0." in model.calls[-1].prompt and "Chapter 60." in model.calls[-1].prompt
    cut = ScriptedChat(react=answering)
    await answered("universal_rag", cut, turn_tokens=1000, **knobs)
    assert len(cut.calls[-1].prompt) < 6_000 < len(model.calls[-1].prompt)
