"""CPU time of processes: on a busy machine it says more than the clock."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def spent(root: int) -> float:
    """Return the CPU milliseconds of a process and its descendants; 0 on a system without /proc."""
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # the process has ended
            pid, facts = int(stat.parent.name), stat.read_text().rpartition(")")[2].split()
            children.setdefault(int(facts[1]), []).append(pid)
            # The times of children that have ended are included.
            ticks[pid] = sum(map(int, facts[11:15]))
    total = 0
    open_pids = [root]
    while open_pids:
        pid = open_pids.pop()
        total += ticks.get(pid, 0)
        open_pids += children.get(pid, [])
    return total * 1000 / os.sysconf("SC_CLK_TCK")
