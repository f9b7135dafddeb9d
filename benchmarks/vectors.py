"""What a further vector costs as the index of vectors grows: `python benchmarks/vectors.py [--count 15000] [--ef 500]`.

Processor milliseconds per vector, in blocks of 5,000, with the settings of the product's collections but for
`ef_construction`. The vectors are drawn around 300 centres.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time

import numpy as np

BLOCK = 5_000
BATCH = 1_000
DIMENSIONS = 256
CENTRES = 300


def main() -> None:
    """Insert and print a line for each block."""
    import chromadb
    from chromadb.config import Settings

    from ragweave.corpora.store.spaces import HNSW

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=15_000)
    parser.add_argument("--ef", type=int, default=HNSW["ef_construction"])
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(CENTRES, DIMENSIONS))
    folder = tempfile.mkdtemp(prefix="ragweave-vectors-")
    try:
        client = chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False))
        settings = {**HNSW, "ef_construction": given.ef}
        made = client.create_collection("vectors", configuration={"hnsw": settings}, embedding_function=None)
        for start in range(0, given.count, BLOCK):
            worked = time.process_time()
            for at in range(start, start + BLOCK, BATCH):
                drawn = centres[rng.integers(0, CENTRES, BATCH)] + 0.7 * rng.normal(size=(BATCH, DIMENSIONS))
                drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
                made.upsert(ids=[str(n) for n in range(at, at + BATCH)], embeddings=drawn.astype(np.float32))
            spent = (time.process_time() - worked) / BLOCK * 1000
            print(f"{start + BLOCK:>9,} vectors: {spent:.2f} ms of processor time each", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
