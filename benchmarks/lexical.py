"""Lexical search at size: milliseconds per query at 100,000 items, pruned and whole.

    python benchmarks/lexical.py [--items 100000] [--json OUT]
    RAGWEAVE_DATABASE_URL=postgresql+psycopg://... python benchmarks/lexical.py      over PostgreSQL

`first` asks a term for the first time in a generation, so its document frequency is read as well; `whole` searches
every content term, as a plain OR query would.
"""

from __future__ import annotations

import json
import os
import random
import runpy
import shutil
import statistics
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from printed import a_source, options, tell

if TYPE_CHECKING:
    from ragweave.corpora.store.catalog import Catalog

HERE = Path(__file__).resolve().parent


def questions(count: int) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Return (question, gold passage id) pairs and the passages, or word samples without gold and no passages."""
    shared = runpy.run_path(str(HERE / "index.py"))
    folder, rng = shared["DATA"] / "squad_xquad_en", random.Random(2)
    if folder.is_dir():
        rows = [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
        texts = [json.loads(line) for line in (folder / "passages.jsonl").read_text(encoding="utf-8").splitlines()]
        asked = [(row["question"], row["gold"][0]) for row in rng.sample(rows, count)]
        return asked, {row["id"]: row["text"] for row in texts}
    pool = shared["sentences"]()
    return [(" ".join(rng.sample(rng.choice(pool).split(), 8)), "") for _ in range(count)], {}


@cache
def cut_sentences() -> list[tuple[str, str, int]]:
    """Return real sentences, each with its terms and the number of its words."""
    from ragweave.corpora.store import lexical

    shared = runpy.run_path(str(HERE / "index.py"))
    return [(s, lexical.indexed(s), len(s.split())) for s in shared["sentences"](shared["SETS"][1:])]


def fill(catalog: Catalog, library: str, count: int, gold: dict[str, str], seed: int = 0) -> None:
    """Fill a library with the gold passages among `count` others of about 120 words."""
    from ragweave.corpora.store import lexical
    from ragweave.corpora.store.schema import items, sources

    cut, rng = cut_sentences(), random.Random(seed)
    blank = {"source": "s", "corpus": "paragraph", "title": "Notes", "locator": {}, "heading": []}
    blank |= {"spans": [], "meta": {}, "date": None, "language": ""}
    with catalog.writing(library) as connection:
        connection.execute(sources.insert(), a_source("s"))
        for first in range(1, count + 1, 5_000):
            rows, words = [], []
            for n in range(first, min(first + 5_000, count + 1)):
                text: list[tuple[str, str, int]] = []
                while sum(t[2] for t in text) < 120:
                    text.append(rng.choice(cut))
                rows.append({**blank, "n": n, "id": f"i{n}", "ordinal": n, "text": " ".join(t[0] for t in text)})
                words.append((n, "note", "", " ".join(t[1] for t in text)))
            connection.execute(items.insert(), rows)
            lexical.put(connection, "paragraph", words)
        last = [(count + 1 + n, *pair) for n, pair in enumerate(gold.items())]
        if last:
            connection.execute(
                items.insert(), [{**blank, "n": n, "id": i, "ordinal": n, "text": t} for n, i, t in last]
            )
            lexical.put(connection, "paragraph", [(n, "note", "", lexical.indexed(t)) for n, _, t in last])


def measure(count: int) -> dict[str, float]:
    """Return milliseconds per query."""
    from ragweave.corpora.store import lexical
    from ragweave.corpora.store.catalog import Catalog
    from ragweave.models.text import content_terms

    asked, gold = questions(300)
    began = time.perf_counter()
    catalog = Catalog(Path(os.environ["RAGWEAVE_HOME"]))
    library = catalog.create("bench", "none", 1).id
    fill(catalog, library, count, gold)
    figures: dict[str, float] = {"items": count, "queries": len(asked), "build s": time.perf_counter() - began}
    catalog.compact(library)
    figures["words MiB"] = size(catalog, library) / 2**20

    def run(label: str, budget: int, known: lexical.Frequencies) -> list[list[tuple[str, float]]]:
        times, found = [], []
        for question, _ in asked:
            began = time.perf_counter()
            with catalog.reading(library) as connection:
                hits = lexical.search(connection, known, "paragraph", 0, question, 50, budget=budget)
            times.append((time.perf_counter() - began) * 1000)
            found.append(hits)
        times.sort()
        figures[f"{label} median ms"] = statistics.median(times)
        figures[f"{label} p95 ms"] = times[int(len(times) * 0.95)]
        figures[f"{label} worst ms"] = times[-1]
        return found

    known = lexical.Frequencies("paragraph")
    run("first", lexical.BUDGET, known)
    pruned = run("pruned", lexical.BUDGET, known)
    whole = run("whole", 10**9, known)
    for label, found in (("pruned", pruned), ("whole", whole)):
        for k in (1, 5, 10, 50):
            there = [wanted in [id_ for id_, _ in hits[:k]] for hits, (_, wanted) in zip(found, asked, strict=True)]
            figures[f"{label} gold in top {k}"] = statistics.mean(there)
    figures["terms per query"] = statistics.mean(len(content_terms(q)) for q, _ in asked)
    catalog.delete(library)
    catalog.close()
    return figures


def size(catalog: Catalog, library: str) -> int:
    """Return the bytes of the lexical index."""
    with catalog.reading(library) as connection:
        if connection.dialect.name == "postgresql":
            words = "starts_with(relname, 'lex_') AND relkind = 'r' AND relnamespace = current_schema()::regnamespace"
            query = f"SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE {words}"
        else:
            query = "SELECT sum(pgsize) FROM dbstat WHERE name GLOB 'lex_*'"
        return int(connection.exec_driver_sql(query).scalar_one())


def main() -> None:
    """Run and print the table."""
    parser = options(__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    given = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="ragweave-bench-"))
    os.environ["RAGWEAVE_HOME"] = str(scratch)
    try:
        figures = measure(given.items)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    tell(figures, given.json)


if __name__ == "__main__":
    main()
