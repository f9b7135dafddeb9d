"""Measure the time and memory that a piece of work takes, with its child processes."""

from __future__ import annotations

import os
import resource
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def cpu() -> float:
    """Return the seconds of the processors that this process and its ended children have used."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def measured(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what the work returns, its wall seconds and its seconds of the processors."""
    wall, used = time.monotonic(), cpu()
    found = work()
    return found, time.monotonic() - wall, cpu() - used


class Peak:
    """Follows the resident memory of this process and its children."""

    def __init__(self) -> None:
        self.bytes = 0
        self._stop = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self._stop.wait(0.2):
            processes = [os.getpid(), *_children(os.getpid())]
            self.bytes = max(self.bytes, sum(map(_resident, processes)))

    def end(self) -> int:
        """Stop, and return the peak in MiB."""
        self._stop.set()
        return self.bytes // 2**20


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *_children(child)]
    except (OSError, ValueError):
        pass
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
