"""What telling OpenTelemetry costs: `python benchmarks/overhead.py [--rounds 20]`.

The same question without, with metrics alone and with spans that are sent to a collector, by turns, each in a process
of its own. Milliseconds of that process's processor per question, sending included: on a busy machine the clock says
nothing. Extractive mode answers, so nothing hides the cost; beside it the share of an answer that waits half a second
for a model.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from query import QUESTION, build

LEVELS = ("off", "metrics", "traces")
BLOCK = 10
"""Questions whose spans are sent together; OpenTelemetry itself waits five seconds, or for 512 spans."""


class Collector(BaseHTTPRequestHandler):
    """Takes what is sent."""

    def do_POST(self) -> None:
        """Read a batch and say that it has arrived."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *told: object) -> None:
        """Say nothing."""


async def asked(level: str) -> None:
    """Ask a block of questions whenever a line comes in; print the milliseconds of clock and processor of each."""
    from ragweave.corpora.store.stores import close_stores
    from ragweave.graphs.agent import graph
    from ragweave.models import tracing

    if level != "off":
        from ragweave.serve.access import Slots
        from ragweave.serve.metrics import Metrics

        tracing.provider().add_span_processor(Metrics(Slots(1, 900)))
    for _ in sys.stdin:
        began = time.perf_counter(), time.process_time()
        for _ in range(BLOCK):
            await graph.ainvoke({"messages": [("human", QUESTION)]})
        if level == "traces":
            tracing.provider().force_flush()
        ended = time.perf_counter(), time.process_time()
        print(*((after - before) * 1000 / BLOCK for before, after in zip(began, ended, strict=True)), flush=True)
    close_stores()


def measure(rounds: int) -> None:
    """Ask one process of each level by turns, and print the medians."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as started:
        os.environ["RAGWEAVE_HOME"] = f"{folder}/home"
        asyncio.run(build(Path(folder) / "texts"))
        processes = {}
        for level in LEVELS:
            # Where a word lies in a table costs a process more or less: alike for all.
            told = {**os.environ, "RAGWEAVE_OTEL": level, "PYTHONHASHSEED": "0"}
            command = [sys.executable, __file__, "--level", level]
            piped = subprocess.Popen(command, env=told, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            processes[level] = started.enter_context(piped)
        took: dict[str, list[tuple[float, float]]] = {level: [] for level in LEVELS}
        for turn in range(rounds + 2):
            for level in random.Random(turn).sample(LEVELS, len(LEVELS)):
                asks, tells = processes[level].stdin, processes[level].stdout
                assert asks is not None and tells is not None
                asks.write("\n")
                asks.flush()
                wall, cpu = map(float, tells.readline().split())
                if turn > 1:  # they have warmed up
                    took[level].append((wall, cpu))
    plain = statistics.median(cpu for _, cpu in took["off"])
    print(f"load {os.getloadavg()[0]:.1f}")
    for level, rows in took.items():
        wall, spent = (statistics.median(values) for values in zip(*rows, strict=True))
        # A turn of one level beside the turn of the other: what the machine does meanwhile meets both.
        more = statistics.median(cpu - off for (_, cpu), (_, off) in zip(rows, took["off"], strict=True))
        share = f"{100 * more / plain:+.1f} %; of one with a model {100 * more / (plain + 500):+.2f} %"
        print(f"{level:8} {spent:7.2f} ms of processor a question, {wall:7.2f} of the clock, {more:+.2f} ms, {share}")


def main() -> None:
    """Measure beside a collector."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--level", choices=LEVELS, help="be the process of this level")
    given = parser.parse_args()
    if given.level:
        asyncio.run(asked(given.level))
        return
    collector = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{collector.server_port}"
    measure(given.rounds)
    collector.shutdown()


if __name__ == "__main__":
    main()
