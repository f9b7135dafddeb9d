"""Measure how videos are indexed: speed of each stage, memory, bytes, word error rate, cost of length.

    python benchmarks/video.py speed FOLDER       each stage for the recordings of a folder, then all together
    python benchmarks/video.py words SOUND TEXT   word error rate and CPU time, against a text or subtitles
    python benchmarks/video.py sure SOUND         sentences of speech in noise: marked as doubtful, and wrong
    python benchmarks/video.py questions FOLDER   its qa.jsonl in `search` and `ask`, without a chat model
    python benchmarks/video.py length FILM HOURS  loops of a film of growing length: does an hour cost more?

Wall-clock seconds on a shared machine mean little, so CPU seconds are printed too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from video_cost import Peak, measured
from video_words import sure, words

COUNTED = (
    "search: first is the moment",
    "search: answer in the first",
    "search: in three",
    "ask: answer shown",
    "ask: cites the moment",
    "ask: answers with a doubt",
)
"""The figures of `questions`."""


def speed(folder: Path) -> None:
    """Print what each stage takes alone, then the whole run."""
    from ragweave.corpora.video.intake import demuxer_of
    from ragweave.corpora.video.streams import examine

    films = list(filter(demuxer_of, map(str, sorted(folder.iterdir()))))
    total = 0.0
    pictures: dict[str, int] = {}
    sounds: dict[str, int] = {}
    for film in films:
        container = examine(film, demuxer_of(film))
        total += container.duration
        picture, heard = container.picture(), container.sound()
        if picture:
            pictures[film] = picture.index
        if heard:
            sounds[film] = heard.index
    print(f"{len(films)} recordings, {total:.0f} s")
    kept, *spent = measured(lambda: _frames(pictures))
    _row("decode frames", total, *spent)
    said, *spent = measured(lambda: _speech(sounds))
    _row("decode sound, find speech", total, *spent)
    _read(kept)
    _hear([window.sound for window in said], total)
    _whole(folder, total)


def _frames(pictures: dict[str, int]) -> list[Any]:
    """Decode films, given by file and stream; return up to 40 frames."""
    from ragweave.corpora.video.frames import frames
    from ragweave.corpora.video.intake import demuxer_of

    some: list[Any] = []
    for film, stream in pictures.items():
        for n, (_, pixels) in enumerate(frames(film, demuxer_of(film), stream, 2.0)):
            if n % 3 == 0 and len(some) < 40:
                some.append(pixels)
    return some


def _speech(sounds: dict[str, int]) -> list[Any]:
    """Return the windows of speech in sound, given by file and stream."""
    from ragweave.corpora.video.intake import demuxer_of
    from ragweave.corpora.video.listen import sound
    from ragweave.models.vad import stretches, windows

    found: list[Any] = []
    for film, stream in sounds.items():
        found += windows(stretches(sound(film, demuxer_of(film), stream), 28.0), 28.0)
    return found


def _read(pictures: list[Any]) -> None:
    """Print what the text recognition of a frame takes."""
    from ragweave.models.ocr import ocr

    reader = ocr()
    if reader is None or not pictures:
        return
    reader.lines(pictures[0])
    _, wall, used = measured(lambda: list(map(reader.lines, pictures)))
    count = len(pictures)
    print(f"{'read a frame':28} {wall / count:6.2f} s wall, {used / count:6.2f} s of processor")


def _hear(speech: list[Any], total: float) -> None:
    """Print what speech recognition takes for the first windows of speech."""
    from ragweave.models.asr import asr
    from ragweave.models.vad import RATE

    listens = asr()
    if listens is None:
        return
    listens.check()
    first = speech[:12]
    _, wall, used = measured(lambda: list(map(listens.transcribe, first)))
    _row(f"hear ({listens.label})", sum(map(len, first)) / RATE, wall, used)
    print(f"{'speech in all':28} {sum(map(len, speech)) / RATE:6.0f} s of {total:.0f}")


def _row(name: str, seconds: float, wall: float, used: float) -> None:
    print(
        f"{name:28} {wall:6.1f} s wall, {used:6.1f} s of processor, {seconds / max(wall, 1e-9):6.1f} x real"
        " time"
    )


def _whole(folder: Path, total: float) -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ["RAGWEAVE_HOME"] = home
        report, wall, used, peak, stages = _indexed(folder)
        _row("index, all stages", total, wall, used)
        print(f"{'busy':28} {json.dumps({k: round(v, 1) for k, v in report.busy.items()})}")
        slowest = max(stages.values(), default=0.0)
        print(f"{'stages of perceiving':28} {json.dumps({k: round(v, 1) for k, v in stages.items()})}")
        print(f"{'wall / slowest stage':28} {wall / slowest if slowest else 0:6.2f}")
        print(f"{'peak memory':28} {peak:6d} MiB, failed: {report.failed}")
        for name in ("media", "perceived", "chroma", "catalog.sqlite"):
            size = sum([_size(library / name) for library in Path(home).glob("libraries/*")])
            print(f"{'  ' + name:28} {size / 1e6:6.1f} MB, {size / 1e6 / total * 3600:6.1f} MB an hour")


def _indexed(folder: Path) -> tuple[Any, float, float, int, dict[str, float]]:
    from ragweave.corpora.ingest.events import Event
    from ragweave.corpora.ingest.run import index

    spans: dict[tuple[str, str], list[float]] = {}

    def note(event: Event) -> None:
        if event.kind == "perceived":
            spans.setdefault((event.path, event.stage), []).append(time.monotonic())

    peak = Peak()
    report, wall, used = measured(lambda: asyncio.run(index([folder], on_event=note)))
    stages: dict[str, float] = {}
    for (_, stage), times in spans.items():
        stages[stage] = stages.get(stage, 0.0) + times[-1] - times[0]
    return report, wall, used, peak.end(), stages


def _size(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    seen: dict[int, int] = {}
    for p in path.rglob("*"):
        if p.is_file():
            seen[p.stat().st_ino] = p.stat().st_size
    return sum(seen.values())


def questions(folder: Path) -> None:
    """Print for how many questions `search` and `ask` find the moment and an answer, without a model."""
    from ragweave.corpora.ingest.run import index
    from ragweave.evals.video import read_asked

    films = [path for path in sorted(folder.iterdir()) if path.name != "qa.jsonl"]
    asked = [q for q in read_asked(folder / "qa.jsonl") if q.videos]

    async def run() -> None:
        await index(films)
        count = dict.fromkeys(COUNTED, 0)
        for q in asked:
            await ask(q, count)
        timed = [q for q in asked if q.at is not None]
        print(f"{len(asked)} questions, {len(timed)} of them with a moment")
        for what, many in count.items():
            print(f"{what:32} {many:3}")

    asyncio.run(run())


async def ask(q: Any, count: dict[str, int]) -> None:
    """Search and ask for one question, and count what is found."""
    from ragweave.app.api import aask, asearch
    from ragweave.components.context import Context
    from ragweave.models.text import fold

    def holds(text: str) -> bool:
        return any(fold(answer) in fold(text) for answer in q.answers)

    found = await asearch(q.text)
    found_in = [holds(row["text"]) for row in found[:3]]
    count["search: answer in the first"] += any(found_in[:1])
    count["search: in three"] += any(found_in)
    answer = await aask(q.text, context=Context(mode="extractive"))
    count["ask: answer shown"] += holds(answer.text)
    count["ask: answers with a doubt"] += "perhaps wrongly" in answer.text
    if q.at is not None:
        count["search: first is the moment"] += bool(found) and is_near(found[0]["locator"], q)
        count["ask: cites the moment"] += any(is_near(c.locator, q) for c in answer.citations)


def is_near(place: Any, q: Any) -> bool:
    """Return whether a place is near the moment of the answer to a question."""
    from ragweave.evals.video import NEAR, distance

    is_video = Path(place.get("file", "")).stem in q.videos
    return is_video and "start" in place and distance(place, q.at) <= NEAR


def length(film: Path, hours: float) -> None:
    """Index loops of a film of growing length and print the cost of an hour of each.

    Speech and text recognition are off: they cost the same for every second, and would take most of the time.
    Decoding, comparing, storing frames, cutting, embedding and committing remain.
    """
    from ragweave.corpora.video.ffmpeg import binary

    os.environ.update({"RAGWEAVE_ASR": "off", "RAGWEAVE_OCR": "off"})
    for share in (hours / 4, hours / 2, hours):
        with tempfile.TemporaryDirectory() as folder:
            films = Path(folder) / "films"
            films.mkdir()
            looped = films / f"loop{film.suffix}"
            loop = ["-v", "error", "-stream_loop", "-1", "-i", str(film), "-t", str(share * 3600)]
            subprocess.run([binary(), *loop, "-c", "copy", str(looped)], check=True)
            subtitles = film.with_suffix(".vtt")
            if subtitles.exists():
                shutil.copy(subtitles, looped.with_suffix(".vtt"))
            code = "import sys; sys.path.insert(0, sys.argv[2]); import video; video.one(sys.argv[1])"
            environment = {**os.environ, "RAGWEAVE_HOME": f"{folder}/home"}
            here = str(Path(__file__).parent)
            subprocess.run([sys.executable, "-c", code, str(films), here], env=environment, check=True)


def one(folder: str) -> None:
    """Index a folder and print what an hour of it costs."""
    from ragweave.corpora.store.library import open_library

    report, wall, used, peak, _ = _indexed(Path(folder))
    home = Path(os.environ["RAGWEAVE_HOME"])

    async def counts() -> dict[Any, int]:
        return await (await open_library()).counts()

    from ragweave.corpora.video.intake import demuxer_of
    from ragweave.corpora.video.streams import examine

    [film] = filter(demuxer_of, map(str, Path(folder).iterdir()))
    hours = examine(film, demuxer_of(film)).duration / 3600
    size = _size(home / "libraries")
    print(
        f"{hours:5.2f} h: {wall / hours:6.0f} s wall and {used / hours:6.0f} s of processor an hour, peak"
        f" {peak} MiB, {size / 1e6 / hours:6.1f} MB an hour, {asyncio.run(counts())}, failed"
        f" {len(report.failed)}",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("speed", "words", "sure", "questions", "length"))
    parser.add_argument("path", type=Path, help="a folder, a sound or a film")
    parser.add_argument("more", nargs="?", help="the text of `words`, the hours of `length`")
    given = parser.parse_args()
    path = given.path.absolute()
    if given.command == "words":
        words(path, Path(given.more).absolute())
    elif given.command == "length":
        length(path, float(given.more))
    else:
        {"speed": speed, "questions": questions, "sure": sure}[given.command](path)
