"""Faults at the boundary between one process and its disk: killed, stopped, refused by the disk, a clock that steps.

What Python opens for writing, renames, makes and removes is seen by an audit hook; what SQLite writes, by the
table of system calls that its file layer offers for tests. The n-th of these operations meets the fault."""

from __future__ import annotations

import _sqlite3
import ctypes
import errno
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

KINDS = ("kill", "stop", "eio", "full", "read-only", "small files")
_GROWS = {"write", "open", "mkdir"}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGES = {"os.rename": "rename", "os.remove": "remove", "os.mkdir": "mkdir", "os.rmdir": "rmdir"}


@dataclass
class Boundary:
    """The operations of this process on what lies under `root`, and the fault that the one numbered `at` meets."""

    kind: str
    at: int
    root: str
    count: int = 0

    def install(self) -> None:
        """Watch this process from here on; it cannot be undone."""
        self._lock = threading.Lock()
        if self.kind == "small files":  # as on a disk with a quota: a write fails half-way
            resource.setrlimit(resource.RLIMIT_FSIZE, (2**15 + self.at * 2**11, resource.RLIM_INFINITY))
            return
        sys.addaudithook(self._audited)
        real_sync = os.fsync

        def sync(descriptor: int) -> None:
            self._or_raise("write")
            real_sync(descriptor)

        os.fsync = sync
        if self.kind == "read-only":
            real_access = os.access
            os.access = lambda path, mode, **more: not mode & os.W_OK and real_access(path, mode, **more)
        _replace_calls(self._reached)

    def _audited(self, event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = given
            if (
                isinstance(path, str)
                and path.startswith(self.root)
                and isinstance(flags, int)
                and flags & _WRITES
            ):
                self._or_raise("open")
        elif event in _CHANGES and (str(given[0]).startswith(self.root) or not os.path.isabs(str(given[0]))):
            self._or_raise(_CHANGES[event])  # a folder is removed by names relative to it

    def _or_raise(self, what: str) -> None:
        if number := self._reached(what):
            raise OSError(number, os.strerror(number))

    def _reached(self, what: str) -> int:
        """Count an operation; meet the fault, or return the error that it ends in."""
        with self._lock:
            self.count += 1
            now = self.count == self.at
        if now and self.kind in ("kill", "stop"):
            os.kill(os.getpid(), signal.SIGKILL if self.kind == "kill" else signal.SIGSTOP)
        if self.kind == "read-only":
            return errno.EROFS
        if self.kind == "full" and self.count >= self.at and what in _GROWS:
            return errno.ENOSPC
        return errno.EIO if self.kind == "eio" and now else 0


def step_clock(seconds: float) -> None:
    """Have this process see another time of day."""
    real = time.time
    time.time = lambda: real() + seconds


_Pointer = ctypes.c_void_p
_SYMBOLS = (
    "Open Delete Access FullPathname DlOpen DlError DlSym DlClose Randomness Sleep CurrentTime GetLastError "
    "CurrentTimeInt64"
).split()


class _Vfs(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int) for name in ("version", "size", "longest")),
        *((name, _Pointer) for name in ("next", "name", "data", *_SYMBOLS)),
        ("set", ctypes.CFUNCTYPE(ctypes.c_int, _Pointer, ctypes.c_char_p, _Pointer)),
        ("get", ctypes.CFUNCTYPE(_Pointer, _Pointer, ctypes.c_char_p)),
    ]


_kept: list[object] = []


def _replace_calls(reached: Callable[[str], int]) -> None:
    """Put `reached` before the calls by which SQLite changes its files."""
    library = ctypes.CDLL(_sqlite3.__file__)
    library.sqlite3_vfs_find.restype = _Pointer
    vfs = library.sqlite3_vfs_find(None)
    table = ctypes.cast(vfs, ctypes.POINTER(_Vfs)).contents

    def before(name: bytes, what: str, kind: Any, when: Callable[..., bool] = lambda *given: True) -> None:
        if not (there := table.get(vfs, name)):
            return
        real = kind(there)

        def call(*given: Any) -> int:
            if when(*given) and (number := reached(what)):
                ctypes.set_errno(number)
                return -1
            return int(real(*given))

        made = kind(call)
        _kept.append(made)
        table.set(vfs, name, ctypes.cast(made, _Pointer))

    integer, size = ctypes.c_int, ctypes.c_ssize_t
    at = ctypes.CFUNCTYPE(size, integer, _Pointer, ctypes.c_size_t, ctypes.c_int64, use_errno=True)
    before(b"pwrite64", "write", at)
    before(b"pwrite", "write", at)
    before(b"write", "write", ctypes.CFUNCTYPE(size, integer, _Pointer, ctypes.c_size_t, use_errno=True))
    before(b"ftruncate", "truncate", ctypes.CFUNCTYPE(integer, integer, ctypes.c_int64, use_errno=True))
    before(b"unlink", "remove", ctypes.CFUNCTYPE(integer, ctypes.c_char_p, use_errno=True))
    opening = ctypes.CFUNCTYPE(integer, ctypes.c_char_p, integer, integer, use_errno=True)
    before(b"open", "open", opening, lambda path, flags, mode: bool(flags & _WRITES))
