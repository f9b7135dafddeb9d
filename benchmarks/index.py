"""Measure how fast files become searchable: paragraphs per second, and the run against its slowest stage.

    python benchmarks/index.py [--paragraphs 10000] [--each 25] [--json OUT]

Each stage is also run alone on the same files; the pipeline should cost little more than the slowest of them.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
import shutil
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

from printed import emit, options

DATA = Path(
    os.environ.get("RAGWEAVE_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data")
)
WORDS = 120

SETS = ("squad_xquad_en/passages.jsonl", "multihop_hotpotqa/corpus.jsonl")


def sentences(sets: tuple[str, ...] = SETS) -> list[str]:
    """Return real sentences if the public data sets are present, else made-up ones."""
    found: list[str] = []
    for name in sets:
        file = DATA / name
        if file.is_file():
            for line in file.read_text(encoding="utf-8").splitlines():
                for sentence in json.loads(line)["text"].split(". "):
                    if len(sentence) > 30:
                        found.append(sentence.strip() + ".")
    return found or _made_up()


def _made_up() -> list[str]:
    rng = random.Random(1)
    words: list[str] = []
    for _ in range(20_000):
        length = rng.randint(2, 9)
        words.append("".join(rng.choices("abcdefghijklmnoprstuvw", k=length)))
    found: list[str] = []
    for _ in range(6_000):
        found.append(" ".join(rng.choices(words, k=18)).capitalize() + ".")
    return found


def write_files(folder: Path, paragraphs: int, each: int) -> None:
    """Write Markdown files of `each` sections, one paragraph of about WORDS words each."""
    rng, pool = random.Random(0), sentences()
    for n in range(0, paragraphs, each):
        parts = [f"# Notes {n}"]
        for i in range(n, min(n + each, paragraphs)):
            text: list[str] = []
            length = 0
            while length < WORDS:
                text.append(rng.choice(pool))
                length += len(text[-1].split())
            parts.append(f"## Part {i}\n\n" + " ".join(text))
        (folder / f"notes-{n:06}.md").write_text("\n\n".join(parts), encoding="utf-8")


def alone(files: list[str]) -> dict[str, float]:
    """Return the seconds of each stage, run by itself."""
    from ragweave.corpora.ingest.embedding import EMBED_BATCH
    from ragweave.corpora.ingest.readers import Readers
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store.commit import Committer, FileOutcome
    from ragweave.corpora.store.files import identify
    from ragweave.corpora.store.prepared import chunked, params_hash
    from ragweave.corpora.store.stores import stores
    from ragweave.models.embed import encoder

    text_encoder, seconds = encoder(), {}
    params = params_hash()
    known = [identify(file, params, 512) for file in files]
    readers = Readers(corpora_settings())
    began = time.monotonic()
    with ThreadPoolExecutor(readers.width) as pool:
        prepared = list(pool.map(lambda f: readers.read(f.path, f.source, text_encoder.max_words), known))
    seconds["read"] = time.monotonic() - began
    readers.close()
    texts = [chunked(p.items, p.chunks).texts for p in prepared]
    flat = list(chain.from_iterable(texts))
    began = time.monotonic()
    parts = [text_encoder.texts(flat[i : i + EMBED_BATCH]) for i in range(0, len(flat), EMBED_BATCH)]
    seconds["embed"] = time.monotonic() - began
    import numpy as np

    vectors, at, outcomes = np.concatenate(parts), 0, []
    for file, made, some in zip(known, prepared, texts, strict=True):
        outcomes.append(FileOutcome(file, made, vectors[at : at + len(some)]))
        at += len(some)
    catalog = stores().catalog
    library = catalog.create("alone", text_encoder.name, text_encoder.dim)
    seconds["commit"] = committed(Committer(catalog, library, params), outcomes)
    return seconds


def committed(committer: Any, outcomes: Sequence[Any]) -> float:
    """Return the seconds of storing files in batches, as indexing stores them."""
    from ragweave.corpora.ingest.pipeline import COMMIT_CHUNKS

    began = time.monotonic()
    batch: list[Any] = []
    count = 0
    for outcome in outcomes:
        batch.append(outcome)
        count += len(outcome.vectors)
        if count >= COMMIT_CHUNKS:
            committer.store(batch)
            batch, count = [], 0
    committer.store(batch)
    return time.monotonic() - began


def main() -> None:
    """Run and print the table."""
    parser = options(__doc__)
    parser.add_argument("--paragraphs", type=int, default=10_000)
    parser.add_argument("--each", type=int, default=25, help="paragraphs of a file")
    given = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="ragweave-bench-"))
    try:
        os.environ["RAGWEAVE_HOME"] = str(scratch / "home")
        (scratch / "files").mkdir()
        write_files(scratch / "files", given.paragraphs, given.each)
        figures = measure(scratch / "files")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    emit(figures, given.json)


def measure(folder: Path) -> dict[str, float | int]:
    """Index the folder, index it again, then run each stage alone."""
    from ragweave.corpora.ingest.run import index
    from ragweave.corpora.store.library import open_library
    from ragweave.corpora.store.stores import close_stores
    from ragweave.models.embed import encoder

    encoder().texts(["warm"])
    report = asyncio.run(index([folder]))
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    reader = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    again = asyncio.run(index([folder]))

    async def count() -> dict[str, int]:
        return dict(await (await open_library()).counts())

    counts = asyncio.run(count())
    stages = alone(sorted(map(str, folder.iterdir())))
    close_stores()
    figures: dict[str, float | int] = {
        "files": report.files,
        "paragraphs": counts["paragraph"],
        "vectors": report.chunks,
        "wall s": report.seconds,
        "paragraphs / s": counts["paragraph"] / report.seconds,
    }
    for name, seconds in report.busy.items():
        figures[f"{name} busy s"] = seconds
    for name, seconds in stages.items():
        figures[f"{name} alone s"] = seconds
    figures["wall / slowest stage alone"] = report.seconds / max(stages.values())
    figures["unchanged run s"] = again.seconds
    figures["peak RSS MiB"] = own
    figures["peak RSS of a reader MiB"] = reader
    return figures


if __name__ == "__main__":
    main()
