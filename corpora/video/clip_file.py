"""A stretch of a recording as a file of its own, for somebody who wants to see or hear it."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from ragweave.corpora.video.ffmpeg import failed, reading, run
from ragweave.corpora.video.intake import demuxer_of
from ragweave.corpora.video.streams import examine
from ragweave.models.errors import InputError, SourceError
from ragweave.models.text import clock

LARGEST = 2 * 2**30
"""Bytes of the file."""
_SECONDS = 600.0
"""Longest that cutting may take."""
_BEFORE = (0.0, 10.0, 60.0)
"""Seconds before a clip at which decoding begins; where no frame comes of it in time, it begins with the recording."""
_RATE = "if(gte(source_fps,1),min(source_fps,60),25)"
"""Frames a second of what is written; of a rate that changes ffmpeg knows a guess or none."""
_ON_THE_WAY = "-noaccurate_seek"
"""Hands on also what was decoded on the way to a second."""
_FIRST = re.compile(r"\bpts_time:\s*(-?[\d.]+)")


def cut_clip(path: Path, start: float, end: float, to: Path) -> tuple[Path, float]:
    """Write seconds `start` to `end` of a recording as MP4, or as M4A where it has no picture.

    An ending that is neither .mp4 nor .m4a is corrected. It begins with what stands on the screen then. Returns the
    file and the seconds it has, which are fewer where the recording holds no more.

    Raises:
        InputError: the file exists, or cannot be written.
        SourceError: the recording is gone, cannot be decoded, or holds nothing in these seconds.
        MissingExtra: the extra `video` is not installed.
    """
    how = demuxer_of(str(path))
    if not how:
        raise SourceError(f"{path.name} is gone, or is no recording any more", "the stored frame and words remain")
    container = examine(str(path), how)
    picture, sound = container.picture(), container.sound()
    if to.suffix.lower() not in (".mp4", ".m4a"):
        to = to.with_name(f"{to.name}{'.mp4' if picture else '.m4a'}")
    if to.exists():
        raise InputError(f"{to} exists", "name another file")
    part = to.with_name(f".{to.name}.{os.getpid()}")
    chosen = [argument for stream in (picture, sound) if stream for argument in ("-map", f"0:{stream.index}")]
    begin = start if picture is None else _begins(str(path), how, picture.index, start)
    inside = f"{start - begin:.3f}"
    video = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-pix_fmt", "yuv420p"]
    # A slide is one frame that stands until the next one: the rate is made constant, so that none is left out.
    even = ["-vf", f"fps='{_RATE}':start_time={inside},scale=trunc(iw/2)*2:trunc(ih/2)*2"]
    exact = picture is None or begin <= 0
    command = [*([] if exact else [_ON_THE_WAY]), *reading(str(path), how, begin)]
    command += ["-ss", inside, "-t", f"{max(0.1, end - start):.3f}", *chosen, *([*video, *even] if picture else [])]
    command += ["-af", "aresample=async=1:first_pts=0"] if sound else []
    command += ["-c:a", "aac", "-movflags", "+faststart", "-f", "mp4", "-y", f"file:{part}"]
    try:
        ended = run(command, LARGEST, _SECONDS)
        if ended.code != 0 or not part.is_file():
            raise failed(str(path), ended)
        seconds = _lasts(part)
        if not seconds:
            raise SourceError(f"{path.name} holds nothing from {clock(start)} to {clock(end)}", "index it anew")
        os.replace(part, to)
    except OSError as error:
        raise InputError(f"{to} cannot be written ({error.strerror or error})", "name another file") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return to, seconds


def _lasts(written: Path) -> float:
    """Return the seconds of a clip that was written, 0 where it is empty."""
    try:
        return examine(str(written), "mov").duration
    except SourceError:
        return 0.0


def _begins(path: str, how: str, picture: int, start: float) -> float:
    """Return a second from which decoding shows what stands on the screen at `start`.

    A container without an index is entered anywhere, and the frames up to the next whole one are lost.
    """
    for before in _BEFORE:
        begin = start - before
        if begin <= 0:
            break
        seek = [_ON_THE_WAY, *reading(path, how, begin), "-map", f"0:{picture}"]
        ended = run([*seek, "-vf", "showinfo", "-frames:v", "1", "-f", "null", "-"])
        first = _FIRST.search(ended.log)
        if first is not None and float(first[1]) <= before:
            return begin
    return 0.0
