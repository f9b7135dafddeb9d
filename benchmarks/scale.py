"""How a question gets slower as a library grows: 1,000, 10,000 and 100,000 passages.

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
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PER_FILE = 25
QUESTIONS = 200
PARTS = ("embed", "dense", "lexical", "search", "fuse", "score")


def gold_passages(data: Path) -> dict[str, str]:
    """Return the XQuAD passages by id, or nothing where the data set is not there."""
    file = data / "squad_xquad_en/passages.jsonl"
    if not file.is_file():
        return {}
    return {p["id"]: p["text"] for p in map(json.loads, file.read_text(encoding="utf-8").splitlines())}


def write_files(folder: Path, count: int, gold: dict[str, str], sentences: list[str]) -> None:
    """Write `count` passages, PER_FILE to a Markdown file; the gold passages are the first ones, a file each."""
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
    """Return (question, text of its passage), or word samples without a passage where the data set is not there."""
    rng = random.Random(2)
    file = data / "squad_xquad_en/queries.jsonl"
    if file.is_file():
        rows = rng.sample(
            [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()], QUESTIONS
        )
        return [(r["question"], gold[r["gold"][0]]) for r in rows]
    return [(" ".join(rng.sample(rng.choice(sentences).split(), 8)), "") for _ in range(QUESTIONS)]


def size(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())


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
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    passages = (await (await open_library()).counts())["paragraph"]
    return {
        "passages": passages,
        "index passages / s": passages / seconds,
        "index s": seconds,
        "index CPU s": sum(u.ru_utime + u.ru_stime for u in spent),
        "peak RSS indexing MiB": spent[0].ru_maxrss / 1024,
        "peak RSS of its children MiB": spent[1].ru_maxrss / 1024,
    }


async def asking() -> dict[str, Any]:
    """Ask what was indexed; return the figures."""
    from ragweave.components.context import Context
    from ragweave.components.evidence import RankedList
    from ragweave.components.fusion import fused
    from ragweave.components.local.rank import score_pools
    from ragweave.corpora.store.library import open_library
    from ragweave.models.embed import encoder

    shared = runpy.run_path(str(HERE / "index.py"))
    data, pool = shared["DATA"], shared["sentences"](shared["SETS"][1:])
    gold = gold_passages(data)
    home = Path(os.environ["RAGWEAVE_HOME"])
    library = await open_library()
    context = Context()
    ms: dict[str, list[float]] = {part: [] for part in PARTS}
    there = {"dense": 0, "lexical": 0, "fused": 0, "scored": 0}

    def timed(part: str, began: float) -> None:
        ms[part].append((time.perf_counter() - began) * 1000)

    def watched(part: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            began = time.perf_counter()
            found = work(*given)
            timed(part, began)
            return found

        return run

    # The two searches, watched where they are: nothing outside the library can run them one by one.
    held = library.held
    held.vectors.query = watched("dense", held.vectors.query)  # type: ignore[method-assign]
    held.lexical.search = watched("lexical", held.lexical.search)  # type: ignore[method-assign]
    asked = questions(data, gold, pool)
    for n, (question, passage) in enumerate([asked[0], *asked]):
        # The first question is asked twice: what is loaded once does not count.
        if n == 1:
            ms = {part: [] for part in PARTS}
            there = dict.fromkeys(there, 0)
        began = time.perf_counter()
        encoder().queries([question])
        timed("embed", began)
        began = time.perf_counter()
        (lists,) = await library.search("paragraph", [question], 50)
        timed("search", began)
        found: list[RankedList] = [
            {"corpus": "paragraph", "query": question, "kind": "dense", "ids": [h.id for h in lists.dense],
             "scores": [h.score for h in lists.dense]},
            {"corpus": "paragraph", "query": question, "kind": "lexical", "ids": [h.id for h in lists.lexical],
             "scores": [h.score for h in lists.lexical]},
        ]  # fmt: skip
        began = time.perf_counter()
        joined = fused(found, question, context)
        timed("fuse", began)
        began = time.perf_counter()
        (rows,), _ = await score_pools(library, question, [joined], context, 1)
        timed("score", began)
        read = await library.items([i for i, _ in joined])
        start = passage[:60]
        ids = {"dense": found[0]["ids"], "lexical": found[1]["ids"], "fused": [i for i, _ in joined]}
        for name, ranked in {**ids, "scored": [r["id"] for r in rows]}.items():
            there[name] += any(start in read[i].text for i in ranked[:5] if i in read)
    return {
        "peak RSS asking MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "disk MiB": size(home) / 2**20,
        **{f"{part} median ms": statistics.median(ms[part]) for part in PARTS},
        **{f"{part} p95 ms": sorted(ms[part])[int(len(ms[part]) * 0.95)] for part in PARTS},
        **({f"{name} R@5": n / len(asked) for name, n in there.items()} if gold else {}),
    }


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
    """Run every size, print a table, and write JSON and plot where they are asked for."""
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
