"""A simulator of faults: a random program over the life of a home, with a fault at a random place of its steps.

python -m ragweave.tests.hard.simulator SEED [STEPS] [--programs N] [--store files|postgres|both] prints the
steps that it ran, and where the home then holds what it must not, the seed and the shortest program found
that still ends so. Each step is a command line in a process of its own; after each everything that the home
holds is compared with the files and with what was acknowledged."""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, nullcontext
from pathlib import Path

from ragweave.tests.hard.boundary import KINDS
from ragweave.tests.hard.commands import CUT, Broken, Step
from ragweave.tests.hard.world import FILES, World
from ragweave.tests.support.postgres import Postgres, binaries, private_postgres

COMMANDS = {"index": 24, "search": 5, "ask": 3, "chat": 5, "reembed": 4, "delete": 2}
COMMANDS |= {"repair": 3, "forget": 3, "upload": 10}
WEIGHTS = {**dict(zip(FILES, (14, 9, 6, 4, 4, 6, 2), strict=True)), **COMMANDS}
FAULTS = dict(zip([*KINDS, "timed kill"], (8, 2, 3, 3, 1, 2, 3), strict=True))
CUTTABLE = {**FAULTS, CUT: 5}
STORES = ("files", "postgres", "both")


def program(seed: int, steps: int, faults: dict[str, int]) -> list[Step]:
    """Return a program: each step by what it does, numbers to choose with, and its fault."""
    rng = random.Random(seed)
    made = []
    for _ in range(steps):
        op = rng.choices([*WEIGHTS], [*WEIGHTS.values()])[0]
        step: Step = {"op": op, "seed": rng.getrandbits(32)}
        if op in COMMANDS and rng.random() < 0.55:
            step["fault"] = rng.choices([*faults], [*faults.values()])[0]
            step["at"] = int(2 ** rng.uniform(0, 8.5))
        made.append(step)
    return made


def failure(steps: list[Step], server: Postgres | None) -> tuple[int, str, Counter[str]]:
    """Run a program in an empty world; return the number of the step that broke something, or -1, and what."""
    database = server.database() if server else nullcontext("")
    with tempfile.TemporaryDirectory(prefix="simulated-") as place, database as url:
        world = World(Path(place), url)
        for n, step in enumerate(steps):
            try:
                world.run(step)
            except Broken as error:
                return n, str(error), world.counts
    return -1, "", world.counts


def shrunk(steps: list[Step], server: Postgres | None, seconds: float) -> list[Step]:
    """Drop steps for as long as the program still fails, at most that long."""
    until, size = time.monotonic() + seconds, max(1, len(steps) // 2)
    while size:
        at = 0
        while at < len(steps) and time.monotonic() < until:
            fewer = steps[:at] + steps[at + size :]
            broke, _, _ = failure(fewer, server)
            if broke >= 0:
                steps = fewer[: broke + 1]
            else:
                at += size
        size //= 2
    return steps


def main() -> int:
    """Run programs until one fails; print what each did, and the shortest form of the one that failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("steps", type=int, nargs="?", default=200)
    parser.add_argument(
        "--programs", type=int, default=1, help="run so many, of this seed and those after it"
    )
    parser.add_argument(
        "--store", choices=STORES, default="files", help="what keeps the catalogs; both: by turns"
    )
    given = parser.parse_args()
    with ExitStack() as open_until_the_end:
        server: Postgres | None = None
        if given.store != "files":
            if (found := binaries()) is None:
                parser.error("no PostgreSQL is installed")
            server = open_until_the_end.enter_context(private_postgres(found))
        for seed in range(given.seed, given.seed + given.programs):
            over = server if given.store == "postgres" or (given.store == "both" and seed % 2) else None
            if not _passes(seed, program(seed, given.steps, CUTTABLE if over else FAULTS), over):
                return 1
    return 0


def _passes(seed: int, steps: list[Step], server: Postgres | None) -> bool:
    began = time.monotonic()
    broke, why, counts = failure(steps, server)
    what = (
        f"seed {seed}, {'postgres' if server else 'files'}, {len(steps)} steps,"
        f" {time.monotonic() - began:.0f} s"
    )
    print(what, json.dumps(dict(sorted(counts.items()))), flush=True)
    if broke < 0:
        return True
    print(f"step {broke}: {steps[broke]}\n{why}", flush=True)
    for step in shrunk(steps[: broke + 1], server, float(os.environ.get("SHRINK_SECONDS", "120"))):
        print(" ", step)
    return False


if __name__ == "__main__":
    sys.exit(main())
