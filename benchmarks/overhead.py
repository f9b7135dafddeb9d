"""What telling OpenTelemetry costs: `python benchmarks/overhead.py [--rounds 20]`.

The same question without, with metrics alone and with spans that are sent to a collector of this process, by turns.
Milliseconds of this process's processor per question, sending included: on a busy machine the clock says nothing. The
small mind answers, so nothing hides the cost; beside it the share of an answer that waits half a second for a model.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import threading
import time
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


async def block(level: str) -> float:
    """Return the milliseconds of processor of a question, as the mean of a block."""
    from ragweave.graphs.agent import graph
    from ragweave.models import tracing
    from ragweave.models.settings import model_settings

    os.environ["RAGWEAVE_OTEL"] = level
    model_settings.cache_clear()
    tracing._spans.set(None)
    began = time.process_time()
    for _ in range(BLOCK):
        await graph.ainvoke({"messages": [("human", QUESTION)]})
    if level != "off":
        tracing.provider().force_flush()
    return (time.process_time() - began) * 1000 / BLOCK


async def measure(rounds: int) -> None:
    """Ask by turns and print the medians."""
    from ragweave.corpora.store.stores import close_stores
    from ragweave.models import tracing
    from ragweave.models.settings import model_settings
    from ragweave.serve.access import Slots
    from ragweave.serve.metrics import Metrics

    with tempfile.TemporaryDirectory() as folder:
        os.environ["RAGWEAVE_HOME"] = f"{folder}/home"
        await build(Path(folder) / "texts")
        took: dict[str, list[float]] = {level: [] for level in LEVELS}
        for level in LEVELS[1:]:
            os.environ["RAGWEAVE_OTEL"] = level
            model_settings.cache_clear()
        tracing.provider().add_span_processor(Metrics(Slots(1)))
        for turn in range(rounds + 1):
            for level in LEVELS:
                spent = await block(level)
                if turn:
                    took[level].append(spent)
        close_stores()
    plain = statistics.median(took["off"])
    for level in LEVELS:
        spent = statistics.median(took[level])
        more = spent - plain
        share = f"{100 * more / plain:+.1f} %; of one with a model {100 * more / (plain + 500):+.2f} %"
        print(f"{level:8} {spent:7.2f} ms of processor a question, {share}")


def main() -> None:
    """Measure beside a collector."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    collector = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{collector.server_port}"
    asyncio.run(measure(parser.parse_args().rounds))
    collector.shutdown()


if __name__ == "__main__":
    main()
