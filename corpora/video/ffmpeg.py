"""ffmpeg as a child process under limits: no network, no playlists, no guessing, bounded memory, time and output."""

from __future__ import annotations

import logging
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

from ragweave.models.errors import MissingExtra, SourceError
from ragweave.models.subprocess_env import environment

logger = logging.getLogger(__name__)

MEMORY_MB = 4_096
"""Address space of one ffmpeg; decoding 8K takes about 3 GB."""
STALL = 120.0
"""Seconds without a byte of output after which it is ended."""
CPU_SECONDS = 12 * 3600
"""Processor time of one ffmpeg."""
_BLOCK = 1 << 20
_LOG = 4_000
"""Lines of its messages that are kept: a film may name hundreds of chapters."""
# The limits are set in a small process that then becomes ffmpeg: a function run between fork and exec is not
# safe in a program with threads.
_LAUNCH = """
import os, resource, sys
memory, seconds = int(sys.argv[1]), int(sys.argv[2])
for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0),
                   (resource.RLIMIT_FSIZE, int(sys.argv[3]))):
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
os.execv(sys.argv[4], sys.argv[4:])
"""


def binary() -> str:
    """Return the path of ffmpeg; MissingExtra if the extra `video` is not installed."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:
        raise MissingExtra("reading videos and recordings", "video") from error


def reading(path: str, demuxer: str, start: float = 0.0) -> list[str]:
    """Return the arguments that open a file by one demuxer, files and pipes being the only protocols."""
    seek = ["-ss", f"{start:.3f}"] if start > 0 else []
    return [
        "-nostdin",
        "-hide_banner",
        "-protocol_whitelist",
        "file,pipe",
        "-f",
        demuxer,
        *seek,
        "-i",
        f"file:{path}",
    ]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: its status (negative for a signal), its last messages, whether nothing came any more."""

    code: int
    log: str
    stalled: bool


class Running:
    """A running ffmpeg, ended with its block; its output is read in blocks, its messages are gathered beside.

    Another `program` runs under the same limits, `more` of its variables beside those of its kind.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        output_bytes: int = 0,
        program: str = "",
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._stalled = False
        self._lines: deque[str] = deque(maxlen=_LOG)
        self._process = subprocess.Popen(
            _limited([program or binary(), *arguments], output_bytes),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env={**environment(), **more},
            start_new_session=True,
        )
        self._told = threading.Thread(target=self._gather, name="ragweave-ffmpeg", daemon=True)
        self._told.start()

    def blocks(self) -> Iterator[bytes]:
        """Yield the output as it comes; ends with the process, or when it stalls."""
        out = self._process.stdout
        assert out is not None
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            while True:
                if not selector.select(STALL):
                    self._stalled = True
                    self._process.kill()
                    return
                block = os.read(out.fileno(), _BLOCK)
                if not block:
                    return
                yield block

    def wait(self) -> Ended:
        """Wait for its end."""
        code = self._process.wait()
        self._told.join()
        return Ended(code, "\n".join(self._lines), self._stalled)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._process.poll() is None:
            if hasattr(os, "killpg"):  # with what it has started itself
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
        self._process.wait()
        self._told.join()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _gather(self) -> None:
        assert self._process.stderr is not None
        for raw in iter(lambda: self._process.stderr.readline(4096), b""):  # type: ignore[union-attr]
            self._lines.append(raw.decode("utf-8", "replace").rstrip())


def _limited(program: list[str], output_bytes: int) -> list[str]:
    if sys.platform == "win32":  # has no such limits
        return program
    limits = [str(MEMORY_MB * 2**20), str(CPU_SECONDS), str(output_bytes)]
    return [sys.executable, "-I", "-S", "-c", _LAUNCH, *limits, *program]


def run(arguments: Sequence[str]) -> Ended:
    """Run ffmpeg to its end, its output thrown away; it writes no file."""
    deadline = time.monotonic() + STALL
    with Running(arguments) as process:
        for _ in process.blocks():
            if time.monotonic() > deadline:
                break
        return process.wait()


def reason(ended: Ended) -> str:
    """Return in a few words why it failed."""
    if ended.stalled:
        return f"nothing came of it for {STALL:.0f} seconds"
    low = ended.log.lower()
    for sign, words in (
        ("moov atom not found", "its index is missing, as in a recording that was cut off"),
        ("cannot allocate memory", f"it takes more than {MEMORY_MB} MiB"),
        ("no space left", "the disk is full"),
        ("does not contain any stream", "it holds neither picture nor sound"),
        ("invalid data found", "it is damaged, or of another kind than its beginning says"),
        ("end of file", "it ends too early"),
        ("decoder not found", "its coding is unknown"),
    ):
        if sign in low:
            return words
    return f"ffmpeg ended with status {ended.code}"


def failed(path: str, ended: Ended) -> SourceError:
    """Return the error of a file that cannot be decoded."""
    logger.debug("ffmpeg on %s: %s", path, ended.log)
    name = path.rpartition("/")[2]
    return SourceError(
        f"{name} cannot be decoded: {reason(ended)}", "check that a player shows it, or convert it"
    )
