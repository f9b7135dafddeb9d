"""The pool of reading processes: files in, `Prepared` out, whatever the files do."""

from __future__ import annotations

import json
import os
import queue
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from ragweave.corpora.ingest.worker import LENGTH, WALL
from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.store.blobs import Matrix
from ragweave.corpora.store.files import File
from ragweave.corpora.store.prepared import VERSION, Prepared
from ragweave.corpora.store.temporary import temporary
from ragweave.corpora.video.intake import Intake
from ragweave.corpora.video.job import Tell
from ragweave.models.embed import Encoder
from ragweave.models.errors import LibraryError, SourceError
from ragweave.models.subprocess_env import environment

COMMAND: Sequence[str] = (sys.executable, "-P", "-m", "ragweave.corpora.ingest.worker")
"""What starts a reading process."""
_TIME_IS_UP = {name: int(getattr(signal, name, 0)) for name in ("SIGPROF", "SIGALRM")}
"""Signals that end a process after too much processor time or wall time; a retry would end as well."""


def _ignore(count: int) -> None:
    """Ignore the count."""


class Readers:
    """Reading processes that stay open for one run; recordings are read and texts embedded here."""

    recordings = 3
    """Recordings that are taken in side by side, each in another stage."""

    def __init__(self, settings: CorporaSettings, command: Sequence[str] = ()) -> None:
        self.width = settings.parse_workers or max(1, (os.cpu_count() or 2) - 1)
        self._settings = settings
        self._idle: queue.SimpleQueue[_Reader] = queue.SimpleQueue()
        # What a reading process that is killed leaves in its temporary folder goes with the run, or with the
        # next.
        self._open = ExitStack()
        self._scratch = self._open.enter_context(temporary())
        self._all = [_Reader(settings, command or COMMAND, str(self._scratch)) for _ in range(self.width)]
        for reader in self._all:
            self._idle.put(reader)

    def read(
        self,
        path: str,
        source: str,
        max_words: int,
        media: Path | None = None,
        roots: Sequence[str] = (),
        loader: str = "",
        later: bool = False,
        seen: Callable[[int], None] = _ignore,
    ) -> Prepared:
        """Read one file in a free process, `later` without its pictures; waits for one.

        Call from as many threads as `width`. `seen` is called with the number of pictures read so far.

        Raises:
            SourceError: the file cannot be read, or went past a limit.
            LibraryError: the reading process is of another version, because Ragweave was upgraded meanwhile.
        """
        reader = self._idle.get()
        try:
            what: dict[str, object] = {"path": path, "source": source, "loader": loader, "later": later}
            how = {"max_words": max_words, "roots": list(roots), "media": str(media) if media else ""}
            return reader.read(what | how, seen)
        finally:
            self._idle.put(reader)

    def read_some(
        self, some: Sequence[tuple[str, str]], max_words: int, media: Sequence[Path], roots: Sequence[str]
    ) -> list[Prepared | SourceError]:
        """Read small files in one free process, without their pictures; the replies come together.

        `some` are pairs of path and source. If one of them ends the process, the files without a reply are
        read one by one.
        """
        reader = self._idle.get()
        try:
            how = {"max_words": max_words, "roots": list(roots), "loader": "", "later": True}
            places = zip(some, media, strict=True)
            return reader.read_some([{"path": p, "source": s, "media": str(m)} | how for (p, s), m in places])
        finally:
            self._idle.put(reader)

    def perceive(self, intake: Intake, file: File, media: Path, tell: Tell) -> Prepared:
        """Read a recording."""
        return intake.read(file, media, tell)

    def embed(self, encoder: Encoder, texts: Sequence[str]) -> Matrix:
        """Return the vectors of texts."""
        return encoder.texts(list(texts))

    def close(self) -> None:
        """End every process."""
        for reader in self._all:
            reader.close()
        self._open.close()


class _Reader:
    def __init__(self, settings: CorporaSettings, command: Sequence[str], scratch: str) -> None:
        self._settings = settings
        self._scratch = scratch
        self._command = [*command, str(settings.parse_memory_mb), scratch]
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._read = 0
        """Files that the process has read: what it holds of them counts towards its memory."""
        self._starting = threading.Lock()

    def read_some(self, wanted: Sequence[dict[str, object]]) -> list[Prepared | SourceError]:
        replies: list[dict[str, dict[str, object]]] = []
        try:
            deadline = time.monotonic() + WALL * self._settings.parse_seconds
            self._send(json.dumps([self._request(each) for each in wanted]))
            while len(replies) < len(wanted):
                replies.append(self._reply(deadline))
        except (OSError, SourceError):
            self.stop()
        found: list[Prepared | SourceError] = []
        used = self._read
        for n, each in enumerate(wanted):
            try:
                if n < len(replies) and not (replies[n].get("ends") and used + n and self._again(each)):
                    self._read += 1
                    found.append(self._made(replies[n]))
                else:
                    found.append(self.read(each))
            except SourceError as error:
                found.append(error)
        return found

    def _request(self, wanted: dict[str, object]) -> dict[str, object]:
        seconds, more = self._settings.parse_seconds, self._settings.ocr_seconds
        return {**wanted, "seconds": seconds, "ocr_seconds": more, "version": VERSION}

    def read(self, wanted: dict[str, object], seen: Callable[[int], None] = _ignore) -> Prepared:
        seconds = self._settings.parse_seconds
        line = json.dumps(self._request(wanted))
        try:
            try:
                reply = self._ask(line, time.monotonic() + WALL * seconds, seen)
            except (BrokenPipeError, ConnectionResetError):
                if self._closed or self._limit():
                    raise
                # Perhaps it was not the file that ended it: once more, in a process of its own, without its
                # pictures.
                self.stop()
                if wanted["media"]:
                    shutil.rmtree(str(wanted["media"]), ignore_errors=True)
                reply = self._ask(line, time.monotonic() + WALL * seconds, seen)
        except OSError as error:
            limit = "SIGALRM" if isinstance(error, TimeoutError) else "" if self._closed else self._limit()
            self.stop()
            if limit == "SIGPROF":
                raise SourceError(
                    f"Reading it takes longer than {seconds:g} seconds of the processor",
                    "raise RAGWEAVE_PARSE_SECONDS, or leave it out",
                ) from None
            if limit == "SIGALRM":
                raise SourceError(
                    f"Reading it has not ended after {WALL * seconds:g} seconds, most of which it waited",
                    "check the disk that it lies on, raise RAGWEAVE_PARSE_SECONDS, or leave it out",
                ) from None
            raise SourceError(
                "Reading it ended the reading process (out of memory, or the file is damaged)",
                "check the file, or raise RAGWEAVE_PARSE_MEMORY_MB",
            ) from None
        if reply.get("ends") and "version" not in reply and self._read and self._again(wanted):
            return self.read(wanted, seen)
        self._read += 1
        return self._made(reply)

    def _again(self, wanted: dict[str, object]) -> bool:
        """End a process that ran out of memory after other files, so that a new process reads this file."""
        self.stop()
        if wanted["media"]:
            shutil.rmtree(str(wanted["media"]), ignore_errors=True)
        return not self._closed

    def _made(self, reply: dict[str, dict[str, object]]) -> Prepared:
        if reply.get("ends"):  # it is about to end, and must not be given the next file
            self.stop()
        if "version" in reply:
            raise LibraryError(
                "Ragweave was upgraded while it was at work",
                "run the same command again; what is stored stays",
            )
        if "ok" not in reply:
            raise SourceError(str(reply["what"]), str(reply["remedy"]))
        return Prepared.from_json(reply["ok"])

    def _limit(self) -> str:
        """Return the name of the time-limit signal that ended the process; "" if it ended otherwise."""
        if self._process is None:  # it was not even started
            return ""
        try:
            ended = -self._process.wait(5)
        except subprocess.TimeoutExpired:  # it closed its output but still runs
            return "closed"
        for name, number in _TIME_IS_UP.items():
            if number and number == ended:
                return name
        return ""

    def _ask(
        self, request: str, deadline: float, seen: Callable[[int], None]
    ) -> dict[str, dict[str, object]]:
        self._send(request)
        return self._reply(deadline, seen)

    def _send(self, request: str) -> None:
        process = self._running()
        assert process.stdin is not None
        data = memoryview(request.encode() + b"\n")
        while data:
            data = data[process.stdin.write(data) :]

    def _reply(self, deadline: float, seen: Callable[[int], None] = _ignore) -> dict[str, dict[str, object]]:
        process = self._process
        if process is None:  # it was stopped meanwhile
            raise ConnectionResetError
        assert process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            exactly = partial(_exactly, process.stdout.fileno(), selector)
            (length,) = LENGTH.unpack(exactly(LENGTH.size, deadline))
            count = 0
            while (
                length == 0
            ):  # it begins to read the words in pictures, which has a limit of its own, or has read one
                if count == 0:
                    deadline = time.monotonic() + WALL * (
                        self._settings.ocr_seconds + self._settings.parse_seconds
                    )
                seen(count)
                count += 1
                (length,) = LENGTH.unpack(exactly(LENGTH.size, deadline))
            if length > self._settings.parse_output_mb * 2**20:
                self.stop()
                raise SourceError(
                    f"It turns into more than {self._settings.parse_output_mb} MiB", "leave it out"
                )
            found: dict[str, dict[str, object]] = json.loads(exactly(length, deadline))
        return found

    def _running(self) -> subprocess.Popen[bytes]:
        with self._starting:
            if self._closed:
                raise ConnectionResetError
            if self._process is None or self._process.poll() is not None:
                self.stop()
                self._process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    bufsize=0,
                    cwd=Path.home().anchor or None,
                    env=environment() | {"TMPDIR": self._scratch},
                    # Ctrl-C is for the run, which ends its readers: one that ended first would look like a
                    # bad file.
                    start_new_session=True,
                )
            return self._process

    def close(self) -> None:
        with self._starting:  # no process is started from here on
            self._closed = True
            process = self._process
        if process is not None:
            process.kill()
            process.wait()

    def stop(self) -> None:
        process, self._process = self._process, None
        self._read = 0
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()


def _exactly(descriptor: int, selector: selectors.BaseSelector, count: int, deadline: float) -> bytes:
    """Read `count` bytes before the deadline; an ended process is an OSError."""
    parts: list[bytes] = []
    while count:
        if not selector.select(max(0.0, deadline - time.monotonic())):
            raise TimeoutError
        part = os.read(descriptor, min(count, 2**20))
        if not part:
            raise ConnectionResetError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
