"""Relevance of pictures by text and look, and the answer about a picture without text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ragweave.app.api import astate
from ragweave.components import look as pictures
from ragweave.components.context import Context
from ragweave.corpora.ingest.run import index
from ragweave.corpora.store import visual_search
from ragweave.models import relevance
from ragweave.models.chat import override
from ragweave.tests.support import ScriptedChat


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
