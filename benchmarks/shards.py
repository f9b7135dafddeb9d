"""A corpus over several collections: what making them takes, and what asking all of them finds and costs.

    python benchmarks/shards.py [--passages 100000] [--collections 1 4 16] [--work FOLDER] [--json OUT]

A collection is the vector index of a library. The passages are those of `lexical.py`: real sentences shuffled into
paragraphs of about 120 words, XQuAD's whole among them, dealt out by turns. A question of XQuAD is asked of every
library in a thread of its own, and their lists are joined by their scores. Making a library, asking and comparing every
vector each have a process of their own, so that peak memory is its own. What is made under `--work` stays there: the
next run goes on after the last whole library. They are asked when 1, 2, 4 ... and all of them are there, the questions
whose passage is among them. With `--made N` only so many are made, and the rest are copies of them: that shows what
asking takes, in memory, on the disk and of time; seconds and peak of making are then those of the N.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import secrets
import shutil
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from lexical import fill, questions
from printed import options, own_home, tell

if TYPE_CHECKING:
    from ragweave.corpora.store.catalog import Catalog

QUESTIONS, ASKED_FOR = 200, 50
Ranked = list[tuple[str, float]]


def make(home: Path, passages: int, collections: int, n: int) -> None:
    """Make the library of a number; leave seconds by stage and MiB at the peak beside it."""
    from sqlalchemy import select

    from ragweave.corpora.store import blobs
    from ragweave.corpora.store.catalog import Catalog
    from ragweave.corpora.store.schema import items
    from ragweave.corpora.store.vectors import Vectors
    from ragweave.models.embed import encoder

    gold = list(questions(QUESTIONS)[1].items())
    catalog, text_encoder = Catalog(home), encoder()
    vectors = Vectors(catalog, home)
    seconds = dict.fromkeys(("words", "vectors", "index"), 0.0)

    def took(stage: str, began: float) -> float:
        seconds[stage] += time.perf_counter() - began
        return time.perf_counter()

    for row in [row for row in catalog.libraries() if row.name == f"part {n}"]:  # a run was ended while it made it
        catalog.delete(row.id)
    library, own = catalog.create(f"part {n}", text_encoder.name, text_encoder.dim).id, dict(gold[n::collections])
    began = time.perf_counter()
    fill(catalog, library, passages // collections - len(own), own, seed=n)
    began = took("words", began)
    with catalog.reading(library) as connection:
        rows = connection.execute(select(items.c.id, items.c.text).order_by(items.c.n)).all()
    for at in range(0, len(rows), 5_000):
        some = rows[at : at + 5_000]
        made = text_encoder.texts([row.text for row in some])
        with catalog.writing(library) as connection:
            blobs.put(connection, "paragraph", text_encoder.name, [f"{r.id}~0" for r in some], ["s"] * len(some), made)
    began = took("vectors", began)
    if why := vectors.tidy(library):
        raise SystemExit(why)
    took("index", began)
    used = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    figures = {f"{stage} s": value for stage, value in seconds.items()}
    figures["processor s"] = sum(r.ru_utime + r.ru_stime for r in used)
    figures["making peak MiB"] = max(r.ru_maxrss for r in used) / 1024
    print(f"part {n + 1}: {figures}", flush=True)
    noted(home, n).write_text(json.dumps(figures), encoding="utf-8")


def noted(home: Path, n: int) -> Path:
    """Return where the figures of making a library are, once it is whole."""
    return home / f"part-{n}.json"


def made_of(home: Path, parts: int) -> dict[str, float]:
    """Return what making so many libraries took, and what they are on the disk."""
    each = [json.loads(noted(home, n).read_text(encoding="utf-8")) for n in range(parts)]
    return {
        **{name: (max if "peak" in name else sum)(figures[name] for figures in each) for name in each[0]},
        "catalogs MiB": on_disk(home, "libraries/*/catalog.sqlite*"),
        "indexes MiB": on_disk(home, "libraries/*/chroma/**/*"),
    }


def gold_of(catalog: Catalog, library: str) -> Iterable[str]:
    """Return the ids of the passages of a library that are asked for."""
    from sqlalchemy import select

    from ragweave.corpora.store.schema import items

    with catalog.reading(library) as connection:
        return connection.execute(select(items.c.id).where(items.c.id.not_like("i%"))).scalars().all()


def on_disk(home: Path, pattern: str) -> float:
    """Return the MiB of files."""
    return sum(p.stat().st_size for p in home.glob(pattern) if p.is_file()) / 2**20


def copy(home: Path, n: int, of: int) -> None:
    """Make the library of a number by copying that of another."""
    from sqlalchemy import update

    from ragweave.corpora.store.catalog import Catalog
    from ragweave.corpora.store.schema import about

    catalog = Catalog(home)
    (known,) = [row.id for row in catalog.libraries() if row.name == f"part {of}"]
    catalog.close()  # what is still in its log goes into the file
    made = secrets.token_hex(8)
    shutil.copytree(home / "libraries" / known, home / "libraries" / made)
    with catalog.writing(made) as connection:
        connection.execute(update(about).values(name=f"part {n}"))
    shutil.copy(noted(home, of), noted(home, n))


def exact(home: Path) -> list[Ranked]:
    """Return the five nearest of each question, of all vectors."""
    from ragweave.corpora.store.catalog import Catalog
    from ragweave.models.embed import encoder

    catalog = Catalog(home)
    asked = encoder().queries([q for q, _ in questions(QUESTIONS)[0]])
    best: list[Ranked] = [[] for _ in asked]
    for row in catalog.libraries():
        with catalog.reading(row.id) as connection:
            found = connection.exec_driver_sql("SELECT item, data FROM vectors")
            while some := found.fetchmany(50_000):
                matrix = np.frombuffer(b"".join(r[1] for r in some), "<f4").reshape(len(some), -1)
                for own, cosines in zip(best, asked @ matrix.T, strict=True):
                    top = np.argpartition(-cosines, 5)[:5]
                    own[:] = joined([own, [(f"{row.id} {some[i][0]}", float(cosines[i])) for i in top]])[:5]
    return best


def joined(lists: Sequence[Ranked]) -> Ranked:
    """Return several lists as one, by their scores."""
    return sorted((hit for some in lists for hit in some), key=lambda hit: -hit[1])


def ask(home: Path, nearest: list[Ranked]) -> dict[str, float]:
    """Ask; return what was found, and milliseconds."""
    from ragweave.corpora.store.catalog import Catalog
    from ragweave.corpora.store.lexical import Lexical
    from ragweave.corpora.store.vectors import Vectors
    from ragweave.models.embed import encoder

    catalog, text_encoder = Catalog(home), encoder()
    vectors, words, rows = Vectors(catalog, home), Lexical(catalog), catalog.libraries()
    there = {id_ for row in rows for id_ in gold_of(catalog, row.id)}
    of = [n for n, (_, g) in enumerate(questions(QUESTIONS)[0]) if g in there]
    asked, nearest = [questions(QUESTIONS)[0][n] for n in of], [nearest[n] for n in of]
    embedded = text_encoder.queries([q for q, _ in asked])
    ways: dict[str, Callable[[str, int], list[Ranked]]] = {
        "dense": lambda id_, n: vectors.query(id_, "paragraph", text_encoder.name, embedded[n : n + 1], ASKED_FOR),
        "lexical": lambda id_, n: words.search(id_, "paragraph", [asked[n][0]], ASKED_FOR),
    }
    figures: dict[str, float] = {}
    with ThreadPoolExecutor(len(rows)) as threads:
        for name, way in ways.items():

            def one(id_: str, n: int, way: Callable[[str, int], list[Ranked]] = way) -> Ranked:
                return [(f"{id_} {item}", score) for item, score in way(id_, n)[0]]

            times: list[list[float]] = []
            lists_of: list[Ranked] = []
            for n in (0, *range(len(asked))):  # the first question opens what is opened once
                began, worked = time.perf_counter(), time.process_time()
                lists = list(threads.map(one, [row.id for row in rows], [n] * len(rows)))
                lists_of.append(joined(lists))
                times.append([time.perf_counter() - began, time.process_time() - worked])
            figures[f"{name} first ms"] = times[0][0] * 1000
            walls = sorted(wall * 1000 for wall, _ in times[1:])
            figures |= {f"{name} p50 ms": walls[len(walls) // 2], f"{name} p95 ms": walls[len(walls) * 95 // 100]}
            figures[f"{name} processor ms"] = statistics.median(cpu * 1000 for _, cpu in times[1:])
            lists_of, found = lists_of[1:], [[id_ for id_, _ in some] for some in lists_of[1:]]
            right = [any(i.endswith(f" {g}") for i in f[:5]) for f, (_, g) in zip(found, asked, strict=True)]
            figures[f"{name} R@5"] = statistics.mean(right)
            if name == "dense":  # by their scores: a copy of a passage is as near
                near = [sum(s > e[4][1] - 1e-4 for _, s in f[:5]) / 5 for f, e in zip(lists_of, nearest, strict=True)]
                figures["of the exact five nearest"] = statistics.mean(near)
    return figures | {"asking peak MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def main() -> None:
    """Measure each number of collections, and print the figures."""
    parser = options(__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--collections", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--made", type=int, default=0, help="libraries that are made; the rest are copies of them")
    parser.add_argument("--work", type=Path, help="keep the libraries here for the next run")
    given = parser.parse_args()
    figures: dict[str, Any] = {"passages": given.passages}
    spawn = multiprocessing.get_context("spawn")
    for count in given.collections:
        with own_home(given.work and given.work / f"{given.passages} over {count}") as folder:
            home = folder / "home"
            home.mkdir(parents=True, exist_ok=True)
            with ProcessPoolExecutor(1, mp_context=spawn, max_tasks_per_child=1) as alone:
                for n in range(count):
                    if not noted(home, n).exists():
                        if given.made and n >= given.made:
                            alone.submit(copy, home, n, n % given.made).result()
                        else:
                            alone.submit(make, home, given.passages, count, n).result()
                        if (n + 1) & n and n + 1 < count:
                            continue
                    elif n + 1 < count:
                        continue
                    asked = alone.submit(ask, home, alone.submit(exact, home).result()).result()
                    here = f"{given.passages * (n + 1) // count:,} over {n + 1}"
                    found = {
                        f"{name}, {here}": value
                        for name, value in {**made_of(home, min(n + 1, given.made or count)), **asked}.items()
                    }
                    tell(found, None)
                    figures |= found
    tell(figures, given.json)


if __name__ == "__main__":
    main()
