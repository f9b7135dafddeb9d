"""What the nodes of a Ray cluster add: `python benchmarks/ray_workers.py [--pictures 6] [--sound FILE] [--nodes 1 2]`.

On one machine, in a cluster of that many nodes with one CPU each: pictures of words are read (OCR), pieces of a
recording of 20 seconds are heard (ASR), which both need the processor, then a stage that only sleeps half a second a
file, which says what Ray itself costs where there are more nodes than cores. Files a second, without the start of the
cluster and of its processes.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
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


def cut(folder: Path, sound: Path, count: int) -> list[Path]:
    """Cut a recording into pieces of 20 seconds."""
    from imageio_ffmpeg import get_ffmpeg_exe

    made = [folder / f"{n}.wav" for n in range(count)]
    for n, piece in enumerate(made):
        command = [get_ffmpeg_exe(), "-v", "error", "-ss", str(20 * n), "-t", "20", "-i", str(sound), "-ac", "1"]
        subprocess.run([*command, str(piece)], check=True)
    return made


def rate(address: str, files: list[Path], command: tuple[str, ...] = ()) -> float:
    """Return the files that the nodes read in a second."""
    from ragweave.corpora.ingest.cluster import RayReaders
    from ragweave.corpora.settings import CorporaSettings
    from ragweave.corpora.store.files import identify
    from ragweave.corpora.video.intake import Intake
    from ragweave.models.errors import SourceError

    held = RayReaders(CorporaSettings(ray=address), [str(files[0].parent)], command)

    def read(path: Path) -> None:
        if path.suffix == ".wav":
            anew = secrets.token_hex(8)  # what was perceived of a recording is kept, by library
            intake = Intake(CorporaSettings(), anew, 60, None, threading.Event())
            with tempfile.TemporaryDirectory() as media:
                held.perceive(intake, identify(str(path), path.name, 512, grows=True), Path(media), print)
            return
        try:
            held.read(str(path), "a" * 24, 60)
        except SourceError as error:
            if error.what != "slept":
                raise

    with ThreadPoolExecutor(held.width) as pool:
        first = [files[0].with_stem(f"first-{n}") for n in range(held.width)]
        for path in first:
            shutil.copyfile(files[0], path)
        list(pool.map(read, first))  # every process has loaded what it reads with
        began = time.perf_counter()
        list(pool.map(read, files))
        took = time.perf_counter() - began
    held.close()
    return len(files) / took


def main() -> None:
    """Measure with each number of nodes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=6)
    parser.add_argument("--sound", type=Path, help="a recording of speech")
    parser.add_argument("--pieces", type=int, default=4)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--sleeping", type=int, nargs="+", default=[1, 2, 4])
    given = parser.parse_args()
    # Read when Ray is imported: every address of it is that of loopback.
    os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
    import ray
    from ray.cluster_utils import Cluster

    with tempfile.TemporaryDirectory() as folder:
        files = draw(Path(folder), given.pictures)
        sounds = cut(Path(folder), given.sound, given.pieces) if given.sound else []
        small = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
        cluster = Cluster(initialize_head=True, head_node_args={**small, "node_ip_address": "127.0.0.1"})
        first: dict[str, float] = {}
        for nodes in range(1, max(*given.nodes, *given.sleeping) + 1):
            if nodes > 1:
                cluster.add_node(**small)
                cluster.wait_for_nodes()
            for name, counts, work, command in (
                ("OCR", given.nodes, files, ()),
                ("ASR", given.nodes if sounds else [], sounds, ()),
                ("sleeping", given.sleeping, 4 * files, (sys.executable, "-c", SLEEPS)),
            ):
                if nodes in counts:
                    found = rate(cluster.address, work, command)
                    share = found / first.setdefault(name, found / nodes) / nodes
                    print(f"{name:9} {nodes} nodes: {found:6.2f} files a second, {share:.2f} of linear", flush=True)
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    main()
