"""Measure lexical search over 100,000 items in FTS5, and in PostgreSQL if it is installed.

    python benchmarks/lexical.py [--items 100000] [--ways fts5 postings] [--json OUT]

`first` searches a term for the first time in a generation, so its document frequency is read as well;
`pruned` is what the product does; `whole` searches every content term, as a plain OR query would. `cpu` is
CPU time, with that of PostgreSQL's process if /proc has it.
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
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from printed import a_source, emit, options

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ragweave.corpora.store.catalog import Catalog

HERE = Path(__file__).resolve().parent
WAYS = ("fts5", "postings")


def questions(count: int) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Return (question, gold passage id) pairs and the passages; without data, word samples and no gold."""
    shared = runpy.run_path(str(HERE / "index.py"))
    folder, rng = shared["DATA"] / "squad_xquad_en", random.Random(2)
    asked: list[tuple[str, str]] = []
    texts: dict[str, str] = {}
    if folder.is_dir():
        for row in rng.sample(read_jsonl(folder / "queries.jsonl"), count):
            asked.append((row["question"], row["gold"][0]))
        for row in read_jsonl(folder / "passages.jsonl"):
            texts[row["id"]] = row["text"]
        return asked, texts
    pool = shared["sentences"]()
    for _ in range(count):
        words = rng.sample(rng.choice(pool).split(), 8)
        asked.append((" ".join(words), ""))
    return asked, texts


def read_jsonl(file: Path) -> list[dict[str, Any]]:
    """Read JSON Lines."""
    return list(map(json.loads, file.read_text(encoding="utf-8").splitlines()))


@cache
def cut_sentences() -> list[tuple[str, str, int]]:
    """Return real sentences, each with its terms and the number of its words."""
    from ragweave.corpora.store.words import indexed

    shared = runpy.run_path(str(HERE / "index.py"))
    cut: list[tuple[str, str, int]] = []
    for sentence in shared["sentences"](shared["SETS"][1:]):
        cut.append((sentence, indexed(sentence), len(sentence.split())))
    return cut


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
                texts, terms, length = [], [], 0
                while length < 120:
                    sentence, its_terms, its_length = rng.choice(cut)
                    texts.append(sentence)
                    terms.append(its_terms)
                    length += its_length
                rows.append({**blank, "n": n, "id": f"i{n}", "ordinal": n, "text": " ".join(texts)})
                words.append((n, "note", "", " ".join(terms)))
            connection.execute(items.insert(), rows)
            put(connection, "paragraph", words)
        rows, words = [], []
        for n, (id, text) in enumerate(gold.items(), count + 1):
            rows.append({**blank, "n": n, "id": id, "ordinal": n, "text": text})
            words.append((n, "note", "", indexed(text)))
        if rows:
            connection.execute(items.insert(), rows)
            put(connection, "paragraph", words)


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


def taken(walls: Sequence[float], cpus: Sequence[float], ranks: Sequence[int]) -> dict[str, float]:
    """Return the milliseconds of searches, and how often the gold passage is among the best; ranks from 0."""
    found: dict[str, float] = {}
    for name, values in (("", sorted(walls)), ("cpu ", sorted(cpus))):
        found[f"{name}median ms"] = statistics.median(values)
        found[f"{name}p95 ms"] = values[int(len(values) * 0.95)]
    for k in (1, 5, 10, 50):
        found[f"gold in top {k}"] = statistics.mean([rank < k for rank in ranks])
    found["load"] = os.getloadavg()[0]
    return found


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

    def note(label: str, found: Mapping[str, float]) -> None:
        """Print figures at once: on a busy machine the next ones take long."""
        named: dict[str, float] = {}
        for name, value in found.items():
            named[" ".join(filter(None, (way, label, name)))] = value
        emit(named, None)
        figures.update(named)

    mebibytes = size(catalog, library) / 2**20
    note("", {"making s": spent[0], "making cpu s": spent[1], "MiB": mebibytes})

    with catalog.reading(library) as connection:
        known = lexical.Frequencies(connection)
    for label, budget in (("first", lexical.BUDGET), ("pruned", lexical.BUDGET), ("whole", 10**9)):
        note(label, searched(catalog, library, known, budget, asked, clock))
    catalog.delete(library)
    catalog.close()
    return figures


def searched(
    catalog: Catalog, library: str, known: Any, budget: int, asked: Sequence[tuple[str, str]], clock: Clock
) -> dict[str, float]:
    """Return what searches for (question, gold passage id) pairs take and find."""
    from ragweave.corpora.store import lexical

    walls, cpus, ranks = [], [], []
    for question, wanted in asked:
        wall, cpu = clock.read()
        with catalog.reading(library) as connection:
            hits = lexical.search(connection, known, "paragraph", question, 50, budget=budget)
        after = clock.read()
        walls.append((after[0] - wall) * 1000)
        cpus.append((after[1] - cpu) * 1000)
        ids = [id for id, _ in hits]
        ranks.append(ids.index(wanted) if wanted in ids else len(ids) + 50)
        with catalog.reading(library) as connection:
            clock.serves(connection)
    return taken(walls, cpus, ranks)


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
    with ExitStack() as stack:
        found = binaries() if "postings" in given else None
        database = stack.enter_context(private_postgres(found)).url("postgres") if found else ""
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
