"""Processes that answer on one port, and the socket that one or several listen on."""

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
"""Seconds after which a worker that says nothing is taken for hung; importing takes seconds on a busy machine."""


def run_workers(
    build: Callable[[], FastAPI],
    settings: ServeSettings,
    log: str,
    listener: socket.socket,
    tell: Callable[[], object],
) -> bool:
    """Have several processes answer on one port until a signal; one that dies is started again.

    `tell` is called once one of them listens. Returns whether they could begin.
    """
    logging.getLogger("uvicorn.error").setLevel(logging.INFO)  # it tells of workers that come and go
    several = {"factory": True, "workers": settings.workers, "timeout_worker_healthcheck": _SILENT}
    config = config_of(partial(worker, build, log), settings.shutdown_seconds, settings.proxies, **several)
    at = listener.getsockname()
    if sys.platform == "linux":
        listener.close()
        listener = bound(at[0], at[1], OfEach)
    workers = _Workers(config, [listener])
    threading.Thread(target=_tell, args=(at[:2], tell), daemon=True).start()
    with of_several():
        workers.run()
    return all(process.exitcode != STARTUP_FAILURE for process in workers.processes)


class _Workers(Multiprocess):
    """The processes, which can be stopped while they begin, too."""

    def init_processes(self) -> None:
        """Start them; Ctrl-C, which a terminal sends to all, is for their parent alone until they answer."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        super().init_processes()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._hear)

    def _hear(self, number: int, _: object) -> None:
        self.signal_queue.append(number)
        for (
            process
        ) in self.processes:  # one that begins may be silent for long, and its parent waits: it wakes itself
            with suppress(OSError):
                process.child_conn.send(False)


class _Config(uvicorn.Config):
    """Loads the app where a signal still ends the process at once; later uvicorn puts it off until all has begun."""

    def get_loop_factory(self) -> Any:
        """Return what makes the event loop."""
        if not self.loaded:
            self.load()
        return super().get_loop_factory()


def _tell(at: tuple[str, int], tell: Callable[[], object]) -> None:
    while True:
        try:
            socket.create_connection(at, 5).close()
        except OSError:
            time.sleep(0.1)
        else:
            tell()
            return


def worker(build: Callable[[], FastAPI], log: str) -> FastAPI:
    """Return the app of one of several processes, which ends with the one that started it."""
    set_up(log)
    share_heap()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        app = build()
    except RagweaveError as error:  # another try would fail alike: the parent ends
        sys.stderr.write(f"{error}\n")
        sys.exit(STARTUP_FAILURE)
    settle()
    return app


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        signal.raise_signal(signal.SIGTERM)


class OfEach(socket.socket):
    """A socket that is opened anew where it is handed to a worker: Linux deals out connections among those of one port.

    Of one socket that all share, the worker that wakes first takes every connection that waits.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Say how it is opened anew."""
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
    """Return how the app is served; what `proxies`, addresses parted by commas, forward of a client is believed."""
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
