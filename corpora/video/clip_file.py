"""A stretch of a recording as a file of its own, for somebody who wants to see or hear it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ragweave.corpora.video.ffmpeg import failed, reading, run
from ragweave.corpora.video.intake import demuxer_of
from ragweave.corpora.video.streams import examine
from ragweave.models.errors import InputError, SourceError

LARGEST = 2 * 2**30
"""Bytes of the file."""
_SECONDS = 600.0
"""Longest that cutting may take."""


def cut_clip(path: Path, start: float, end: float, to: Path) -> Path:
    """Write seconds `start` to `end` of a recording as MP4, or as M4A where it has no picture; return the file.

    An ending that is neither .mp4 nor .m4a is corrected.

    Raises:
        InputError: the file exists, or cannot be written.
        SourceError: the recording is gone, or cannot be decoded.
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
    video = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-pix_fmt", "yuv420p"]
    even = ["-vf", "scale=trunc(iw/2)*2:trunc(ih/2)*2"]
    coded = [*video, *even] if picture else []
    command = [*reading(str(path), how, start), "-t", f"{max(0.1, end - start):.3f}", *chosen, *coded]
    command += ["-c:a", "aac", "-movflags", "+faststart", "-f", "mp4", "-y", f"file:{part}"]
    try:
        ended = run(command, LARGEST, _SECONDS)
        if ended.code != 0 or not part.is_file():
            raise failed(str(path), ended)
        os.replace(part, to)
    except OSError as error:
        raise InputError(f"{to} cannot be written ({error.strerror or error})", "name another file") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return to
