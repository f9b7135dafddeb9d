"""Figures of taking videos in: speed of each stage, memory, bytes, word error rate, cost of length.

    python benchmarks/video.py speed FOLDER         each stage of the recordings of a folder, alone and together
    python benchmarks/video.py words SOUND TEXT     word error rate and processor time, against a text or subtitles
    python benchmarks/video.py sure SOUND           what is marked as doubtful of speech in noise, and what is wrong
    python benchmarks/video.py questions FOLDER     its qa.jsonl in `search` and `ask`, without a chat model
    python benchmarks/video.py length FILM HOURS    loops of a film of growing length: does an hour cost more?

Wall seconds on a shared machine say little; the seconds of the processors stand beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def cpu() -> float:
    """Return the seconds of the processors that this process and its ended children have used."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def measured(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what the work returns, its wall seconds and its seconds of the processors."""
    wall, used = time.monotonic(), cpu()
    found = work()
    return found, time.monotonic() - wall, cpu() - used


class Peak:
    """Follows the resident memory of this process and its children."""

    def __init__(self) -> None:
        self.bytes = 0
        self._stop = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self._stop.wait(0.2):
            self.bytes = max(self.bytes, sum(_resident(p) for p in [os.getpid(), *_children(os.getpid())]))

    def end(self) -> int:
        """Stop, and return the peak in MiB."""
        self._stop.set()
        return self.bytes // 2**20


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            mine = [int(p) for p in (task / "children").read_text().split()]
            found += [*mine, *(q for p in mine for q in _children(p))]
    except (OSError, ValueError):
        pass
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def speed(folder: Path) -> None:
    """Print what each stage takes alone, then the whole run."""
    from ragweave.corpora.video.frames import frames
    from ragweave.corpora.video.intake import demuxer_of
    from ragweave.corpora.video.listen import sound
    from ragweave.corpora.video.streams import examine
    from ragweave.models.asr import asr
    from ragweave.models.ocr import ocr
    from ragweave.models.vad import RATE, stretches, windows

    films = [str(p) for p in sorted(folder.iterdir()) if demuxer_of(str(p))]
    found = {f: examine(f, demuxer_of(f)) for f in films}
    total = sum(c.duration for c in found.values())
    pictures = {f: s.index for f, c in found.items() if (s := c.picture())}
    sounds = {f: s.index for f, c in found.items() if (s := c.sound())}

    def look() -> list[Any]:
        some = []
        for f, stream in pictures.items():
            for n, (_, pixels) in enumerate(frames(f, demuxer_of(f), stream, 2.0)):
                if n % 3 == 0 and len(some) < 40:
                    some.append(pixels)
        return some

    def speech() -> list[Any]:
        found = (stretches(sound(f, demuxer_of(f), stream), 28.0) for f, stream in sounds.items())
        return [window for one in found for window in windows(one, 28.0)]

    print(f"{len(films)} recordings, {total:.0f} s")
    kept, *spent = measured(look)
    _row("decode frames", total, *spent)
    said, *spent = measured(speech)
    spoken = sum(len(s.sound) for s in said) / RATE
    _row("decode sound, find speech", total, *spent)
    reader = ocr()
    if reader is not None and kept:
        reader.lines(kept[0])
        _, wall, used = measured(lambda: [reader.lines(p) for p in kept])
        print(f"{'read a frame':28} {wall / len(kept):6.2f} s wall, {used / len(kept):6.2f} s of processor")
    listens = asr()
    if listens is not None:
        listens.check()
        _, wall, used = measured(lambda: [listens.transcribe(s.sound) for s in said[:12]])
        _row(f"hear ({listens.label})", sum(len(s.sound) for s in said[:12]) / RATE, wall, used)
        print(f"{'speech in all':28} {spoken:6.0f} s of {total:.0f}")
    _whole(folder, total)


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
            size = sum(_size(library / name) for library in Path(home).glob("libraries/*"))
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


def _windows(heard: Path, longest: float) -> list[Any]:
    from ragweave.corpora.video.intake import demuxer_of
    from ragweave.corpora.video.listen import sound
    from ragweave.corpora.video.streams import examine
    from ragweave.models.vad import stretches, windows

    how = demuxer_of(str(heard))
    stream = examine(str(heard), how).sound()
    assert stream is not None
    return list(windows(stretches(sound(str(heard), how, stream.index), longest), longest))


def words(heard: Path, told: Path) -> None:
    """Print the word error rate of the engine that is set, its processor time, and recall and precision of words."""
    from ragweave.corpora.video.cues import read_transcript
    from ragweave.models.asr import asr
    from ragweave.models.text import content_terms

    listens = asr()
    assert listens is not None, "nothing hears: `ragweave setup speech`"
    listens.check()
    said, wall, used = measured(lambda: _windows(heard, listens.longest))
    found, *spent = measured(lambda: [listens.transcribe(s.sound) for s in said])
    text = " ".join(h.text for h in found)
    reference = (
        " ".join(c.text for c in read_transcript(told)[0].cues)
        if told.suffix in (".vtt", ".srt")
        else told.read_text(encoding="utf-8")
    )
    a, b = _words(reference), _words(text)
    wanted, got = set(content_terms(reference)), set(content_terms(text))
    print(f"{listens.name}: {len(found)} windows")
    print(f"word error rate {_distance(a, b) / len(a):.3f} ({len(a)} words told, {len(b)} heard)")
    print(f"content words: recall {len(wanted & got) / len(wanted):.2f}, ", end="")
    print(f"precision {len(wanted & got) / max(1, len(got)):.2f}")
    print(
        f"processor: {used:.1f} s to find speech, {spent[1]:.1f} s to hear it, {wall + spent[0]:.1f} s wall"
        " in all"
    )


def sure(heard: Path) -> None:
    """Print how many sentences of speech in noise are marked as doubtful, by how many of their words are wrong.

    Noise of another strength lies over each three seconds, so that clear and drowned speech share a window. A
    sentence is compared with what is heard at its seconds without the noise.
    """
    import numpy as np

    from ragweave.corpora.types import SURE
    from ragweave.corpora.video.listen import _cue
    from ragweave.corpora.video.utterances import utterances
    from ragweave.models.asr import asr
    from ragweave.models.vad import RATE

    listens, rng = asr(), np.random.default_rng(7)
    assert listens is not None, "nothing hears: `ragweave setup speech`"
    counts = {(low, marked): 0 for low in (0.0, 0.1, 0.3, 0.5) for marked in (False, True)}
    for window in _windows(heard, listens.longest):
        clean = listens.transcribe(window.sound).words
        power = float(np.mean(window.sound.astype(np.float64) ** 2))
        for _ in range(4):
            ratios = rng.choice([30.0, 10.0, 5.0, 0.0, -5.0, -10.0], size=len(window.sound) // (3 * RATE) + 1)
            scale = np.sqrt(power / 10 ** (np.repeat(ratios, 3 * RATE)[: len(window.sound)] / 10))
            noisy = window.sound + rng.normal(size=len(window.sound)) * scale
            out = listens.transcribe(np.clip(noisy, -32768, 32767).astype(np.int16))
            for cue in utterances([_cue(0.0, len(window.sound) / RATE, out)] if out.text else []):
                said = [w.text for w in clean if cue.start - 0.3 <= (w.start + w.end) / 2 <= cue.end + 0.3]
                a, b = _words(" ".join(said)), _words(cue.text)
                wrong = _distance(a, b) / max(1, len(a), len(b))
                counts[max(low for low, _ in counts if wrong >= low), cue.confidence < SURE] += 1
    print("words wrong     sentences   marked")
    for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 1.0)):
        plain, marked = counts[low, False], counts[low, True]
        print(f"{low:4.1f} to {high:3.1f}     {plain + marked:8}  {marked:8}")


def questions(folder: Path) -> None:
    """Print of how many questions `search` and `ask` find the moment and show an accepted answer, without a model."""
    from ragweave.app.api import aask, asearch
    from ragweave.components.context import Context
    from ragweave.corpora.ingest.run import index
    from ragweave.evals.video import NEAR, distance, read_asked
    from ragweave.models.text import fold

    films = [path for path in sorted(folder.iterdir()) if path.name != "qa.jsonl"]
    asked = [q for q in read_asked(folder / "qa.jsonl") if q.videos]

    async def run() -> None:
        await index(films)
        timed = [q for q in asked if q.at is not None]
        count = dict.fromkeys(
            ("search: first is the moment", "search: answer in the first", "search: in three"), 0
        )
        count |= dict.fromkeys(("ask: answer shown", "ask: cites the moment", "ask: answers with a doubt"), 0)

        def near(place: Any, q: Any) -> bool:
            right = Path(place.get("file", "")).stem in q.videos
            return right and "start" in place and distance(place, q.at) <= NEAR

        for q in asked:
            found = await asearch(q.text)
            holds = [any(fold(a) in fold(e["text"]) for a in q.answers) for e in found[:3]]
            count["search: first is the moment"] += (
                q in timed and bool(found) and near(found[0]["locator"], q)
            )
            count["search: answer in the first"] += any(holds[:1])
            count["search: in three"] += any(holds)
            answer = await aask(q.text, context=Context(mode="extractive"))
            count["ask: answer shown"] += any(fold(a) in fold(answer.text) for a in q.answers)
            count["ask: cites the moment"] += q in timed and any(near(c.locator, q) for c in answer.citations)
            count["ask: answers with a doubt"] += "perhaps wrongly" in answer.text
        print(f"{len(asked)} questions, {len(timed)} of them with a moment")
        for what, many in count.items():
            print(f"{what:32} {many:3}")

    asyncio.run(run())


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower().replace("’", "'"))


def _distance(a: list[str], b: list[str]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row = row, [i] + [0] * len(b)
        for j, y in enumerate(b, 1):
            row[j] = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
    return row[-1]


def length(film: Path, hours: float) -> None:
    """Index loops of a film of growing length and print the cost of an hour of each; nobody listens or reads.

    Decoding, comparing, storing frames, cutting, embedding and committing take part; hearing and reading cost
    the same for every second by their nature, and would take the larger part of an hour here.
    """
    from ragweave.corpora.video.ffmpeg import binary

    os.environ.update({"RAGWEAVE_ASR": "off", "RAGWEAVE_OCR": "off"})
    for share in (hours / 4, hours / 2, hours):
        with tempfile.TemporaryDirectory() as folder:
            films = Path(folder) / "films"
            films.mkdir()
            looped = films / f"loop{film.suffix}"
            command = [
                binary(),
                "-v",
                "error",
                "-stream_loop",
                "-1",
                "-i",
                str(film),
                "-t",
                str(share * 3600),
            ]
            subprocess.run([*command, "-c", "copy", str(looped)], check=True)
            beside = film.with_suffix(".vtt")
            if beside.exists():
                shutil.copy(beside, looped.with_suffix(".vtt"))
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

    [film] = [str(p) for p in Path(folder).iterdir() if demuxer_of(str(p))]
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
