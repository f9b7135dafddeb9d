"""Whisper tiny.en with its real weights, as `ragweave setup speech` leaves it, hears a lecture."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from ragweave.app.api import aask, asearch
from ragweave.components.context import Context
from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import open_library
from ragweave.corpora.types import Item
from ragweave.models.asr import asr
from ragweave.models.speech import Transcript
from ragweave.models.vad import RATE

pytestmark = pytest.mark.weights
pytest.importorskip("faster_whisper", reason="the extra `video` is not installed")


async def clips() -> list[Item]:
    """Return the clips of the library, in order."""
    found = await open_library()
    ids = [i.id for page in found.held.catalog.pages(found.id, "clip") for i in page]
    return sorted((await found.items(ids)).values(), key=lambda item: item.ordinal)


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower())


@pytest.fixture
def lecture(data_dir: Path, tmp_path: Path) -> Path:
    """A recording of two and a half minutes in a folder of its own."""
    (tmp_path / "lectures").mkdir()
    return Path(shutil.copy(data_dir / "audio" / "swc_softeng_intro.mp3", tmp_path / "lectures"))


@pytest.mark.data
async def test_a_lecture_is_understood_found_and_quoted_without_a_doubt(
    lecture: Path, data_dir: Path
) -> None:
    report = await index([lecture.parent])
    assert (report.indexed, report.failed) == (1, [])
    heard = await clips()
    told = words((data_dir / "audio" / "swc_softeng_intro.txt").read_text(encoding="utf-8"))
    said = words(" ".join(clip.text for clip in heard))
    assert len(set(told) & set(said)) >= 0.97 * len(set(told)) and abs(len(told) - len(said)) <= 10
    assert {clip.meta["speech"] for clip in heard if clip.text} == {"whisper"}
    assert not [clip.locator for clip in heard if clip.locator.get("doubtful")]
    [best, *_] = await asearch("When was the term software engineering first used?")
    assert "NATO conference in 1968" in best["text"]
    answer = await aask(
        "When was the term software engineering first used?", context=Context(mode="extractive")
    )
    assert "1968" in answer.text and "perhaps wrongly" not in answer.text


@pytest.mark.data
async def test_it_hears_again_what_another_engine_heard(
    lecture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Old:
        name, label, longest, width = "old", "whisper", 28.0, 1

        def check(self) -> None: ...

        def transcribe(self, sound: np.ndarray, language: str = "") -> Transcript:
            return Transcript("the number of generations the pots", (), 0.95, "en")

    with monkeypatch.context() as patch:
        patch.setattr("ragweave.corpora.video.intake.asr", lambda name=None: Old())
        await index([lecture.parent])
        assert "the pots" in (await clips())[0].text
    assert (await index([lecture.parent])).indexed == 1
    heard = await clips()
    assert "pots" not in " ".join(clip.text for clip in heard) and "software engineering" in heard[0].text
    assert (await index([lecture.parent])).unchanged == 1


def test_what_it_hears_in_noise_is_nothing_or_in_doubt() -> None:
    engine = asr()
    assert engine is not None
    rng, time = np.random.default_rng(5), np.arange(RATE * 12) / RATE
    chord = sum(np.sin(2 * np.pi * tone * time) for tone in (262, 330, 392)) * 0.2
    for sound in (rng.normal(0, 0.1, len(time)), chord, np.zeros(len(time))):
        heard = engine.transcribe((sound * 32767).astype(np.int16))
        assert not heard.text or heard.confidence < 0.7, heard


def test_a_file_that_is_not_what_was_fetched_is_told_and_thrown_away(home: Path, tmp_path: Path) -> None:
    from ragweave.models.errors import WeightsError
    from ragweave.models.offers import WHISPER_ENGLISH as OFFER

    whole = home / "models" / "hub" / f"models--{OFFER.name.replace('/', '--')}" / "snapshots" / OFFER.commit
    folder = tmp_path / "torn" / whole.relative_to(home / "models")
    shutil.copytree(whole, folder)
    with (folder / "model.bin").open("r+b") as file:
        file.truncate(10_000_000)
    (home / "models").unlink()
    (home / "models").symlink_to(tmp_path / "torn")
    engine = asr()
    assert engine is not None
    with pytest.raises(
        WeightsError, match=r"model\.bin .* does not have the sha256 .*`ragweave setup speech`"
    ):
        engine.check()
    assert not (folder / "model.bin").exists() and asr() is None
