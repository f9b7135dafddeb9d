"""Run ffmpeg as a child process with limits on memory, time and output, without network and playlists."""

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
"""Address space of one ffmpeg process; decoding 8K takes about 3 GB."""
STALL = 120.0
"""Seconds without output after which a process is killed."""
CPU_SECONDS = 12 * 3600
"""CPU seconds of one ffmpeg process."""
_BLOCK = 1 << 20
_LOG = 4_000
"""Lines of its messages that are kept: a film may have hundreds of chapters."""
# A small process sets the limits and then becomes ffmpeg: to run a function between fork and exec is not safe
# in a program with threads.
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
    """Return the arguments that open a file with one demuxer; files and pipes are the only protocols."""
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
    """How a process ended: exit code (negative for a signal), last messages, and whether it stalled."""

    code: int
    log: str
    stalled: bool


class Running:
    """A running ffmpeg process as a context manager; it is killed at the end of the block.

    The caller reads the output in blocks; a thread collects the messages. Another `program` runs with the
    same limits, and with `more` environment variables.
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
        self._reader = threading.Thread(target=self._gather, name="ragweave-ffmpeg", daemon=True)
        self._reader.start()

    def blocks(self) -> Iterator[bytes]:
        """Yield the output in blocks until the process ends or stalls."""
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
        """Wait until the process ends."""
        code = self._process.wait()
        self._reader.join()
        return Ended(code, "\n".join(self._lines), self._stalled)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._process.poll() is None:
            if hasattr(os, "killpg"):  # Kills its own child processes, too.
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _gather(self) -> None:
        """Collect the messages line by line."""
        messages = self._process.stderr
        assert messages is not None
        while True:
            raw = messages.readline(4096)
            if not raw:
                return
            self._lines.append(raw.decode("utf-8", "replace").rstrip())


def _limited(program: list[str], output_bytes: int) -> list[str]:
    """Return the command that runs a program with the limits."""
    if sys.platform == "win32":  # Windows has no such limits.
        return program
    limits = [str(MEMORY_MB * 2**20), str(CPU_SECONDS), str(output_bytes)]
    return [sys.executable, "-I", "-S", "-c", _LAUNCH, *limits, *program]


def run(arguments: Sequence[str]) -> Ended:
    """Run ffmpeg until it ends and discard its output; it writes no file."""
    deadline = time.monotonic() + STALL
    with Running(arguments) as process:
        for _ in process.blocks():
            if time.monotonic() > deadline:
                break
        return process.wait()


def reason(ended: Ended) -> str:
    """Return in a few words why ffmpeg failed."""
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
