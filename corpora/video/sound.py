"""The one pass over the sound: 16 kHz, one channel, as it is decoded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ragweave.corpora.video.ffmpeg import Running, failed, reading, running
from ragweave.models.vad import RATE, Sound


def sound(path: str, demuxer: str, stream: int) -> Iterator[Sound]:
    """Yield the sound in blocks, silence filled in where its times have gaps.

    Raises:
        SourceError: not one sample can be decoded.
    """
    arguments = [
        *reading(path, demuxer),
        *("-map", f"0:{stream}", "-vn", "-sn", "-dn", "-af", "aresample=async=1:first_pts=0"),
        *("-ac", "1", "-ar", str(RATE), "-c:a", "pcm_s16le", "-f", "s16le", "pipe:1"),
    ]
    count = 0
    with running(Running(["-threads", "1", *arguments])) as process:
        odd = b""
        for block in process.blocks():
            data = odd + block
            whole = len(data) // 2 * 2
            data, odd = data[:whole], data[whole:]
            count += whole
            if whole:
                yield np.frombuffer(data, "<i2").astype(np.int16)
        ended = process.wait()
    if not count and (ended.code != 0 or ended.stalled):
        raise failed(path, ended)
