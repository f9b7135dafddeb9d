"""Decode the picture of a recording: frames at a fixed interval with their times, and whether they differ."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ragweave.corpora.video.ffmpeg import Running, failed, reading
from ragweave.models.errors import SourceError
from ragweave.models.pictures import Pixels

WORKING = 1_280
"""Pixels of the longer side of decoded frames; text on slides stays legible."""
STORED = 512
"""Pixels of the longer side of stored frames."""
_LARGEST = 64 * 2**20
"""Bytes of one frame."""
_HEADER = re.compile(rb"P6\n(\d{1,5}) (\d{1,5})\n255\n")
_SMALL = (36, 64)
"""Rows and columns of the small grey pictures that are compared."""
_LEVELS = 20.0
"""Grey levels from which a cell counts as changed."""
SAME = 0.004
"""Share of changed cells up to which two frames look alike: 9 of 2,304, less than a word on a slide."""


def frames(
    path: str, demuxer: str, stream: int, every: float, first: int = 0
) -> Iterator[tuple[float, Pixels]]:
    """Yield (seconds, pixels) at every multiple of `every` seconds, upright and with square pixels.

    It begins at multiple number `first`.

    Raises:
        SourceError: not one frame can be decoded.
    """
    # Pixels need not be square: widen the picture first, then shrink its longer side.
    shrink = (
        "scale=w='trunc(iw*if(gt(sar,0),sar,1)/2)*2':h=ih,setsar=1,"
        f"scale=w='min({WORKING},iw)':h='min({WORKING},ih)':force_original_aspect_ratio=decrease"
    )
    # The frame of a moment begins before it, so decoding begins one multiple earlier.
    count = max(0, first - 1)
    arguments = [
        *reading(path, demuxer, count * every),
        *("-map", f"0:{stream}", "-an", "-sn", "-dn"),
        *("-vf", f"fps=1/{every:g}:start_time=0:round=up,{shrink},format=rgb24"),
        *("-fps_mode", "passthrough", "-c:v", "ppm", "-f", "image2pipe", "-threads", "2", "pipe:1"),
    ]
    with Running(["-threads", "2", *arguments]) as process:
        held = bytearray()
        for block in process.blocks():
            held += block
            for picture in _complete(held):
                if count >= first:
                    yield count * every, picture
                count += 1
        ended = process.wait()
    # A picture stream may have no frame at all; only frames that cannot be decoded are an error.
    if not count and (ended.code != 0 or ended.stalled):
        raise failed(path, ended)


def _complete(held: bytearray) -> Iterator[Pixels]:
    """Take the complete pictures from the bytes so far."""
    picture = _next(held)
    while picture is not None:
        yield picture
        picture = _next(held)


def _next(held: bytearray) -> Pixels | None:
    """Take the next complete picture from the bytes so far, or return None."""
    header = _HEADER.match(held)
    if header is None:
        if len(held) >= 32:
            raise SourceError("the frames cannot be read", "convert the file")
        return None
    width, height = int(header[1]), int(header[2])
    end = header.end() + width * height * 3
    if width * height * 3 > _LARGEST:
        raise SourceError("its frames are too large", "convert the file to a smaller picture")
    if len(held) < end:
        return None
    pixels = np.frombuffer(bytes(held[header.end() : end]), np.uint8).reshape(height, width, 3)
    del held[:end]
    return pixels


def small(pixels: Pixels) -> NDArray[np.float32]:
    """Return a small grey picture for comparisons; each cell is the mean of its pixels."""
    rows = np.linspace(0, pixels.shape[0], _SMALL[0] + 1).astype(int)
    columns = np.linspace(0, pixels.shape[1], _SMALL[1] + 1).astype(int)
    grey = pixels[:, :, 1].astype(np.float32)
    if min(pixels.shape[0] // _SMALL[0], pixels.shape[1] // _SMALL[1]) < 1:
        return grey[np.ix_(np.minimum(rows[:-1], len(grey) - 1), np.minimum(columns[:-1], grey.shape[1] - 1))]
    sums = np.add.reduceat(np.add.reduceat(grey, rows[:-1], axis=0), columns[:-1], axis=1)
    return np.asarray(sums / np.outer(np.diff(rows), np.diff(columns)), dtype=np.float32)


def alike(a: NDArray[np.float32], b: NDArray[np.float32]) -> bool:
    """Return whether two small pictures show the same, apart from noise."""
    return bool(np.mean(np.abs(a - b) > _LEVELS) <= SAME)
