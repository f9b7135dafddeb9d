"""What the nodes of a Ray cluster add: `python benchmarks/ray_workers.py [--pictures 6] [--nodes 1 2]`.

On one machine, in a cluster of that many nodes with one CPU each: pictures of words are read (OCR, work that needs the
processor), then a stage that only sleeps half a second a file, which says what Ray itself costs where there are more
nodes than cores. Files a second, without the start of the cluster and of its processes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SLEEPS = """
import json, struct, sys, time
for line in sys.stdin.buffer:
    time.sleep(0.5)
    reply = json.dumps({"what": "slept", "remedy": ""}).encode()
    sys.stdout.buffer.write(struct.pack(">Q", len(reply)) + reply)
    sys.stdout.buffer.flush()
"""


def draw(folder: Path, count: int, rows: int = 6) -> list[Path]:
    """Draw pages of words."""
    from PIL import Image, ImageDraw, ImageFont

    made = []
    for n in range(count):
        page = Image.new("RGB", (1240, 1754), "white")
        lines = "\n".join(f"Line {row} of page {n}: the mill has {row * n + 3} wheels." for row in range(rows))
        ImageDraw.Draw(page).multiline_text(
            (80, 80), lines, "black", ImageFont.load_default(30 if rows < 20 else 24), spacing=30 if rows < 20 else 14
        )
        made.append(folder / f"{n}.png")
        page.save(made[-1])
    return made


def rate(address: str, files: list[Path], command: tuple[str, ...] = ()) -> float:
    """Return the files that the nodes read in a second."""
    from ragweave.corpora.ingest.cluster import RayReaders
    from ragweave.corpora.settings import CorporaSettings
    from ragweave.models.errors import SourceError

    held = RayReaders(CorporaSettings(ray=address), [str(files[0].parent)], command)

    def read(path: Path) -> None:
        try:
            held.read(str(path), "a" * 24, 60)
        except SourceError as error:
            if error.what != "slept":
                raise

    with ThreadPoolExecutor(held.width) as pool:
        list(pool.map(read, files[:1] * held.width))  # every process has loaded what it reads with
        began = time.perf_counter()
        list(pool.map(read, files))
        took = time.perf_counter() - began
    held.close()
    return len(files) / took


def main() -> None:
    """Measure with each number of nodes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=6)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--sleeping", type=int, nargs="+", default=[1, 2, 4])
    given = parser.parse_args()
    # Read when Ray is imported: every address of it is that of loopback.
    os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
    import ray
    from ray.cluster_utils import Cluster

    with tempfile.TemporaryDirectory() as folder:
        files = draw(Path(folder), given.pictures)
        small = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
        cluster = Cluster(initialize_head=True, head_node_args={**small, "node_ip_address": "127.0.0.1"})
        first: dict[str, float] = {}
        for nodes in range(1, max(*given.nodes, *given.sleeping) + 1):
            if nodes > 1:
                cluster.add_node(**small)
                cluster.wait_for_nodes()
            for name, counts, command in (
                ("OCR", given.nodes, ()),
                ("sleeping", given.sleeping, (sys.executable, "-c", SLEEPS)),
            ):
                if nodes in counts:
                    found = rate(cluster.address, files if name == "OCR" else 4 * files, command)
                    share = found / first.setdefault(name, found / nodes) / nodes
                    print(f"{name:9} {nodes} nodes: {found:6.2f} files a second, {share:.2f} of linear", flush=True)
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    main()
