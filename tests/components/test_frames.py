"""Pictures and frames: what is shown to a model, and how they are judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ragweave.app.api import aindex, astate
from ragweave.components import look as pictures
from ragweave.components.context import Context
from ragweave.corpora.ingest.run import index
from ragweave.corpora.store import visual_search
from ragweave.models import relevance
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


def frames_shown(call: Any) -> int:
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
    shown = [c for c in model.calls if frames_shown(c)]
    assert len(shown) == 1 and 0 < frames_shown(shown[0]) <= 32
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
        assert (
            sum(map(frames_shown, model.calls)) == 15 * refusals
        )  # of the one clip that bears on the question
        assert "attached" not in model.calls[-1].prompt and len(model.calls) == 1 + refusals


async def test_where_sentences_are_checked_what_the_frames_show_is_written_down_first(
    recording: Path,
) -> None:
    vision = ScriptedChat(react=lambda messages: "The river is green.")
    with override(writer=ScriptedChat(react=answering), vision=vision):
        knobs = knobs_of(mode="llm", check_by="on", corpora=("clip",), top_k=1)
        state = await astate(QUESTION, context=knobs, graph="universal_rag")
    assert [frames_shown(c) for c in vision.calls] == [15]
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
    assert [frames_shown(c) for c in model.calls] == [0] and "No lake is named" in state["answer"].text
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


async def test_as_published_a_long_document_is_read_to_its_end_and_by_us_in_part(
    tmp_path: Path, home: Path
) -> None:
    chapters = [
        f"Chapter {n}. The harbour of Rook has {n} cranes and a long history of storms." for n in range(240)
    ]
    await build_library(tmp_path / "notes", {"rook.md": "# Rook\n\n" + "\n\n".join(chapters)})
    shown: dict[str, int] = {}
    for preset in ("none", "universal-rag-paper"):
        model = ScriptedChat(react=answering)
        await answered("universal_rag", model, corpora=("document",), top_k=1, preset=preset)
        shown[preset] = sum(f"Chapter {n}." in model.calls[-1].prompt for n in range(240))
    assert shown["universal-rag-paper"] == 240 > shown["none"] > 0


class Random:
    """A tiny encoder with random weights, and one word that it knows: dark."""

    name, dim, frames = "random", 32, 1

    def __init__(self) -> None:
        self.dark = np.random.default_rng(1).normal(size=self.dim)

    def _near(self, seed: str, dark: bool) -> np.ndarray:
        noise = np.random.default_rng(sum(seed.encode())).normal(size=self.dim)
        made = (self.dark + 0.3 * noise) if dark else noise
        return made / np.linalg.norm(made)

    def images(self, images: Any) -> np.ndarray:
        return np.array([self._near(str(i.mean()), i.mean() < 90) for i in images], dtype=np.float32)

    def texts(self, texts: Any) -> np.ndarray:
        return np.array([self._near(t, "gloomy" in t) for t in texts], dtype=np.float32)


@pytest.fixture
async def photos(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for n, shade in enumerate((30, 150, 190, 240)):
        Image.new("RGB", (120, 90), (shade, shade, shade)).save(folder / f"IMG_{n}.png")
    encoder = Random()
    monkeypatch.setenv("RAGWEAVE_OCR", "off")
    monkeypatch.setattr(visual_search, "image_encoder", lambda: encoder)
    monkeypatch.setattr(pictures, "_blind", set())
    await index([folder])
    return folder


async def ask(question: str, **knobs: Any) -> dict[str, Any]:
    return dict(await astate(question, context=Context(corpora=("image",), **knobs)))


async def test_a_picture_without_a_text_is_shown_for_its_look_and_nothing_is_claimed(photos: Path) -> None:
    state = await ask("Which photo is gloomy?")
    answer = state["answer"]
    assert not answer.abstained and answer.mode == "extractive"
    assert answer.text == "Found by look alone; no text says what is shown: “IMG_0”. [1]"
    [citation] = answer.citations
    assert citation.locator["kind"] == "image" and citation.quote == "" and citation.title == "IMG_0"
    assert state["grade"]["best"] > relevance.LOWER and len(state["hops"]) == 1


@pytest.mark.parametrize(
    ("said", "text"),
    [("The photo is gloomy: a dark alley at night.", "dark alley"), ("NOTHING", "")],
)
async def test_a_vision_model_looks_before_pictures_without_a_text_are_graded(
    photos: Path, said: str, text: str
) -> None:
    def react(messages: Any) -> Any:
        system = str(messages[0].content)
        assert "You look at a picture" in system, system[:80]
        return said if "gloomy" in str(messages[-1].content) else "NOTHING"

    model = ScriptedChat(react=react)
    with override(vision=model):
        state = await ask("Which photo is gloomy?", max_hops=1)
    answer = state["answer"]
    assert answer.abstained is not bool(text) and text in answer.text
    assert len(model.calls) <= pictures.MOST
    if text:
        assert answer.citations[0].title == "IMG_0"


async def test_a_model_that_grades_reads_texts_and_the_look_counts_beside_its_verdict(photos: Path) -> None:
    model = ScriptedChat(
        react=lambda messages: {"verdicts": [{"n": n, "verdict": "irrelevant"} for n in range(1, 5)]}
    )
    with override(writer=model):
        state = await ask("Which photo is gloomy?", mode="extractive", grade_by="llm")
    assert state["grade"]["by"] == "llm" and state["grade"]["best"] > 0
    assert (
        state["answer"].text.startswith("Found by look alone")
        and state["answer"].citations[0].title == "IMG_0"
    )
    assert len(model.calls) == 1
