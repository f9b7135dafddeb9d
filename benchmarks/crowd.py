"""Measure one server when many clients send a question at the same moment.

    python benchmarks/crowd.py [--askers 64 200] [--latency 0.3] [--repeat 3] [--workers 1]

Starts `ragweave serve` over 200 notes with a scripted model of fixed latency. So many clients send one
question each at the same moment, through the API of the page; `first_p95` are the seconds until the first
sentence. Meanwhile requests go to `/healthz` and `/search` by turns. `places` counts the clients that got
their place in the queue. A first round warms up. Clients, model and server share this machine; `cpu_ms` is
the CPU time of the server for a question, if /proc has it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import runpy
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
from processor import spent

_SERVE = runpy.run_path(str(Path(__file__).with_name("serve.py")))
asking, build, check, react = _SERVE["asking"], _SERVE["build"], _SERVE["check"], _SERVE["react"]
client_of, percentile = _SERVE["client_of"], _SERVE["percentile"]
question, served = _SERVE["question"], _SERVE["served"]


async def ask(client: httpx.AsyncClient, n: int) -> dict[str, float]:
    """Ask; return the seconds to the first sentence and to the answer, and the events with a place."""
    began, found = time.perf_counter(), {"first": 0.0, "answer": 0.0, "places": 0.0}
    sent = client.stream(
        "POST", "/api/ask", json={"question": question(n)}, headers={"accept": "text/event-stream"}
    )
    async with sent as stream:
        stream.raise_for_status()
        async for line in stream.aiter_lines():
            if line == "event: sentence" and not found["first"]:
                found["first"] = time.perf_counter() - began
            elif line == "event: queue":
                found["places"] += 1
            elif line.startswith('data: {"type": "answer"'):
                found["answer"] = time.perf_counter() - began
                check(json.loads(line[6:])["answer"]["text"], n)
    if not found["answer"]:
        raise ValueError(f"{question(n)} got no answer")
    return found


async def probe(client: httpx.AsyncClient, took: dict[str, list[float]]) -> None:
    """Ask for the health and search, ten times a second together, until stopped."""
    while True:
        for path in took:
            began = time.perf_counter()
            if path == "/healthz":
                await client.get(path)
            else:
                await client.post(path, json={"query": "Observatory of Velmora"})
            took[path].append(time.perf_counter() - began)
            await asyncio.sleep(0.1)


async def crowd(client: httpx.AsyncClient, pid: int, askers: int, repeat: int) -> dict[str, Any]:
    """Return the figures of a crowd, over so many rounds."""
    took: dict[str, list[float]] = {"/healthz": [], "/search": []}
    rows: list[dict[str, float]] = []
    before = spent(pid)
    probing = asyncio.create_task(probe(client, took))
    for turn in range(repeat):
        first = turn * askers
        rows += await asyncio.gather(*[ask(client, n) for n in range(first, first + askers)])
    probing.cancel()
    with suppress(asyncio.CancelledError):
        await probing
    figures: dict[str, Any] = {"askers": askers, "cpu_ms": round((spent(pid) - before) / len(rows))}
    for what in ("first", "answer"):
        seconds = [row[what] for row in rows]
        figures[f"{what}_p50"] = round(percentile(seconds, 50), 2)
        figures[f"{what}_p95"] = round(percentile(seconds, 95), 2)
    for path, times in took.items():
        figures[f"{path}_p95"] = round(percentile(times, 95), 2)
    figures["places"] = len([row for row in rows if row["places"]])
    figures["load"] = round(os.getloadavg()[0], 1)
    return figures


async def measure(given: argparse.Namespace, home: Path) -> None:
    """Print a line for each crowd."""
    from ragweave.tests.support import ScriptedServer

    await build(home.parent / "texts")
    options = ("--workers", str(given.workers)) if given.workers > 1 else ()
    with ScriptedServer(react=react, latency=given.latency) as model:
        with served(home, *options, **asking(model.base_url)) as (url, pid):
            async with client_of(url) as client:
                await crowd(client, pid, 8, 2)
                for askers in given.askers:
                    print(json.dumps(await crowd(client, pid, askers, given.repeat)), flush=True)


def main() -> None:
    """Measure in a home of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--askers", type=int, nargs="+", default=[64, 200])
    parser.add_argument("--latency", type=float, default=0.3, help="seconds per model call")
    parser.add_argument("--repeat", type=int, default=3, help="rounds")
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RAGWEAVE_HOME"] = str(Path(folder) / "home")
        asyncio.run(measure(given, Path(folder) / "home"))


if __name__ == "__main__":
    main()
