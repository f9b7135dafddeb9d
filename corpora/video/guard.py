"""Run in place of ffmpeg for moviepy: `python guard.py FACTS ARGUMENTS`, with the standard library alone.

FACTS is a JSON file: the path of ffmpeg, the recordings that may be read, and the files that may be written.
If moviepy examines a recording, the guard answers in ffmpeg's words with what our own examination found. If
moviepy reads a recording, the guard calls ffmpeg with its own arguments: one demuxer, files and pipes as the
only protocols, the chosen stream, frames of one size at one rate, and as the first frame what was on the
screen at that time. The guard refuses any other file, address or list.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

BEFORE = 20.0
"""Seconds before a moment at which decoding begins if a container has no index.

ffmpeg then enters it anywhere, and the frames up to the next key frame are lost.
"""
INDEXED = ("mov", "matroska", "avi")
_LOCAL = ("-protocol_whitelist", "file,pipe")
_FORMATS = ("rawvideo", "s16le", "s32le", "mp4")
"""Formats that moviepy sends through a pipe or writes."""


class Unprobed(Exception):
    """An argument that names a file or format that is not allowed."""


def command(facts: Mapping[str, Any], arguments: Sequence[str]) -> list[str] | None:
    """Return ffmpeg's arguments for those of moviepy, or None if moviepy only examines a recording.

    Raises:
        Unprobed: something would be read or written that is not in the facts.
    """
    if not arguments:  # moviepy tests whether ffmpeg starts.
        return ["-version"]
    inputs = _values(arguments, "-i")
    if len(inputs) == 1 and inputs[0] in facts["recordings"]:
        if arguments[-1] != "-":
            return None
        return _reading(inputs[0], facts["recordings"][inputs[0]], arguments)
    return _writing(facts["written"], inputs, arguments)


def _values(arguments: Sequence[str], option: str) -> list[str]:
    """Return the values of an option."""
    found: list[str] = []
    for name, value in pairwise(arguments):
        if name == option:
            found.append(value)
    return found


def _writing(written: Sequence[str], inputs: Sequence[str], arguments: Sequence[str]) -> list[str]:
    """Return the arguments to write a file from a pipe, and perhaps from another written file.

    Raises:
        Unprobed: an input, the output or a format is not allowed.
    """
    outputs = {}
    for path in written:
        outputs[path] = f"file:{path}"
    allowed = {"-": "pipe:0", **outputs}
    is_from_pipe = inputs[:1] == ["-"]
    if not is_from_pipe or not set(inputs) <= allowed.keys() or arguments[-1] not in outputs:
        raise Unprobed(f"not probed: {inputs}")
    out: list[str] = []
    for name, value in pairwise(["", *arguments]):
        if name == "-f" and value not in _FORMATS:
            raise Unprobed(f"not a format of a film: {value}")
        if value == "-i":
            out += _LOCAL
        out.append(allowed.get(value, value))
    return out


def _reading(path: str, recording: Mapping[str, Any], arguments: Sequence[str]) -> list[str]:
    """Return the arguments to read the picture or the sound of a recording to a pipe."""
    at = sum(map(float, _values(arguments, "-ss")))
    moving = "image2pipe" in arguments
    begin = at
    if moving and recording["demuxer"] not in INDEXED:
        begin = at - BEFORE
    begin = max(0.0, begin)
    seek = []
    if begin:
        # Up to that time, every frame counts: a slide is one frame that lasts until the next one.
        seek = ["-noaccurate_seek"] if moving else []
        seek += ["-ss", f"{begin:.6f}"]
    opened = ["-nostdin", "-v", "error", *_LOCAL, "-f", recording["demuxer"], *seek, "-i", f"file:{path}"]
    inside = f"{at - begin:.6f}"
    if moving:
        return [*opened, *_picture(recording, inside)]
    return [*opened, *_sound(recording, inside, arguments)]


def _sound(recording: Mapping[str, Any], start: str, arguments: Sequence[str]) -> list[str]:
    """Return the arguments that choose the sound from a second on, at the rate and channels of moviepy."""
    rate = int(_values(arguments, "-ar")[0])
    channels = int(_values(arguments, "-ac")[0])
    return [
        *("-map", f"0:{recording['sound']}", "-vn"),
        *("-af", "aresample=async=1:first_pts=0", "-ss", start),
        *("-ar", f"{rate}", "-ac", f"{channels}", "-f", "s16le", "pipe:1"),
    ]


def _picture(recording: Mapping[str, Any], start: str) -> list[str]:
    """Return the arguments that choose the picture from a second on, at its size and rate."""
    width, height = recording["size"]
    # Pixels need not be square: widen the picture first, then fit it into the frame.
    filters = (
        f"fps={recording['rate']}:start_time={start},"
        "scale=w='trunc(iw*if(gt(sar,0),sar,1)/2)*2':h=ih,setsar=1,"
        f"scale={width}:{height}:force_original_aspect_ratio=decrease,"
        f"pad={width}:{height}:(ow-iw)/2:(oh-ih)/2"
    )
    return [
        *("-map", f"0:{recording['picture']}", "-an", "-ss", start, "-vf", filters),
        *("-fps_mode", "passthrough", "-pix_fmt", "rgb24", "-c:v", "rawvideo", "-f", "image2pipe", "pipe:1"),
    ]


def account(recording: Mapping[str, Any]) -> str:
    """Return what a recording holds, in the words in which moviepy reads it from ffmpeg."""
    whole = round(recording["duration"] * 100)
    hours, minutes, seconds = whole // 360_000, whole // 6_000 % 60, whole // 100 % 60
    length = f"{hours:02}:{minutes:02}:{seconds:02}.{whole % 100:02}"
    lines = ["Input #0, from 'recording':", f"  Duration: {length}, start: 0.000000, bitrate: 1 kb/s"]
    if recording["picture"] is not None:
        size = "x".join(map(str, recording["size"]))
        lines.append(f"  Stream #0:0: Video: rawvideo, rgb24, {size}, {recording['rate']} fps (default)")
    if recording["sound"] is not None:
        number = len(lines) - 2
        lines.append(f"  Stream #0:{number}: Audio: pcm_s16le, 44100 Hz, stereo, s16, 1 kb/s (default)")
    return "\n".join(lines)


def main(path: str, arguments: Sequence[str]) -> int:
    """Become ffmpeg, or return 1, as ffmpeg does if it has nothing to write."""
    with open(path, encoding="utf-8") as file:
        facts = json.load(file)
    try:
        wanted = command(facts, arguments)
    except Unprobed as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if wanted is None:
        [recording] = _values(arguments, "-i")
        sys.stderr.write(account(facts["recordings"][recording]))
        return 1
    os.execv(facts["ffmpeg"], [facts["ffmpeg"], *wanted])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
