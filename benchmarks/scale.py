"""Measure how a question slows down as a library grows: 1,000, 10,000 and 100,000 passages.

    python benchmarks/scale.py [--sizes 1000 10000 100000] [--json OUT] [--plot docs/img/scale.png]

Each size is indexed in one process and asked in another, so that each has its own peak of memory. Passages
are real sentences of the public data sets shuffled into paragraphs of about 120 words, with the XQuAD
passages whole among them; the questions are XQuAD's. Parts of a query: embed the question; dense and lexical
search inside `Library.search`; all of that search; fuse; and score the pool.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import runpy
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PER_FILE = 25
QUESTIONS = 200
PARTS = ("embed", "dense", "lexical", "search", "fuse", "score")


def gold_passages(data: Path) -> dict[str, str]:
    """Return the XQuAD passages by id, or nothing if the data set is missing."""
    rows = read_jsonl(data / "squad_xquad_en/passages.jsonl")
    return {row["id"]: row["text"] for row in rows}


def read_jsonl(file: Path) -> list[dict[str, Any]]:
    """Read JSON Lines; return nothing if the file is missing."""
    if not file.is_file():
        return []
    return list(map(json.loads, file.read_text(encoding="utf-8").splitlines()))


def write_files(folder: Path, count: int, gold: dict[str, str], sentences: list[str]) -> None:
    """Write `count` passages, PER_FILE to a Markdown file; the gold passages come first, a file each."""
    rng = random.Random(0)
    for n, (name, text) in enumerate(list(gold.items())[:count]):
        (folder / f"gold-{n:06}.md").write_text(
            f"# {name.rsplit('#', 1)[0].replace('_', ' ')}\n\n{text}\n", encoding="utf-8"
        )
    for n in range(min(len(gold), count), count, PER_FILE):
        parts = [f"# Notes {n}"]
        for i in range(n, min(n + PER_FILE, count)):
            text, words = [], 0
            while words < 120:
                text.append(rng.choice(sentences))
                words += len(text[-1].split())
            parts.append(f"## Part {i}\n\n" + " ".join(text))
        (folder / f"notes-{n:06}.md").write_text("\n\n".join(parts), encoding="utf-8")


def questions(data: Path, gold: dict[str, str], sentences: list[str]) -> list[tuple[str, str]]:
    """Return (question, text of its passage); without the data set, samples of words and no passage."""
    rng = random.Random(2)
    found: list[tuple[str, str]] = []
    rows = read_jsonl(data / "squad_xquad_en/queries.jsonl")
    if rows:
        for row in rng.sample(rows, QUESTIONS):
            found.append((row["question"], gold[row["gold"][0]]))
        return found
    for _ in range(QUESTIONS):
        words = rng.sample(rng.choice(sentences).split(), 8)
        found.append((" ".join(words), ""))
    return found


def size(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    count = 0
    for file in folder.rglob("*"):
        if file.is_file():
            count += file.stat().st_size
    return count


async def indexing(count: int) -> dict[str, Any]:
    """Index `count` passages; return the figures."""
    from ragweave.corpora.ingest.run import index
    from ragweave.corpora.store.library import open_library
    from ragweave.models.embed import encoder

    shared = runpy.run_path(str(HERE / "index.py"))
    files = Path(os.environ["RAGWEAVE_HOME"]).parent / "files"
    files.mkdir()
    write_files(files, count, gold_passages(shared["DATA"]), shared["sentences"](shared["SETS"][1:]))
    encoder().texts(["warm"])
    began = time.perf_counter()
    await index([files])
    seconds = time.perf_counter() - began
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    passages = (await (await open_library()).counts())["paragraph"]
    return {
        "passages": passages,
        "index passages / s": passages / seconds,
        "index s": seconds,
        "index CPU s": own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime,
        "peak RSS indexing MiB": own.ru_maxrss / 1024,
        "peak RSS of its children MiB": children.ru_maxrss / 1024,
    }


async def asking() -> dict[str, Any]:
    """Search the indexed passages; return the figures."""
    from ragweave.corpora.store.library import open_library

    shared = runpy.run_path(str(HERE / "index.py"))
    data, pool = shared["DATA"], shared["sentences"](shared["SETS"][1:])
    gold = gold_passages(data)
    home = Path(os.environ["RAGWEAVE_HOME"])
    library = await open_library()
    times = Times()
    there: Counter[str] = Counter()
    # The library alone can run the two searches one by one, so they are timed inside it.
    stores = library.held
    stores.vectors.query = times.of("dense", stores.vectors.query)  # type: ignore[method-assign]
    stores.lexical.search = times.of("lexical", stores.lexical.search)  # type: ignore[method-assign]
    asked = questions(data, gold, pool)
    for n, (question, passage) in enumerate([asked[0], *asked]):
        # The first question is asked twice: what is loaded once does not count.
        if n == 1:
            times.clear()
            there.clear()
        rankings = await search(library, question, times)
        read = await library.items(rankings["fused"])
        for name, best in rankings.items():
            texts = [read[id].text for id in best[:5] if id in read]
            there[name] += any(passage[:60] in text for text in texts)
    figures: dict[str, Any] = {
        "peak RSS asking MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "disk MiB": size(home) / 2**20,
    }
    figures |= times.figures()
    if gold:
        for name in ("dense", "lexical", "fused", "scored"):
            figures[f"{name} R@5"] = there[name] / len(asked)
    return figures


async def search(library: Any, question: str, times: Times) -> dict[str, list[str]]:
    """Search for a question step by step; return the ids by step, and add the times."""
    from ragweave.components.context import Context
    from ragweave.components.fusion import fused
    from ragweave.components.local.rank import score_pools
    from ragweave.models.embed import encoder

    context = Context()
    times.of("embed", encoder().queries)([question])
    began = time.perf_counter()
    (lists,) = await library.search("paragraph", [question], 50)
    times.add("search", began)
    dense, lexical = ranked("dense", question, lists.dense), ranked("lexical", question, lists.lexical)
    joined = times.of("fuse", fused)([dense, lexical], question, context)
    began = time.perf_counter()
    (rows,), _ = await score_pools(library, question, [joined], context, 1)
    times.add("score", began)
    rankings = {"dense": dense["ids"], "lexical": lexical["ids"]}
    rankings["fused"] = [id for id, _ in joined]
    rankings["scored"] = [row["id"] for row in rows]
    return rankings


def ranked(kind: str, question: str, hits: Sequence[Any]) -> Any:
    """Return the hits of a search as a ranked list."""
    ids, scores = [hit.id for hit in hits], [hit.score for hit in hits]
    return {"corpus": "paragraph", "query": question, "kind": kind, "ids": ids, "scores": scores}


class Times:
    """Milliseconds of each part of a search."""

    def __init__(self) -> None:
        self.ms: dict[str, list[float]] = {}
        self.clear()

    def clear(self) -> None:
        """Forget all times."""
        for part in PARTS:
            self.ms[part] = []

    def add(self, part: str, began: float) -> None:
        """Add the time since a moment."""
        self.ms[part].append((time.perf_counter() - began) * 1000)

    def of(self, part: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that does the work and adds its time."""

        def run(*given: Any) -> Any:
            began = time.perf_counter()
            found = work(*given)
            self.add(part, began)
            return found

        return run

    def figures(self) -> dict[str, float]:
        """Return the medians of all parts, then their 95th percentiles."""
        figures: dict[str, float] = {}
        for part, ms in self.ms.items():
            figures[f"{part} median ms"] = statistics.median(ms)
        for part, ms in self.ms.items():
            figures[f"{part} p95 ms"] = sorted(ms)[int(len(ms) * 0.95)]
        return figures


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw milliseconds by part, and memory, disk and indexing speed, over the number of passages."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    sizes = [r["passages"] for r in rows]
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), constrained_layout=True)
    for part in PARTS:
        left.plot(sizes, [r[f"{part} median ms"] for r in rows], marker="o", label=part)
    left.axhline(10, color="grey", linestyle=":", linewidth=1)
    left.set(
        xscale="log",
        yscale="log",
        xlabel="passages",
        ylabel="median milliseconds",
        title="One question, by part",
    )
    left.legend()
    for key, label in (
        ("peak RSS asking MiB", "peak RSS of asking, MiB"),
        ("disk MiB", "disk, MiB"),
        ("index passages / s", "indexed passages per second"),
    ):
        right.plot(sizes, [r[key] for r in rows], marker="s", label=label)
    right.set(xscale="log", yscale="log", xlabel="passages", title="Memory, disk, indexing")
    right.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def in_process(count: int) -> dict[str, Any]:
    """Measure one size in a home of its own, indexing and asking in a process each."""
    scratch = Path(tempfile.mkdtemp(prefix="ragweave-scale-"))
    try:
        env = {**os.environ, "RAGWEAVE_HOME": str(scratch / "home")}
        out, found = scratch / "figures.json", dict[str, Any]()
        for one in (str(count), "ask"):
            subprocess.run([sys.executable, __file__, "--one", one, "--json", str(out)], env=env, check=True)
            found |= json.loads(out.read_text(encoding="utf-8"))
        return found
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def main() -> None:
    """Run every size, print a table, and write JSON and a plot if their options name files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        figures = asking() if given.one == "ask" else indexing(int(given.one))
        given.json.write_text(json.dumps(asyncio.run(figures)), encoding="utf-8")
        return
    rows = []
    for count in given.sizes:
        rows.append(in_process(count))
        print(f"{rows[-1]['passages']:,} passages indexed in {rows[-1]['index s']:.0f} s", flush=True)
        # Written after every size, because the largest takes longest.
        if given.json:
            given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
        if given.plot:
            plot(rows, given.plot)
    for name in rows[0]:
        print(f"{name:24}", *(f"{row[name]:>12,.2f}" for row in rows))


if __name__ == "__main__":
    main()
