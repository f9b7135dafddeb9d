"""Stands for ffmpeg before moviepy: `python guard.py FACTS ARGUMENTS`, with nothing but the standard library.

FACTS is a file of JSON: the path of ffmpeg, the recordings that may be read, and the files that may be
written. Of a recording moviepy is told what our probe found, in ffmpeg's words. What it then wants to read is
asked of ffmpeg in our
own: one demuxer, files and pipes as the only protocols, the chosen stream, frames of one size at one rate,
and from the first of them what stood on the screen then. Any other file, address or list is refused.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

BEFORE = 20.0
"""Seconds before a moment at which decoding begins where a container has no index: it is entered anywhere, and the
frames up to the next whole one are lost."""
INDEXED = ("mov", "matroska", "avi")
_LOCAL = ("-protocol_whitelist", "file,pipe")
_RAW = ("rawvideo", "s16le", "s32le")
"""What moviepy sends through a pipe."""


class Unprobed(Exception):
    """An argument that leads elsewhere."""


def command(facts: Mapping[str, Any], arguments: Sequence[str]) -> list[str] | None:
    """Return what to run for the arguments of moviepy, None where it only asks what a recording holds.

    Raises:
        Unprobed: something would be read or written that was not probed first.
    """
    if not arguments:  # moviepy tries whether it starts
        return ["-version"]
    inputs = [value for name, value in pairwise(arguments) if name == "-i"]
    if len(inputs) == 1 and inputs[0] in facts["recordings"]:
        recording = facts["recordings"][inputs[0]]
        return _reading(inputs[0], recording, arguments) if arguments[-1] == "-" else None
    written = {path: f"file:{path}" for path in facts["written"]}
    ours = {"-": "pipe:0", **written}
    if inputs[:1] != ["-"] or not {*inputs} <= ours.keys() or arguments[-1] not in written:
        raise Unprobed(f"not probed: {inputs}")
    out = list[str]()
    for name, value in pairwise(["", *arguments]):
        if name == "-f" and value not in (*_RAW, "mp4"):
            raise Unprobed(f"not a format of a film: {value}")
        out += [*_LOCAL, value] if value == "-i" else [ours.get(value, value)]
    return out


def _reading(path: str, recording: Mapping[str, Any], arguments: Sequence[str]) -> list[str]:
    told = list(pairwise(arguments))
    at = sum(float(value) for name, value in told if name == "-ss")
    moving = "image2pipe" in arguments
    begin = max(0.0, at - (0.0 if recording["demuxer"] in INDEXED or not moving else BEFORE))
    inside = f"{at - begin:.6f}"
    # On the way to a second everything is handed on: a slide is one frame that stands until the next one.
    entered = ["-noaccurate_seek"] if moving and begin else []
    seek = [*entered, "-ss", f"{begin:.6f}"] if begin else []
    opened = ["-nostdin", "-v", "error", *_LOCAL, "-f", recording["demuxer"], *seek, "-i", f"file:{path}"]
    if not moving:
        ((_, rate), *_), ((_, count), *_) = (
            [row for row in told if row[0] == name] for name in ("-ar", "-ac")
        )
        sound = [
            "-map",
            f"0:{recording['sound']}",
            "-vn",
            "-af",
            "aresample=async=1:first_pts=0",
            "-ss",
            inside,
        ]
        return [*opened, *sound, "-ar", f"{int(rate)}", "-ac", f"{int(count)}", "-f", "s16le", "pipe:1"]
    width, height = recording["size"]
    # Cells of a picture need not be square: widen it first, then fit it into the frame.
    filters = (
        f"fps={recording['rate']}:start_time={inside},"
        "scale=w='trunc(iw*if(gt(sar,0),sar,1)/2)*2':h=ih,setsar=1,"
        f"scale={width}:{height}:force_original_aspect_ratio=decrease,pad={width}:{height}:(ow-iw)/2:(oh-ih)/2"
    )
    picture = [
        "-map",
        f"0:{recording['picture']}",
        "-an",
        "-ss",
        inside,
        "-vf",
        filters,
        "-fps_mode",
        "passthrough",
    ]
    return [*opened, *picture, "-pix_fmt", "rgb24", "-c:v", "rawvideo", "-f", "image2pipe", "pipe:1"]


def account(recording: Mapping[str, Any]) -> str:
    """Return what a recording holds, as moviepy reads it from ffmpeg."""
    whole = round(recording["duration"] * 100)
    length = f"{whole // 360_000:02}:{whole // 6_000 % 60:02}:{whole // 100 % 60:02}.{whole % 100:02}"
    lines = ["Input #0, from 'recording':", f"  Duration: {length}, start: 0.000000, bitrate: 1 kb/s"]
    if recording["picture"] is not None:
        size = "x".join(map(str, recording["size"]))
        lines.append(f"  Stream #0:0: Video: rawvideo, rgb24, {size}, {recording['rate']} fps (default)")
    if recording["sound"] is not None:
        lines.append(
            f"  Stream #0:{len(lines) - 2}: Audio: pcm_s16le, 44100 Hz, stereo, s16, 1 kb/s (default)"
        )
    return "\n".join(lines)


def main(path: str, arguments: Sequence[str]) -> int:
    """Become ffmpeg, or end with 1 as it does where it has nothing to write."""
    with open(path, encoding="utf-8") as file:
        facts = json.load(file)
    try:
        wanted = command(facts, arguments)
    except Unprobed as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if wanted is None:
        sys.stderr.write(account(facts["recordings"][arguments[arguments.index("-i") + 1]]))
        return 1
    os.execv(facts["ffmpeg"], [facts["ffmpeg"], *wanted])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
