"""Reading processes of tests, forked from one that has imported the readers: each starts in milliseconds.

`python forked_readers.py fork SOCKET` imports the readers, waits on SOCKET and forks a reading process for each
caller. `python forked_readers.py call SOCKET MEMORY_MB SCRATCH` is such a caller: it hands over its pipes, and
ends as its reading process ends, by the same signal; if it is killed, its reading process is killed.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from subprocess import DEVNULL, PIPE, Popen

_LONGEST = 2**20
"""Bytes of arguments and environment that a caller may send."""


class Command(tuple[str, ...]):
    """The command of a reading process, as `Readers` takes it; its first use starts the process that forks."""

    forks: Popen[bytes] | None = None

    def __iter__(self) -> Iterator[str]:
        """Return the words of the command."""
        path = tuple.__getitem__(self, -1)
        if Command.forks is None:
            from ragweave.models.subprocess_env import environment

            parent = [sys.executable, "-P", __file__, "fork", path]
            Command.forks = Popen(
                parent, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment(), start_new_session=True
            )
            assert Command.forks.stdout is not None
            Command.forks.stdout.readline()
        return tuple.__iter__(self)


def command(path: str) -> Command:
    """Return the command of a reading process that is forked by way of a socket at `path`."""
    return Command((sys.executable, "-I", "-S", __file__, "call", path))


def end() -> None:
    """End the process that forks."""
    if Command.forks is not None:
        Command.forks.kill()
        Command.forks.wait()
        Command.forks = None


def call(path: str, arguments: list[str]) -> None:
    """Have a reading process forked that uses the pipes of this process, and end as it ends."""
    with socket.socket(socket.AF_UNIX) as there:
        there.connect(path)
        wanted = json.dumps([arguments, dict(os.environ), os.getcwd()]).encode()
        socket.send_fds(there, [len(wanted).to_bytes(4, "big")], [0, 1, 2])
        there.sendall(wanted)
        for descriptor in (0, 1):
            os.close(descriptor)
        ended = there.recv(4)
    status = int.from_bytes(ended, "big", signed=True) if ended else -signal.SIGKILL
    if status < 0:
        os.kill(os.getpid(), -status)
    os._exit(status)


def fork(path: str) -> None:
    """Import the readers, and fork a reading process for each caller."""
    import ragweave.corpora.formats.markdown
    import ragweave.corpora.ingest.worker  # noqa: F401

    threading.Thread(target=_end_with_the_tests, daemon=True).start()
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(64)
    print("ready", flush=True)
    while True:
        caller, _ = server.accept()
        length, pipes, _, _ = socket.recv_fds(caller, 4, 3)
        wanted = b""
        while len(wanted) < int.from_bytes(length, "big"):
            wanted += caller.recv(_LONGEST)
        process = os.fork()
        if process == 0:
            server.close()
            caller.close()
            _read(pipes, *json.loads(wanted))
        for pipe in pipes:
            os.close(pipe)
        threading.Thread(target=_watch, args=(process, caller), daemon=True).start()


def _read(pipes: list[int], arguments: list[str], variables: dict[str, str], folder: str) -> None:
    """Be the reading process, in the environment of the caller."""
    from ragweave.corpora.ingest import worker

    os.setsid()
    for number, pipe in enumerate(pipes):
        os.dup2(pipe, number)
        os.close(pipe)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    sys.argv = ["worker", *arguments]
    sys.stdin = os.fdopen(0, "r", encoding="utf-8")
    try:
        worker.main()
    finally:
        os._exit(0)


def _end_with_the_tests() -> None:
    """Wait for the end of standard input, which the tests hold open, and end."""
    sys.stdin.buffer.read()
    os._exit(0)


def _watch(process: int, caller: socket.socket) -> None:
    """Send the caller how its reading process ended; kill the process if the caller is gone."""
    ended = threading.Event()
    threading.Thread(target=_kill_with, args=(process, caller, ended), daemon=True).start()
    _, status = os.waitpid(process, 0)
    ended.set()
    try:
        caller.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
        caller.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # the caller was killed


def _kill_with(process: int, caller: socket.socket, ended: threading.Event) -> None:
    """Wait until the caller is gone, and kill its reading process if it has not ended."""
    caller.recv(1)
    if not ended.is_set():
        os.kill(process, signal.SIGKILL)


if __name__ == "__main__":
    what, place, *rest = sys.argv[1:]
    if what == "fork":
        fork(place)
    else:
        call(place, rest)
