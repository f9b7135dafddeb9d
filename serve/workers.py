"""Run the worker processes of a server, and open the socket on which they listen."""

from __future__ import annotations

import errno
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from ragweave.models.errors import InputError, RagweaveError
from ragweave.serve.metrics import of_several
from ragweave.serve.process import set_up, settle, share_heap
from ragweave.serve.settings import ServeSettings

_SILENT = 30
"""Seconds after which a silent worker counts as hung; on a busy machine imports take seconds."""


def run_workers(
    build: Callable[[], FastAPI],
    settings: ServeSettings,
    log: str,
    listener: socket.socket,
    tell: Callable[[], object],
) -> bool:
    """Run several processes on one port until a signal; restart a process that dies.

    `tell` is called when one of them listens. Returns whether all of them could start.
    """
    logging.getLogger("uvicorn.error").setLevel(logging.INFO)  # it logs starts and ends of workers
    several = {"factory": True, "workers": settings.workers, "timeout_worker_healthcheck": _SILENT}
    config = config_of(partial(worker, build, log), settings.shutdown_seconds, settings.proxies, **several)
    at = listener.getsockname()
    if sys.platform == "linux":
        listener.close()
        listener = bound(at[0], at[1], OfEach)
    workers = _Workers(config, [listener])
    threading.Thread(target=_call_once_open, args=(at[:2], tell), daemon=True).start()
    with of_several():
        workers.run()
    return STARTUP_FAILURE not in [process.exitcode for process in workers.processes]


class _Workers(Multiprocess):
    """The worker processes, which can be stopped even while they start."""

    def init_processes(self) -> None:
        """Start the workers.

        A terminal sends Ctrl-C to all processes; until the workers serve, only their parent handles it.
        """
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        super().init_processes()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, _: object) -> None:
        self.signal_queue.append(number)
        # The parent may be waiting for a worker that starts and is silent: answer for it, to wake the parent.
        for process in self.processes:
            with suppress(OSError):
                process.child_conn.send(False)


class _Config(uvicorn.Config):
    """Load the app early, while a signal still ends the process at once; later uvicorn would delay it."""

    def get_loop_factory(self) -> Any:
        """Return the factory of the event loop."""
        if not self.loaded:
            self.load()
        return super().get_loop_factory()


def _call_once_open(at: tuple[str, int], tell: Callable[[], object]) -> None:
    """Call `tell` as soon as an address accepts connections."""
    while True:
        try:
            socket.create_connection(at, 5).close()
        except OSError:
            time.sleep(0.1)
        else:
            tell()
            return


def worker(build: Callable[[], FastAPI], log: str) -> FastAPI:
    """Return the app of a worker process, which ends when its parent ends."""
    set_up(log)
    share_heap()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        app = build()
    except RagweaveError as error:  # another try would fail as well: end the parent
        sys.stderr.write(f"{error}\n")
        sys.exit(STARTUP_FAILURE)
    settle()
    return app


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        signal.raise_signal(signal.SIGTERM)


class OfEach(socket.socket):
    """A socket of which each worker opens its own: Linux distributes connections among those of one port.

    If all workers shared one socket, the worker that wakes first would take every waiting connection.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the call that opens the socket of a worker."""
        return bound, (*self.getsockname()[:2], OfEach)


def listen(host: str, port: int) -> socket.socket:
    """Open the socket to listen on."""
    listener = bound(host, port)
    listener.listen(128)
    return listener


def bound(host: str, port: int, kind_of: type[socket.socket] = socket.socket) -> socket.socket:
    """Open a socket at an address."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = kind_of(family, kind, protocol)
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if kind_of is OfEach:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            remedy = "stop what listens there, or choose another with --port"
            raise InputError(f"port {port} on {host} is in use", remedy) from None
        what = f"cannot listen on {host}:{port} ({error.strerror})"
        raise InputError(what, "choose another --host or --port") from None
    return listener


def config_of(
    app: FastAPI | Callable[[], FastAPI], shutdown_seconds: int, proxies: str = "", **more: Any
) -> uvicorn.Config:
    """Return the configuration of uvicorn for the app.

    `proxies` are addresses, separated by commas, whose forwarded client addresses are trusted.
    """
    return _Config(
        app,
        http="h11",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=shutdown_seconds,
        timeout_keep_alive=20,
        h11_max_incomplete_event_size=64 * 1024,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies,
        **more,
    )
