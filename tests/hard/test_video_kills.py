"""Kill a run over videos again and again: what it holds in the end is what an undisturbed run holds.

The short form makes four small films and kills a third as often as the other tests. TEST_FILMS names a folder
of real ones, which the real senses hear and read, and every kill that TEST_KILLS allows is made."""

from __future__ import annotations

import os
import random
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragweave.corpora.video.ffmpeg import binary

pytestmark = pytest.mark.hard

FILMS = os.environ.get("TEST_FILMS", "")

RUN = """
import asyncio, sys, time
from pathlib import Path
if sys.argv[2] == "scripted":
    from ragweave.models import asr
    from ragweave.models.vad import RATE, Stretch
    import ragweave.corpora.video.listen as listen
    import numpy as np
    class Scripted:
        name = label = "whisper"
        longest, width = 5.0, 2
        def check(self): pass
        def transcribe(self, sound, language=""):
            time.sleep(0.15)
            return asr.Transcript(f"level {int(np.abs(sound).sum()) % 1000} heard", (), 0.9, "en")
    def all_of_it(blocks, longest):
        held, start, step = np.zeros(0, np.int16), 0, int(longest * RATE)
        for block in blocks:
            held = np.concatenate([held, block])
            while len(held) >= step:
                yield Stretch(start, held[:step])
                held, start = held[step:], start + step
    asr.asr = lambda name=None: Scripted()
    listen.stretches = all_of_it
from ragweave.corpora.ingest.run import index
report = asyncio.run(index([Path(sys.argv[1])]))
sys.exit(3 if report.failed else 0)
"""


def run(kit: SimpleNamespace, home: Path, films: Path) -> Any:
    return kit.spawn(RUN, home, films, "real" if FILMS else "scripted")


def finished(kit: SimpleNamespace, home: Path, films: Path) -> float:
    """Index to the end, and return how long it took."""
    began = time.monotonic()
    child = run(kit, home, films)
    child.rest()
    assert child.end() == 0, child.errors()
    return time.monotonic() - began


def media(home: Path) -> dict[str, int]:
    """Return the size of every frame and picture that a home keeps, by its path."""
    [folder] = home.glob("libraries/*/media")
    return {str(p.relative_to(folder)): p.stat().st_size for p in folder.rglob("*") if p.is_file()}


def test_killed_runs_end_with_the_content_of_an_undisturbed_one(
    tmp_path: Path, kit: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not FILMS:
        monkeypatch.setenv("RAGWEAVE_OCR", "off")
    films = Path(FILMS) if FILMS else _made(tmp_path / "films")
    kills = kit.kills if FILMS else max(2, kit.kills // 3)
    lasted = finished(kit, tmp_path / "calm", films)
    rng = random.Random(7)
    landed, runs, window = 0, 0, max(4.0, lasted / 2)
    while landed < kills:
        runs += 1
        child = run(kit, tmp_path / "killed", films)
        # Later kills find less and less to do: the window follows, so that the end of a run is hit as well.
        if child.ended_within(rng.uniform(0.1, 1.0) * window):
            window *= 0.8
        else:
            child.kill()
            landed += 1
        child.end()
    finished(kit, tmp_path / "killed", films)
    calm, killed = kit.Content(tmp_path / "calm"), kit.Content(tmp_path / "killed")
    print(f"\n{landed} kills in {runs} runs over {len(list(films.iterdir()))} files")
    assert not any((apart := killed.differences(calm)).values()), apart
    assert calm.rows["items"] and not killed.strays and not killed.damage
    assert media(tmp_path / "killed") == media(tmp_path / "calm")


def _made(folder: Path) -> Path:
    folder.mkdir()
    for n in range(4):
        seconds = 45 + 20 * n
        picture = f"testsrc=size=160x120:rate=10:duration={seconds}"
        tone = f"sine=frequency={300 + 40 * n}:sample_rate=16000:duration={seconds}"
        given = ["-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", tone, "-pix_fmt", "yuv420p"]
        subprocess.run([binary(), "-v", "error", *given, str(folder / f"film{n}.mp4")], check=True)
    return folder
