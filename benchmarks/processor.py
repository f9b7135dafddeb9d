"""What programs take of a processor, as the system counts it: on a busy machine the clock says little."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def spent(root: int) -> float:
    """Return the milliseconds of a processor of a process and of all below it; 0 where the system does not tell."""
    parents, ticks = {}, {}
    for told in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            pid, facts = int(told.parent.name), told.read_text().rpartition(")")[2].split()
            # Those that it waited for count to it.
            parents[pid], ticks[pid] = int(facts[1]), sum(map(int, facts[11:15]))
    known: set[int] = {root} & ticks.keys()
    while more := {pid for pid, parent in parents.items() if parent in known} - known:
        known |= more
    return sum(ticks[pid] for pid in known) * 1000 / os.sysconf("SC_CLK_TCK")
