"""Measure one server under mixed load for hours.

    nice python benchmarks/long.py [--minutes 120] [--askers 10] [--think 12] [--json OUT]

The server has 200 notes. Clients pause between their questions, a process of its own edits a note and
indexes the folder, and one client uploads a note, asks for it, and deletes an older one, so that the
library keeps its size. Each answer is checked. The figures are the memory, descriptors and threads of the
server ten minutes after the beginning, at the end and at rest, and the times of answers in the first and
the last ten minutes. Clients and server share the machine with all its other programs.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from printed import emit, options, own_home

from serve import (  # noqa: TID251 - benchmarks/serve.py
    NOTES,
    build,
    client_of,
    native,
    percentile,
    served,
    year,
)

UPLOADED = 20
"""Uploads that stay; older ones are deleted."""
WINDOW = 600.0
"""Seconds of the beginning and of the end that are compared."""


@dataclass
class Load:
    """What the actors do until the end, and what was counted."""

    client: httpx.AsyncClient
    pid: int
    folder: Path
    think: float
    seconds: float
    began: float = field(default_factory=time.monotonic)
    walls: list[tuple[float, float]] = field(default_factory=list)
    held: list[tuple[float, float, int, int]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("uploads", "edits", "deleted"), 0))
    errors: list[str] = field(default_factory=list)

    def now(self) -> float:
        """Return the seconds since the beginning."""
        return time.monotonic() - self.began

    async def repeat(self, act: Any, every: float) -> None:
        """Do something again and again, with a pause of random length; an error is counted."""
        rng = random.Random(f"{act} {every}")
        await asyncio.sleep(rng.uniform(0, every))
        while self.now() < self.seconds:
            try:
                await act()
            except (httpx.HTTPError, ValueError, KeyError, OSError) as error:
                self.errors.append(f"{self.now():.0f} s: {type(error).__name__}: {error}"[:300])
            await asyncio.sleep(min(rng.uniform(0.5, 1.5) * every, max(0.0, self.seconds - self.now())))

    async def ask(self) -> None:
        """Ask for one of the notes, and check the year."""
        began = self.now()
        _, wall = await native(self.client, random.randrange(NOTES))
        self.walls.append((began, wall * 1000))

    async def edit(self) -> None:
        """Change a note, and have another process index the folder."""
        n = self.counts["edits"] = self.counts["edits"] + 1
        path = self.folder / f"{n % NOTES}.md"
        text = path.read_text(encoding="utf-8").partition("\n\nLooked after")[0].rstrip()
        path.write_text(f"{text}\n\nLooked after by keeper number {n} since.\n", encoding="utf-8")
        command = [sys.executable, "-m", "ragweave.app.cli", "index", str(self.folder), "-q"]
        process = await asyncio.create_subprocess_exec(*command, stdout=-3, stderr=asyncio.subprocess.PIPE)
        _, said = await process.communicate()
        if process.returncode:
            raise ValueError(f"index ended with {process.returncode}: {said.decode()[-200:]}")

    async def upload(self) -> None:
        """Upload a note, wait for it, find it, and delete the oldest upload."""
        n = self.counts["uploads"] = self.counts["uploads"] + 1
        text = f"# Lantern {n}\n\nThe Lantern of Querrin {n} was hung in {year(n)}.\n"
        files = {"files": (f"lantern-{n}.md", text.encode())}
        sent = await self.client.post("/api/upload", files=files, data={"library": "default"})
        job = sent.raise_for_status().json()["job"]
        ended = (await self.client.get(f"/api/jobs/{job}/events")).text
        if '"done"' not in ended:
            raise ValueError(f"the upload was not indexed: {ended[-200:]}")
        rows = (await self.client.get("/api/sources", params={"library": "default"})).json()["sources"]
        mine: dict[int, str] = {}
        for source in rows:
            if source["uploaded"]:
                mine[int(source["name"][8:-3])] = source["id"]
        if n not in mine:
            raise ValueError("the upload is no source")
        if len(mine) > UPLOADED:
            path = f"/api/sources?library=default&ids={mine[min(mine)]}"
            (await self.client.delete(path)).raise_for_status()
            self.counts["deleted"] += 1

    async def look(self) -> None:
        """Note what the server holds."""
        self.held.append((self.now(), *holds(self.pid)))

    async def run(self, askers: int) -> None:
        """Let all of them act until the end."""
        actors = [self.repeat(self.ask, self.think) for _ in range(askers)]
        await asyncio.gather(
            *actors, self.repeat(self.edit, 90), self.repeat(self.upload, 45), self.repeat(self.look, 5)
        )


def holds(pid: int) -> tuple[float, int, int]:
    """Return the resident MiB, the open descriptors, and the threads of a process."""
    status: dict[str, str] = {}
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        status[name] = value
    descriptors = len(os.listdir(f"/proc/{pid}/fd"))
    return int(status["VmRSS"].split()[0]) / 1024, descriptors, int(status["Threads"])


def spent(pid: int) -> float:
    """Return the seconds of CPU of a process and of those that it has waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def figures(load: Load, cpu: float, rest: tuple[float, int, int]) -> dict[str, Any]:
    """Compare the beginning and the end."""
    window = min(WINDOW, load.seconds / 3)
    first = [wall for at, wall in load.walls if at < window]
    last = [wall for at, wall in load.walls if at > load.seconds - window]
    early = [row for row in load.held if window <= row[0] < window * 1.25]
    late = [row for row in load.held if row[0] > load.seconds - window / 4]
    found: dict[str, Any] = {
        "minutes": load.seconds / 60,
        "questions": len(load.walls),
        **load.counts,
        "errors": len(load.errors),
        "CPU of the server, of a core": cpu / load.now(),
        "first minutes compared": window / 60,
    }
    for n, what in ((1, "MiB"), (2, "descriptors"), (3, "threads")):
        found[f"{what} after the first minutes"] = float(statistics.median([row[n] for row in early]))
        found[f"{what} at the end"] = float(statistics.median([row[n] for row in late]))
        found[f"{what} at most"] = float(max([row[n] for row in load.held]))
        found[f"{what} at rest"] = float(rest[n - 1])
    then, now = found["MiB after the first minutes"], found["MiB at the end"]
    found["growth of memory, %"] = 100 * (now / then - 1)
    for p in (50, 95):
        found[f"p{p} at the beginning, ms"] = percentile(first, p)
        found[f"p{p} at the end, ms"] = percentile(last, p)
    found["p95, end / beginning"] = found["p95 at the end, ms"] / max(1.0, found["p95 at the beginning, ms"])
    return found | {"an error": load.errors[0] if load.errors else ""}


async def measure(
    home: Path, folder: Path, minutes: float, askers: int, think: float, trace: Path | None
) -> Any:
    """Run the server and the load, and return the figures."""
    with served(home) as (url, pid):
        async with client_of(url) as client:
            load = Load(client, pid, folder, think, minutes * 60)
            await load.run(askers)
            await client.get("/healthz")
            cpu = spent(pid)
        await asyncio.sleep(min(20.0, minutes * 10))  # connections are closed, jobs have ended
        rest = holds(pid)
    if trace:
        lines = "".join([json.dumps(row) + "\n" for row in load.held])
        await asyncio.to_thread(trace.write_text, lines, encoding="utf-8")
    return figures(load, cpu, rest)


def main() -> None:
    """Print the figures, and write them to the file that `--json` names."""
    parser = options(__doc__)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--askers", type=int, default=10)
    parser.add_argument(
        "--think", type=float, default=12, help="mean seconds between an answer and the next question"
    )
    parser.add_argument("--trace", type=Path, help="write what was held every few seconds there")
    given = parser.parse_args()
    logging.getLogger("httpx").setLevel(logging.WARNING)
    with own_home() as folder:
        asyncio.run(build(folder / "texts"))
        run = measure(
            folder / "home", folder / "texts", given.minutes, given.askers, given.think, given.trace
        )
        emit(asyncio.run(run), given.json)


if __name__ == "__main__":
    main()
