"""Vectors compared one by one, beside Chroma's index of them: `python benchmarks/vectors.py [--count 10000 50000]`.

Through the product's own stores, in a home of its own. The vectors are drawn around 300 centres; each question lies
beside one of them. Seconds to make the index and of processor to do so, milliseconds of a first and of a later
question, the share of the exact ten nearest that the index finds, and the memory at the peak.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from printed import a_source

DIMENSIONS, CENTRES, QUESTIONS = 256, 300, 50


def drawn(count: int, seed: int) -> np.ndarray:
    """Return vectors of length 1 around the centres."""
    centres = np.random.default_rng(0).normal(size=(CENTRES, DIMENSIONS))
    rng = np.random.default_rng(seed)
    found = centres[rng.integers(0, CENTRES, count)] + 0.7 * rng.normal(size=(count, DIMENSIONS))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def fill(home: Path, count: int) -> None:
    """Make a library of that many paragraphs' vectors, and its index."""
    from ragweave.corpora.store import blobs
    from ragweave.corpora.store.catalog import Catalog
    from ragweave.corpora.store.schema import sources
    from ragweave.corpora.store.vectors import Vectors

    catalog = Catalog(home)
    row = catalog.create("bench", "enc", DIMENSIONS)
    began = time.perf_counter()
    with catalog.writing(row.id) as connection:
        connection.execute(sources.insert(), a_source("s"))
        ids = [f"i{n}~0" for n in range(count)]
        blobs.put(connection, "paragraph", "enc", ids, ["s"] * count, drawn(count, 1))
    print(f"{count:>9,} vectors stored in {time.perf_counter() - began:.1f} s", flush=True)
    vectors = Vectors(catalog, home)
    began = time.perf_counter()
    why = vectors.tidy(row.id)
    worked = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = worked.ru_utime + worked.ru_stime
    size = sum(p.stat().st_size for p in home.rglob("indexes/**/*") if p.is_file())
    print(f"          index {time.perf_counter() - began:.1f} s, {used:.1f} s CPU, {size / 2**20:.0f} MiB {why}")


ASK = """
import sys, time
from pathlib import Path
import numpy as np
sys.path.insert(0, sys.argv[3])
import vectors as bench
from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.vectors import Vectors
home = Path(sys.argv[1])
catalog = Catalog(home)
[row] = catalog.libraries()
held = Vectors(catalog, home)
held.stays = True
if sys.argv[2] == "exact":
    with catalog.writing(row.id) as connection:
        connection.exec_driver_sql("DELETE FROM indexes")
asked = bench.drawn(bench.QUESTIONS + 1, 2)
times, found = [], []
cpu = time.process_time()
for query in asked:
    began = time.perf_counter()
    found.append([i for i, _ in held.query(row.id, "paragraph", "enc", query[None], 50)[0]])
    times.append((time.perf_counter() - began) * 1000)
    if len(times) == 1:
        cpu = time.process_time() - cpu
# Another figure of the system counts what the process weighed that this one was forked from.
peak = next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(times[0], cpu * 1000, sorted(times[1:])[len(times) // 2],
      peak, *(",".join(f[:10]) for f in found))
"""


def ask(home: Path, how: str) -> list[set[str]]:
    """Ask in a fresh process and print its figures; return the ten nearest of each question."""
    command = [sys.executable, "-c", ASK, str(home), how, str(Path(__file__).parent)]
    first, cpu, later, peak, *found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    figures = f"first {float(first):7.1f} ms ({float(cpu):6.1f} CPU), later {float(later):5.2f} ms"
    print(f"          {how:6} {figures}, peak {float(peak):.0f} MiB", flush=True)
    return [set(f.split(",")) for f in found]


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, nargs="+", default=[2_000, 10_000, 50_000])
    for count in parser.parse_args().count:
        with tempfile.TemporaryDirectory() as folder:
            fill(Path(folder), count)
            near, exact = ask(Path(folder), "chroma"), ask(Path(folder), "exact")
            share = statistics.mean(len(a & b) / len(b) for a, b in zip(near, exact, strict=True))
            print(f"          of the exact ten nearest the index finds {share:.3f}", flush=True)


if __name__ == "__main__":
    main()
