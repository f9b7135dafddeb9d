"""The embedded engine: pocketsphinx with its English model, in processes of its own.

The library holds Python's lock while it decodes, so that it would stop everything else in the process.

It understands clear English well enough to search it (about three of four words of a lecture are right), and always
finds words, in music and noise as well. What it is not sure of is therefore left out: see `believed`.
"""

from __future__ import annotations

import json
import os
import queue
import struct
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ragweave.models.errors import ModelError
from ragweave.models.speech import Asr, Transcript, Word
from ragweave.models.subprocess_env import environment
from ragweave.models.vad import RATE, Sound

LENGTH = struct.Struct(">I")
LONGEST = 15.0
"""Seconds of one stretch: its search grows slow and vague beyond."""
SURE = 0.3
"""Mean posterior of the words of a stretch below which it is taken for noise: docs/video.md says how it was set."""
SPOKEN = 0.6
"""Mean probability of speech below which it is."""
FEWEST = 2
"""Words; a single one is more often a noise than an answer."""
_POLITE = 5
"""How far its processes stand back behind others (`nice`)."""
_FRAMES = 100
"""Frames per second in which it tells times."""


def believed(words: Sequence[Word], speech: float) -> bool:
    """Tell speech from what pocketsphinx hears in music and noise, by how sure it is of its words."""
    sure = float(np.mean([w.confidence for w in words])) if words else 0.0
    return speech >= SPOKEN and len(words) >= FEWEST and sure >= SURE


class Sphinx(Asr):
    """Hears by as many processes as there are cores; they take what nobody else wants of them."""

    name = f"pocketsphinx en-us {SURE} {SPOKEN}"
    label = "pocketsphinx"
    longest = LONGEST

    def __init__(self, width: int = 0) -> None:
        self.width = width or os.cpu_count() or 1
        self._idle: queue.LifoQueue[subprocess.Popen[bytes] | None] = queue.LifoQueue()
        for _ in range(self.width):
            self._idle.put(None)

    def transcribe(self, sound: Sound, speech: float = 1.0) -> Transcript:
        """Write down one stretch of at most LONGEST seconds."""
        process = self._idle.get()
        try:
            if process is None or process.poll() is not None:
                process = _started()
            rows = _ask(process, sound)
        except (OSError, struct.error, ValueError) as error:
            if process is not None:
                process.kill()
                process.wait()
            process = None
            raise ModelError(f"the speech recogniser ended ({error})", "index again; what was heard stays") from error
        finally:
            self._idle.put(process)
        words = tuple(Word(start / _FRAMES, end / _FRAMES, text, p) for text, start, end, p in rows)
        if not believed(words, speech):
            return Transcript()
        sure = round(float(np.mean([w.confidence for w in words])), 3)
        return Transcript(" ".join(w.text for w in words), words, sure, "en")

    def close(self) -> None:
        """End the processes."""
        for process in [self._idle.get() for _ in range(self.width)]:
            if process is not None:
                process.kill()
                process.wait()
            self._idle.put(None)


def _started() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "ragweave.models.asr_sphinx"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
        start_new_session=True,
    )


def _ask(process: subprocess.Popen[bytes], sound: Sound) -> list[tuple[str, int, int, float]]:
    assert process.stdin is not None and process.stdout is not None
    data = sound.astype("<i2").tobytes()
    process.stdin.write(LENGTH.pack(len(data)) + data)
    process.stdin.flush()
    (length,) = LENGTH.unpack(process.stdout.read(LENGTH.size))
    found: list[tuple[str, int, int, float]] = json.loads(process.stdout.read(length))
    return found


def main() -> None:
    """Serve stretches of sound from standard input until it ends."""
    from pocketsphinx import Decoder

    if hasattr(os, "nice"):
        os.nice(_POLITE)  # the screen is read beside it, and somebody may be asking
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever the library prints is no reply
    decoder: Any = Decoder(samprate=RATE, loglevel="FATAL")
    given = sys.stdin.buffer
    while len(head := given.read(LENGTH.size)) == LENGTH.size:
        data = given.read(LENGTH.unpack(head)[0])
        # Its estimate of the noise begins anew: what is heard must not hang on what was heard before.
        decoder.reinit_feat()
        decoder.start_utt()
        if data:
            decoder.process_raw(data, False, True)
        decoder.end_utt()
        rows = [
            (s.word.partition("(")[0], s.start_frame, s.end_frame, round(min(1.0, max(0.0, float(s.prob))), 4))
            for s in (decoder.seg() or [] if decoder.hyp() else [])
            if s.word[0] not in "<["  # "the(2)" is the second pronunciation of "the", "<sil>" is silence
        ]
        reply = json.dumps(rows).encode()
        out.write(LENGTH.pack(len(reply)) + reply)
        out.flush()


if __name__ == "__main__":
    main()
