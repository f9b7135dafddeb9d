"""Lexical search at size: what it finds and takes at 100,000 items in FTS5, and in PostgreSQL where it is installed.

    python benchmarks/lexical.py [--items 100000] [--ways fts5 postings] [--json OUT]

`first` asks a term for the first time in a generation, so its document frequency is read as well; `pruned` is
what the product does; `whole` searches every content term, as a plain OR query would. `cpu` is the time of a
processor, that of PostgreSQL's process included, where /proc tells it.
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
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from printed import a_source, options, tell

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ragweave.corpora.store.catalog import Catalog

HERE = Path(__file__).resolve().parent
WAYS = ("fts5", "postings")


def questions(count: int) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Return (question, gold passage id) pairs and the passages, or word samples without gold and no passages."""
    shared = runpy.run_path(str(HERE / "index.py"))
    folder, rng = shared["DATA"] / "squad_xquad_en", random.Random(2)
    if folder.is_dir():
        rows = [
            json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        texts = [
            json.loads(line) for line in (folder / "passages.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        asked = [(row["question"], row["gold"][0]) for row in rng.sample(rows, count)]
        return asked, {row["id"]: row["text"] for row in texts}
    pool = shared["sentences"]()
    return [(" ".join(rng.sample(rng.choice(pool).split(), 8)), "") for _ in range(count)], {}


@cache
def cut_sentences() -> list[tuple[str, str, int]]:
    """Return real sentences, each with its terms and the number of its words."""
    from ragweave.corpora.store.words import indexed

    shared = runpy.run_path(str(HERE / "index.py"))
    return [(s, indexed(s), len(s.split())) for s in shared["sentences"](shared["SETS"][1:])]


def fill(
    catalog: Catalog, library: str, count: int, gold: dict[str, str], seed: int = 0, put: Any = None
) -> None:
    """Fill a library with the gold passages among `count` others of about 120 words."""
    from ragweave.corpora.store import lexical
    from ragweave.corpora.store.schema import items, sources
    from ragweave.corpora.store.words import indexed

    cut, rng, put = cut_sentences(), random.Random(seed), put or lexical.put
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
                rows.append(
                    {**blank, "n": n, "id": f"i{n}", "ordinal": n, "text": " ".join(t[0] for t in text)}
                )
                words.append((n, "note", "", " ".join(t[1] for t in text)))
            connection.execute(items.insert(), rows)
            put(connection, "paragraph", words)
        last = [(count + 1 + n, *pair) for n, pair in enumerate(gold.items())]
        if last:
            connection.execute(
                items.insert(), [{**blank, "n": n, "id": i, "ordinal": n, "text": t} for n, i, t in last]
            )
            put(connection, "paragraph", [(n, "note", "", indexed(t)) for n, _, t in last])


class Clock:
    """Reads the clock and the processor: of this process, and of PostgreSQL's that serves it."""

    def __init__(self) -> None:
        self._backend: Path | None = None

    def serves(self, connection: Connection) -> None:
        """Say which connection is measured."""
        if connection.dialect.name == "postgresql":
            pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
            self._backend = Path(f"/proc/{pid}/schedstat")

    def read(self) -> tuple[float, float]:
        """Return seconds of the clock and of the processors."""
        there = self._backend and self._backend.exists()
        behind = int(self._backend.read_text().split()[0]) / 1e9 if self._backend and there else 0.0
        return time.perf_counter(), time.process_time() + behind


def measure(way: str, count: int, home: Path, database: str) -> dict[str, float]:
    """Return what one way finds and takes."""
    from ragweave.corpora.store import lexical
    from ragweave.corpora.store.catalog import Catalog

    asked, gold = questions(300)
    catalog = Catalog(home, database)
    library = catalog.create(way, "none", 1).id
    clock, spent = Clock(), [0.0, 0.0]

    def timed(connection: Connection, corpus: Any, rows: Any) -> None:
        clock.serves(connection)
        wall, cpu = clock.read()
        lexical.put(connection, corpus, rows)
        after = clock.read()
        spent[0] += after[0] - wall
        spent[1] += after[1] - cpu

    fill(catalog, library, count, gold, put=timed)
    catalog.kept.compact(library)
    figures: dict[str, float] = {}

    def note(**found: float) -> None:
        """Print figures as they come: on a busy machine the next are long in coming."""
        named = {f"{way} {name.replace('_', ' ')}": value for name, value in found.items()}
        tell(named, None)
        figures.update(named)

    note(making_s=spent[0], making_cpu_s=spent[1], MiB=size(catalog, library) / 2**20)

    def run(label: str, budget: int, known: lexical.Frequencies) -> None:
        walls, cpus, found = [], [], []
        for question, _ in asked:
            wall, cpu = clock.read()
            with catalog.reading(library) as connection:
                hits = lexical.search(connection, known, "paragraph", question, 50, budget=budget)
            after = clock.read()
            walls.append((after[0] - wall) * 1000)
            cpus.append((after[1] - cpu) * 1000)
            found.append([id_ for id_, _ in hits])
            with catalog.reading(library) as connection:
                clock.serves(connection)
        taken: dict[str, float] = {}
        for name, values in (("", sorted(walls)), ("cpu ", sorted(cpus))):
            taken[f"{name}median ms"] = statistics.median(values)
            taken[f"{name}p95 ms"] = values[int(len(values) * 0.95)]
        for k in (1, 5, 10, 50):
            there = [wanted in hits[:k] for hits, (_, wanted) in zip(found, asked, strict=True)]
            taken[f"gold in top {k}"] = statistics.mean(there)
        note(
            **{f"{label} {name}": value for name, value in taken.items()},
            **{f"{label} load": os.getloadavg()[0]},
        )

    with catalog.reading(library) as connection:
        known = lexical.Frequencies(connection)
    run("first", lexical.BUDGET, known)
    run("pruned", lexical.BUDGET, known)
    run("whole", 10**9, known)
    catalog.delete(library)
    catalog.close()
    return figures


def size(catalog: Catalog, library: str) -> int:
    """Return the bytes of the lexical index."""
    with catalog.reading(library) as connection:
        if connection.dialect.name == "postgresql":
            words = (
                "starts_with(relname, 'lex_') AND relkind = 'r' AND relnamespace ="
                " current_schema()::regnamespace"
            )
            query = f"SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE {words}"
        else:
            query = "SELECT sum(pgsize) FROM dbstat WHERE name GLOB 'lex_*'"
        return int(connection.exec_driver_sql(query).scalar_one())


def ways(given: Sequence[str], count: int, home: Path) -> dict[str, Any]:
    """Measure each way, in a library of its own."""
    from ragweave.tests.support.postgres import binaries, private_postgres

    figures: dict[str, Any] = {"items": count}
    with ExitStack() as beside:
        found = binaries() if "postings" in given else None
        database = beside.enter_context(private_postgres(found)).url("postgres") if found else ""
        for way in given if found else ["fts5"]:
            figures |= measure(way, count, home, "" if way == "fts5" else database)
    return figures


def main() -> None:
    """Run and print the table."""
    parser = options(__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    given = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="ragweave-bench-"))
    os.environ["RAGWEAVE_HOME"] = str(scratch)
    try:
        figures = ways(given.ways, given.items, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
