"""Make clips, films and contact sheets of recordings with moviepy, in a process of its own with limits.

That process reaches ffmpeg only through `guard.py`, which opens no other files than those examined here.
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
"""Width and height of a film of several recordings, in pixels."""
MOMENTS, LONGEST = 20, 60.0
"""Most moments of a film, and most seconds of each."""
_SHORTEST, _CLIP = 0.1, 1200.0
"""Fewest and most seconds of a clip."""
_LARGEST = 2 * 2**30
"""Bytes of the written file."""
_SECONDS = 600.0
"""Seconds that the process may take."""
_SIDE = 1920
"""Pixels of the longer side of a clip; a picture on a contact sheet has a sixth of that."""
_RATE = 25
"""Frames per second of a film, and of a clip whose recording does not state its rate."""
_HIGHEST_RATE = 60

Facts = dict[str, Any]
"""How the guard may open a recording: `demuxer`, `duration`, `picture` and `sound` stream, `size`, `rate`."""


@dataclass(frozen=True, slots=True)
class CitedMoment:
    """Seconds of a recording, with the lines of the title card that precedes them in a film."""

    path: Path
    start: float
    end: float
    card: tuple[str, ...] = ()


def moments_of(places: Iterable[Locator]) -> list[CitedMoment]:
    """Return the moments of recordings among cited places, in order; moments that touch are joined."""
    moments: list[CitedMoment] = []
    for where in places:
        if where.get("kind") != "time" or "file" not in where:
            continue
        _add_moment(moments, CitedMoment(Path(where["file"]), where.get("start", 0.0), where.get("end", 0.0)))
    out = []
    for moment in moments:
        card = (moment.path.name, f"{clock(moment.start)} to {clock(moment.end)}")
        out.append(replace(moment, card=card))
    return out


def _add_moment(moments: list[CitedMoment], new: CitedMoment) -> None:
    """Add a moment to a list, or join it with all moments that it touches, in the place of the first."""
    touched = []
    for n, moment in enumerate(moments):
        if moment.path == new.path and moment.start <= new.end and new.start <= moment.end:
            touched.append(n)
    if not touched:
        moments.append(new)
        return
    start, end = new.start, new.end
    for n in reversed(touched):
        moment = moments.pop(n)
        start = min(start, moment.start)
        end = max(end, moment.end)
    moments.insert(touched[0], replace(new, start=start, end=end))


def ready(to: Path, *endings: str) -> None:
    """Check that a film can be made and written to a file with one of the suffixes.

    Raises:
        InputError: the file exists, has another suffix, or its folder does not exist.
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
    """Write seconds `start` to `end` of a recording as MP4, or as M4A if it has no picture.

    A suffix other than .mp4 and .m4a is corrected. Returns the file and its seconds, which are fewer if the
    recording ends earlier.

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
    return to, _make("film", [CitedMoment(path, start, end)], {str(path): facts}, to)


def make_film(moments: Sequence[CitedMoment], to: Path) -> tuple[float, list[str]]:
    """Write moments of recordings one after another as MP4, each after its title card.

    Sound without a picture plays with its card on the screen.

    Returns:
        The seconds of the film, and sentences about moments that it lacks or shortens.

    Raises:
        InputError: there is no moment, or the file exists or cannot be written.
        SourceError: no recording can be opened.
        MissingExtra: the extra `video` is not installed.
    """
    if not moments:
        raise InputError("No recording is cited, so that there is nothing to film", "ask about a recording")
    ready(to, ".mp4")
    recordings, notes = _open_all([m.path for m in moments])
    able = []
    for moment in moments:
        if str(moment.path) in recordings:
            able.append(moment)
    if len(able) > MOMENTS:
        notes.append(f"the film has the first {MOMENTS} of {len(able)} moments")
    shortened = []
    has_longer = False
    for moment in able[:MOMENTS]:
        if moment.end - moment.start > LONGEST:
            has_longer = True
        shortened.append(replace(moment, end=min(moment.end, moment.start + LONGEST)))
    if has_longer:
        notes.append(f"moments are cut after {LONGEST:.0f} seconds")
    return _make("film", shortened, recordings, to), notes


def _open_all(paths: Iterable[Path]) -> tuple[dict[str, Facts], list[str]]:
    """Return the facts of each recording that can be opened, and sentences about the others.

    Raises:
        SourceError: no recording can be opened.
    """
    recordings: dict[str, Facts] = {}
    notes: dict[str, None] = {}
    first_error: SourceError | None = None
    for path in dict.fromkeys(paths):
        try:
            facts, _ = _opened(path)
        except SourceError as error:
            first_error = first_error or error
            notes[f"left out of the film: {error}"] = None
        else:
            recordings[str(path)] = facts
    if first_error is not None and not recordings:
        raise first_error
    return recordings, list(notes)


def make_sheet(path: Path, seconds: Sequence[float], to: Path) -> None:
    """Write the pictures of a recording at these seconds, with their times, on one sheet as PNG or JPEG.

    Raises:
        InputError: the file exists, or cannot be written.
        SourceError: the recording is gone, cannot be decoded, or has no picture.
        MissingExtra: the extra `video` is not installed.
    """
    ready(to, ".png", ".jpg", ".jpeg")
    facts, container = _opened(path, _SIDE // 6)
    if container.picture() is None:
        raise SourceError(f"{path.name} has no picture", "name a film; `--to` gives its sound")
    moments = [CitedMoment(path, at, at, (clock(at),)) for at in seconds]
    _make("sheet", moments, {str(path): facts}, to)


def _opened(path: Path, side: int = 0) -> tuple[Facts, Container]:
    """Return how the guard may open a recording.

    With a longest `side` in pixels, it keeps its own size and rate; else it gets those of a film.
    """
    how = demuxer_of(str(path))
    if not how:
        lacks = "holds nothing that plays" if path.is_file() else "is gone"
        raise SourceError(f"{path.name} {lacks}", "the stored words and frames remain")
    container = examine(str(path), how)
    picture, sound = container.picture(), container.sound()
    facts: Facts = {
        "demuxer": how,
        "duration": 0.0 if container.guessed else container.duration,
        "picture": picture and picture.index,
        "sound": sound and sound.index,
        "size": CANVAS,
        "rate": _RATE,
    }
    if picture is not None and side:
        facts["size"] = _size(str(path), how, picture, side)
        if picture.rate:
            facts["rate"] = min(max(round(picture.rate), 1), _HIGHEST_RATE)
    return facts, container


def _size(path: str, how: str, picture: Stream, side: int) -> tuple[int, int]:
    """Return the width and height, both even, at which a picture is upright and undistorted."""
    first = next(frames(path, how, picture.index, 1.0), None)
    if first is None:
        raise SourceError(
            f"{Path(path).name} shows nothing that can be decoded", "check that a player shows it"
        )
    height, width, _ = first[1].shape
    longest = min(side, max(picture.width, picture.height, width, height))
    scale = longest / max(width, height)
    return max(2, round(width * scale / 2) * 2), max(2, round(height * scale / 2) * 2)


def _make(
    what: Literal["film", "sheet"],
    moments: Sequence[CitedMoment],
    recordings: dict[str, Facts],
    to: Path,
) -> float:
    """Write a film or sheet completely or not at all, and return its seconds."""
    within = [_within(m, recordings[str(m.path)]) for m in moments]
    _complete_durations(recordings, within)
    part = to.with_name(f".{os.getpid()}.{to.name}")
    try:
        part.touch()
        with _job(part, recordings, {"what": what, "moments": within}) as job:
            ended, reply = _run(job)
        if ended.code != 0 or not reply:
            raise failed(moments[0].path.name, ended)
        os.replace(part, to)
    except OSError as error:
        raise InputError(
            f"{to} cannot be written ({error.strerror or error})", "name another file"
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return float(json.loads(reply)["seconds"])


def _complete_durations(recordings: dict[str, Facts], within: Sequence[dict[str, Any]]) -> None:
    """Set unknown durations to the end of the last moment."""
    unknown = set()
    for path, facts in recordings.items():
        if not facts["duration"]:
            unknown.add(path)
    for moment in within:
        path = moment["path"]
        if path in unknown:
            recordings[path]["duration"] = max(recordings[path]["duration"], moment["end"])


def _within(moment: CitedMoment, facts: Facts) -> dict[str, Any]:
    """Return a moment as the job states it, cut at the end of its recording.

    Raises:
        SourceError: the moment begins after the end.
    """
    duration = facts["duration"]
    is_after_end = bool(duration) and moment.start >= duration
    if moment.start < 0 or is_after_end:
        raise SourceError(
            f"{moment.path.name} holds nothing from {clock(moment.start)} to {clock(moment.end)}",
            "index it again",
        )
    end = max(moment.end, moment.start + _SHORTEST)
    if duration:
        end = min(end, duration)
    return {"path": str(moment.path), "start": moment.start, "end": end, "card": moment.card}


@contextmanager
def _job(part: Path, recordings: dict[str, Facts], task: dict[str, Any]) -> Iterator[Path]:
    """Create the folder of a job: its task, the files it may open, and a script that runs the guard."""
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
    """Run a job; return how its process ended, and the last line of its output."""
    script = str(job.with_name("ffmpeg"))
    variables = {
        "FFMPEG_BINARY": script,
        "IMAGEIO_FFMPEG_EXE": script,
        "FFPLAY_BINARY": script,
        "TMPDIR": str(job.parent),
    }
    arguments = ["-m", "ragweave.corpora.video.film_worker", str(job)]
    deadline = time.monotonic() + _SECONDS
    output = b""
    with Running(arguments, _LARGEST, sys.executable, variables) as process:
        for block in process.blocks():
            output += block
            if time.monotonic() > deadline:
                raise SourceError(
                    f"It takes longer than {_SECONDS:.0f} seconds", "take fewer or shorter moments"
                )
        return process.wait(), output.rpartition(b"\n")[2]
