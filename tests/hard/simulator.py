"""A simulator of faults: a random program over the life of a home, with a fault at a random place of its steps.

python -m ragweave.tests.hard.simulator SEED [STEPS] prints the steps that it ran, and where the home then holds what it
must not, the seed and the shortest program found that still ends so. Each step is a command line in a process of its
own; after each everything that the home holds is compared with the files and with what was acknowledged.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from ragweave.tests.hard.boundary import KINDS
from ragweave.tests.hard.commands import Broken, Step
from ragweave.tests.hard.world import FILES, World

COMMANDS = {"index": 24, "search": 5, "ask": 3, "chat": 5, "export": 5, "import": 5, "reembed": 4, "delete": 2}
COMMANDS |= {"repair": 3, "forget": 3, "upload": 10}
WEIGHTS = {**dict(zip(FILES, (14, 9, 6, 4, 4, 6, 2), strict=True)), **COMMANDS}


def program(seed: int, steps: int) -> list[Step]:
    """Return a program: each step by what it does, numbers to choose with, and its fault."""
    rng = random.Random(seed)
    made = []
    for _ in range(steps):
        op = rng.choices([*WEIGHTS], [*WEIGHTS.values()])[0]
        step: Step = {"op": op, "seed": rng.getrandbits(32)}
        if op in COMMANDS and rng.random() < 0.55:
            step["fault"] = rng.choices([*KINDS, "timed kill"], [8, 2, 3, 3, 1, 2, 3])[0]
            step["at"] = int(2 ** rng.uniform(0, 8.5))
        made.append(step)
    return made


def failure(steps: list[Step]) -> tuple[int, str, Counter[str]]:
    """Run a program in an empty world; return the number of the step that broke something, or -1, and what."""
    with tempfile.TemporaryDirectory(prefix="simulated-") as place:
        world = World(Path(place))
        for n, step in enumerate(steps):
            try:
                world.run(step)
            except Broken as error:
                return n, str(error), world.counts
    return -1, "", world.counts


def shrunk(steps: list[Step], seconds: float) -> list[Step]:
    """Drop steps for as long as the program still fails, at most that long."""
    until, size = time.monotonic() + seconds, max(1, len(steps) // 2)
    while size:
        at = 0
        while at < len(steps) and time.monotonic() < until:
            fewer = steps[:at] + steps[at + size :]
            broke, _, _ = failure(fewer)
            if broke >= 0:
                steps = fewer[: broke + 1]
            else:
                at += size
        size //= 2
    return steps


def main() -> int:
    seed, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    steps, began = program(seed, count), time.monotonic()
    broke, why, counts = failure(steps)
    print(json.dumps(dict(sorted(counts.items()))), f"{time.monotonic() - began:.0f} s", flush=True)
    if broke < 0:
        return 0
    print(f"seed {seed}, step {broke}: {steps[broke]}\n{why}", flush=True)
    for step in shrunk(steps[: broke + 1], float(os.environ.get("SHRINK_SECONDS", "120"))):
        print(" ", step)
    return 1


if __name__ == "__main__":
    sys.exit(main())
