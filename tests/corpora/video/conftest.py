"""Films made by ffmpeg on the spot: test pictures, slides, tones, silence; and scripted speech engines."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from ragweave.corpora.ingest.events import Report
from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import open_library
from ragweave.corpora.types import Item
from ragweave.corpora.video.ffmpeg import binary
from ragweave.models.asr import Transcript, Word
from ragweave.models.vad import RATE, Sound, Stretch

Film = Callable[..., Path]
Ffmpeg = Callable[..., None]
Hears = Callable[["ScriptedAsr | None"], None]


@pytest.fixture
def ffmpeg() -> Ffmpeg:
    """Run ffmpeg with these arguments."""

    def run(*arguments: str) -> None:
        subprocess.run([binary(), "-v", "error", "-y", *arguments], check=True, stdin=subprocess.DEVNULL)

    return run


@pytest.fixture
def film(tmp_path: Path, ffmpeg: Ffmpeg) -> Film:
    """Make a small film: moving test picture and a tone, of so many seconds."""

    def make(
        name: str = "film.mp4",
        seconds: float = 8.0,
        *extra: str,
        size: str = "160x120",
        picture: bool = True,
        sound: str = "sine=frequency=440:sample_rate=16000",
    ) -> Path:
        path = tmp_path / "films" / name
        path.parent.mkdir(exist_ok=True)
        given = ["-f", "lavfi", "-i", f"testsrc=size={size}:rate=10:duration={seconds}"] if picture else []
        given += ["-f", "lavfi", "-i", f"{sound}:duration={seconds}"] if sound else []
        ffmpeg(*given, *(["-pix_fmt", "yuv420p"] if picture else []), *extra, str(path))
        return path

    return make


async def items(library: str = "default") -> list[Item]:
    """Return the clips of a library, then its whole recordings."""
    found = await open_library(library)
    pages = [p for c in ("clip", "video") for p in found.held.catalog.pages(found.id, c)]  # type: ignore[arg-type]
    return list((await found.items([item.id for page in pages for item in page])).values())


async def warnings() -> list[str]:
    """Return what the library says of its sources."""
    return [w for s in await (await open_library()).sources() for w in s.warnings]


def reason(report: Report) -> str:
    """Return why the one file failed."""
    [(_, why)] = report.failed
    return why


def index_one(path: Path) -> str:
    """Index the folder of a recording, and return the id of its first clip."""

    async def first() -> str:
        await index([path.parent])
        return next(i.id for i in await items() if i.corpus == "clip")

    return asyncio.run(first())


class ScriptedAsr:
    """Says that every stretch of sound is the next line of a script."""

    label = "whisper"
    longest = 10.0

    def __init__(self, *lines: str, name: str = "scripted", sure: float | Sequence[float] = 0.9) -> None:
        self.name = name
        self.sure = [sure] if isinstance(sure, float) else list(sure)
        self.lines = list(lines)
        # Side by side a later stretch may take the turn of an earlier one.
        self.width = 1 if len(lines) > 1 else 2
        self.heard: list[float] = []
        self.languages: list[str] = []
        """Language of the recording so far, as each window was given with."""

    def check(self) -> None:
        """Always ready."""

    def transcribe(self, sound: Sound, language: str = "") -> Transcript:
        """Answer with the line whose turn it is, its words spread over the stretch."""
        text = self.lines[len(self.heard) % len(self.lines)]
        sure = self.sure[len(self.heard) % len(self.sure)]
        self.heard.append(len(sound) / RATE)
        self.languages.append(language)
        step = len(sound) / RATE / len(text.split())
        words = tuple(Word(n * step, (n + 1) * step, w, sure) for n, w in enumerate(text.split()))
        return Transcript(text, words, sure, "en")


@pytest.fixture
def hears(monkeypatch: pytest.MonkeyPatch) -> Hears:
    """Set what hears, and take every ten seconds of sound for speech."""

    def use(engine: ScriptedAsr | None) -> None:
        monkeypatch.setattr("ragweave.models.asr.asr", lambda name=None: engine)
        monkeypatch.setattr("ragweave.corpora.video.intake.asr", lambda name=None: engine)
        monkeypatch.setattr("ragweave.corpora.video.listen.stretches", _all_of_it)

    return use


def _all_of_it(blocks: Iterator[Sound], longest: float) -> Iterator[Stretch]:
    held = np.zeros(0, np.int16)
    start, step = 0, int(longest * RATE)
    for block in blocks:
        held = np.concatenate([held, block])
        while len(held) >= step:
            yield Stretch(start, held[:step])
            held, start = held[step:], start + step
    if len(held):
        yield Stretch(start, held)


@pytest.fixture(autouse=True)
def _blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read no text on the screen and hear nothing, unless a test says so: both take seconds."""
    monkeypatch.setenv("RAGWEAVE_OCR", "off")
    monkeypatch.setenv("RAGWEAVE_ASR", "off")
