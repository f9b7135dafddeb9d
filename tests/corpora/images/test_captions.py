"""Pictures described by a vision model: in their items, side by side, kept, and asked again where it failed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragweave.app import api
from ragweave.components.indexing import captioner
from ragweave.corpora.images.captions import GIVE_UP
from ragweave.corpora.ingest.events import Report
from ragweave.corpora.parts import part, with_caption
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import Item, Span
from ragweave.models.settings import model_settings
from ragweave.tests.support import Fault, ScriptedServer
from tests.corpora.images.conftest import BLUE, GREEN, RED, picture  # type: ignore[import-not-found]

COLOURS = {"red": RED, "green": GREEN, "blue": BLUE}


class Eye(ScriptedServer):
    """Says which picture it was shown, by the name it was told; `broken` names fail."""

    def __init__(self, **options: object) -> None:
        super().__init__(react=self._look, latency=0.02, **options)  # type: ignore[arg-type]
        self.broken: dict[str, Fault] = {}

    def _look(self, got: object) -> object:
        prompt = got.prompt  # type: ignore[attr-defined]
        for name, fault in self.broken.items():
            if name in prompt:
                return fault
        told = next((n for n in COLOURS if f"{n} photo" in prompt), "")
        return f"A zeppelin over the {told} roofs." if told else "ready"

    def shown(self) -> list[str]:
        """The prompts that held a picture of the library."""
        return [r.prompt for r in self.requests if "Say: ready" not in r.prompt]


@pytest.fixture
def eye(monkeypatch: pytest.MonkeyPatch) -> Iterator[Eye]:
    monkeypatch.setenv("RAGWEAVE_OCR", "off")
    with Eye() as server:
        monkeypatch.setenv("RAGWEAVE_VISION", "eye-1")
        monkeypatch.setenv("RAGWEAVE_CHAT_URL", server.base_url)
        monkeypatch.setenv("RAGWEAVE_CHAT_KEY", "right")
        again()
        yield server


def again() -> None:
    model_settings.cache_clear()
    corpora_settings.cache_clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "photos"
    made.mkdir()
    for name, colour in COLOURS.items():
        (made / f"{name} photo.png").write_bytes(picture(colour))
    return made


async def run(folder: Path) -> Report:
    return await api.aindex([folder])


async def pictures() -> dict[str, Item]:
    held = stores()
    row = held.catalog.library("default")
    return {str(i.meta["own"]).split()[0]: i for page in held.catalog.pages(row.id, "image") for i in page}


async def test_captions_are_written_side_by_side_and_found_by_word_and_by_meaning(
    eye: Eye, folder: Path
) -> None:
    together = threading.Barrier(3, timeout=30)
    eye.latency = lambda got: 0.0 if "Say: ready" in got.prompt else 0.0 * together.wait()
    report = await run(folder)
    assert (report.captioned, report.notes, len(eye.shown())) == (3, [], 3)
    assert eye.max_in_flight == 3
    found = await pictures()
    assert part(found["red"], "seen") == "A zeppelin over the red roofs."
    assert found["red"].meta["seen_by"] == captioner().name  # type: ignore[union-attr]
    [lists] = await (await open_library()).search("image", ["zeppelin red roofs"])
    assert lists.lexical[0].id == lists.dense[0].id == found["red"].id
    assert lists.dense[0].score > 0.3


async def test_a_picture_whose_caption_failed_is_asked_for_by_the_next_run_alone(
    eye: Eye, folder: Path
) -> None:
    eye.broken = {"green photo": Fault.status(400, "no such picture")}
    report = await run(folder)
    assert (report.captioned, report.failed, len(await pictures())) == (2, [], 3)
    assert report.notes[0].startswith("1 of 3 pictures has no caption:") and "400" in report.notes[0]
    assert (await pictures())["green"].text == ""
    eye.broken = {}
    before = len(eye.shown())
    assert (await run(folder)).captioned == 1
    assert len(eye.shown()) == before + 1 and "green photo" in eye.shown()[-1]
    asked = len(eye.requests)
    assert (await run(folder)).captioned == 0 and len(eye.requests) == asked


async def test_a_server_that_went_away_is_not_asked_for_every_picture(
    eye: Eye, folder: Path, monkeypatch
) -> None:
    for n in range(10):
        (folder / f"more {n}.png").write_bytes(picture((20 * n, 255 - 20 * n, 90)))
    monkeypatch.setenv("RAGWEAVE_CHAT_WIDTH", "1")
    monkeypatch.setattr("ragweave.models.failures.BACKOFF", 0.0)
    again()
    eye.broken = {"picture": Fault.status(503)}
    report = await run(folder)
    assert report.captioned == 0 and "13 of 13" in report.notes[0]
    assert len(set(eye.shown())) <= GIVE_UP + 4


def test_a_caption_moves_the_boxes_with_their_words() -> None:
    text = "The mole\n\nRed harbour\nopen all night\n\nShips come in."
    parts = {"caption": [0, 8], "words": [10, 36], "around": [38, 52]}
    item = Item("i", "image", "s", "", text, {"kind": "image"}, spans=(Span(10, 21, bbox=(1, 2, 3, 4)),))
    item.meta["parts"] = parts
    for said in ("A mole.", "A red mole at low water.", ""):
        item = with_caption(item, said, "eye")
        span = item.spans[0]
        assert item.text[span.start : span.end] == "Red harbour"
        assert (part(item, "seen"), part(item, "caption"), part(item, "around")) == (
            said,
            "The mole",
            "Ships come in.",
        )
    assert item.text == text
