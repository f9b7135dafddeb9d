"""Clips, films and contact sheets of recordings, cut and joined by moviepy in a process of its own under limits.

That process knows ffmpeg only as `guard.py`, which opens what was probed here and nothing else.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from ragweave.corpora.types import Locator
from ragweave.corpora.video import guard
from ragweave.corpora.video.ffmpeg import Ended, Running, binary, failed
from ragweave.corpora.video.frames import frames
from ragweave.corpora.video.intake import demuxer_of
from ragweave.corpora.video.streams import Container, Stream, examine
from ragweave.models.errors import InputError, MissingExtra, SourceError
from ragweave.models.text import clock

CANVAS = (1280, 720)
"""Pixels of a film of several recordings."""
MOMENTS, LONGEST = 20, 60.0
"""Moments of a film, and seconds of each."""
_SHORTEST, _CLIP = 0.1, 1200.0
"""Fewest and most seconds of a clip."""
_LARGEST = 2 * 2**30
"""Bytes of what is written."""
_SECONDS = 600.0
"""Longest that making it may take."""
_SIDE = 1920
"""Pixels of the longer side of a clip; of a picture on a contact sheet it is a sixth of that."""
_RATE = 25
"""Frames a second of a film, and of a clip whose recording does not say."""


@dataclass(frozen=True, slots=True)
class CitedMoment:
    """Seconds of a recording, with the lines of the card that goes before them in a film."""

    path: Path
    start: float
    end: float
    card: tuple[str, ...] = ()


def moments_of(places: Iterable[Locator]) -> list[CitedMoment]:
    """Return the moments of recordings among cited places, in their order; those that touch become one."""
    out: list[CitedMoment] = []
    for where in places:
        if where.get("kind") != "time" or "file" not in where:
            continue
        new = CitedMoment(Path(where["file"]), where.get("start", 0.0), where.get("end", 0.0))
        touched = [m for m in out if m.path == new.path and m.start <= new.end and new.start <= m.end]
        both = [*touched, new]
        new = replace(new, start=min(m.start for m in both), end=max(m.end for m in both))
        at = out.index(touched[0]) if touched else len(out)
        out = [m for m in [*out[:at], new, *out[at:]] if m not in touched or m is new]
    return [replace(m, card=(m.path.name, f"{clock(m.start)} to {clock(m.end)}")) for m in out]


def ready(to: Path, *endings: str) -> None:
    """Check that a film can be made and written to a file with one of the endings.

    Raises:
        InputError: the file exists, has another ending, or lies in no folder.
        MissingExtra: the extra `video` is not installed.
    """
    if to.suffix.lower() not in endings:
        raise InputError(f"{to.name} has another ending", f"name a file that ends in {' or '.join(endings)}")
    if not to.absolute().parent.is_dir():
        raise InputError(f"There is no folder {to.absolute().parent}", "make it, or name another file")
    if to.exists():
        raise InputError(f"{to} exists", "name another file")
    binary()
    if find_spec("moviepy") is None:
        raise MissingExtra("cutting recordings", "video")


def cut_clip(path: Path, start: float, end: float, to: Path) -> tuple[Path, float]:
    """Write seconds `start` to `end` of a recording as MP4, or as M4A where it has no picture.

    An ending that is neither .mp4 nor .m4a is corrected. Returns the file and the seconds it has, which are
    fewer where the recording holds no more.

    Raises:
        InputError: the file exists or cannot be written, or the clip would be too long.
        SourceError: the recording is gone, cannot be decoded, or holds nothing in these seconds.
        MissingExtra: the extra `video` is not installed.
    """
    if end - start > _CLIP:
        raise InputError(
            f"A clip has at most {clock(_CLIP)}", "name the id of a clip, not that of a whole recording"
        )
    facts, container = _opened(path, _SIDE)
    if to.suffix.lower() not in (".mp4", ".m4a"):
        to = to.with_name(f"{to.name}{'.mp4' if container.picture() else '.m4a'}")
    ready(to, ".mp4", ".m4a")
    if to.suffix.lower() == ".m4a":
        facts["picture"] = None
    return to, _made("film", [CitedMoment(path, start, end)], {str(path): facts}, to)


def make_film(moments: Sequence[CitedMoment], to: Path) -> tuple[float, list[str]]:
    """Write moments of recordings one after another as MP4, each under its card; sound alone plays under its card.

    Returns:
        The seconds of the film, and which moments it lacks or shortens, in words.

    Raises:
        InputError: there is no moment, the file exists, or cannot be written.
        SourceError: no recording can be opened.
        MissingExtra: the extra `video` is not installed.
    """
    if not moments:
        raise InputError("No recording is cited, so that there is nothing to film", "ask about a recording")
    ready(to, ".mp4")
    recordings: dict[str, dict[str, Any]] = {}
    notes: dict[str, None] = {}
    errors: list[SourceError] = []
    for path in dict.fromkeys(m.path for m in moments):
        try:
            recordings[str(path)] = {**_opened(path)[0], "size": CANVAS, "rate": _RATE}
        except SourceError as error:
            errors.append(error)
            notes[f"left out of the film: {error}"] = None
    if not recordings:
        raise errors[0]
    kept = [m for m in moments if str(m.path) in recordings]
    if len(kept) > MOMENTS:
        notes[f"the film has the first {MOMENTS} of {len(kept)} moments"] = None
    if any(m.end - m.start > LONGEST for m in kept[:MOMENTS]):
        notes[f"moments are cut after {LONGEST:.0f} seconds"] = None
    kept = [replace(m, end=min(m.end, m.start + LONGEST)) for m in kept[:MOMENTS]]
    return _made("film", kept, recordings, to), [*notes]


def make_sheet(path: Path, seconds: Sequence[float], to: Path) -> None:
    """Write what a recording shows at these seconds side by side, each with its time, as PNG or JPEG.

    Raises:
        InputError: the file exists, or cannot be written.
        SourceError: the recording is gone, cannot be decoded, or has no picture.
        MissingExtra: the extra `video` is not installed.
    """
    ready(to, ".png", ".jpg", ".jpeg")
    facts, container = _opened(path, _SIDE // 6)
    if container.picture() is None:
        raise SourceError(f"{path.name} has no picture", "name a film; `--to` gives its sound")
    _made("sheet", [CitedMoment(path, at, at, (clock(at),)) for at in seconds], {str(path): facts}, to)


def _opened(path: Path, side: int = 0) -> tuple[dict[str, Any], Container]:
    """Return what the guard may open a recording by; with a longest side, its own size and rate."""
    how = demuxer_of(str(path))
    if not how:
        lacks = "holds nothing that plays" if path.is_file() else "is gone"
        raise SourceError(f"{path.name} {lacks}", "the stored words and frames remain")
    container = examine(str(path), how)
    picture, sound = container.picture(), container.sound()
    facts: dict[str, Any] = {"demuxer": how, "duration": 0.0 if container.guessed else container.duration}
    facts |= {
        "picture": picture and picture.index,
        "sound": sound and sound.index,
        "size": CANVAS,
        "rate": _RATE,
    }
    if picture is not None and side:
        facts["size"] = _size(str(path), how, picture, side)
        facts["rate"] = min(max(round(picture.rate), 1), 60) if picture.rate else _RATE
    return facts, container


def _size(path: str, how: str, picture: Stream, side: int) -> tuple[int, int]:
    """Return width and height, even, in which a picture stands upright and undistorted."""
    first = next(frames(path, how, picture.index, 1.0), None)
    if first is None:
        raise SourceError(
            f"{Path(path).name} shows nothing that can be decoded", "check that a player shows it"
        )
    height, width, _ = first[1].shape
    part = min(side, max(picture.width, picture.height, width, height)) / max(width, height)
    return max(2, round(width * part / 2) * 2), max(2, round(height * part / 2) * 2)


def _made(
    what: Literal["film", "sheet"],
    moments: Sequence[CitedMoment],
    recordings: dict[str, dict[str, Any]],
    to: Path,
) -> float:
    """Have it made beside its place, and put it there when it is whole; returns its seconds."""
    within: list[dict[str, Any]] = []
    for m in moments:
        whole = recordings[str(m.path)]["duration"]
        if not 0 <= m.start < (whole or m.start + 1):
            raise SourceError(
                f"{m.path.name} holds nothing from {clock(m.start)} to {clock(m.end)}", "index it anew"
            )
        end = max(m.end, m.start + _SHORTEST)
        within.append({"path": str(m.path), "start": m.start, "end": min(end, whole or end), "card": m.card})
    for path, facts in recordings.items():
        facts["duration"] = facts["duration"] or max(m["end"] for m in within if m["path"] == path)
    part = to.with_name(f".{os.getpid()}.{to.name}")
    try:
        part.touch()
        with _stage(part, recordings, {"what": what, "moments": within}) as job:
            ended, told = _run(job)
        if ended.code != 0 or not told:
            raise failed(moments[0].path.name, ended)
        os.replace(part, to)
    except OSError as error:
        raise InputError(
            f"{to} cannot be written ({error.strerror or error})", "name another file"
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return float(json.loads(told)["seconds"])


@contextmanager
def _stage(part: Path, recordings: dict[str, dict[str, Any]], task: dict[str, Any]) -> Iterator[Path]:
    """Make the folder of one job: what is wanted and allowed, and a script that starts the guard as ffmpeg."""
    with tempfile.TemporaryDirectory(prefix="ragweave-film-") as folder:
        job, script = Path(folder, "job.json"), Path(folder, "ffmpeg")
        sound = str(Path(folder, "sound.m4a"))
        facts = {"ffmpeg": binary(), "recordings": recordings, "written": [str(part), sound], "sound": sound}
        job.write_text(json.dumps({**facts, **task, "to": str(part)}), encoding="utf-8")
        words = [sys.executable, "-I", "-S", str(Path(guard.__file__).resolve()), str(job)]
        script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
        script.chmod(0o700)
        yield job


def _run(job: Path) -> tuple[Ended, bytes]:
    """Return how the process ended, and its last line."""
    script = str(job.with_name("ffmpeg"))
    known = {
        "FFMPEG_BINARY": script,
        "IMAGEIO_FFMPEG_EXE": script,
        "FFPLAY_BINARY": script,
        "TMPDIR": str(job.parent),
    }
    arguments = ["-m", "ragweave.corpora.video.film_worker", str(job)]
    deadline, told = time.monotonic() + _SECONDS, b""
    with Running(arguments, _LARGEST, sys.executable, known) as process:
        for block in process.blocks():
            told += block
            if time.monotonic() > deadline:
                raise SourceError(
                    f"It takes longer than {_SECONDS:.0f} seconds", "take fewer or shorter moments"
                )
        return process.wait(), told.rpartition(b"\n")[2]
