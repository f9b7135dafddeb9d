"""What the hard tests share: their size, child processes, and everything that both stores of a home hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ragweave.corpora import lexical
from ragweave.corpora.catalog import Catalog
from ragweave.corpora.rows import pack
from ragweave.corpora.types import CORPORA
from ragweave.corpora.vectors import Vectors, item_of

KILLS = int(os.environ.get("TEST_KILLS", "10"))
LIMIT = """
import resource
_, _hard = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, _hard))
"""
CHANGES = int(os.environ.get("TEST_CHANGES", "200"))


def spawn(code: str, home: Path, *given: object) -> subprocess.Popen[str]:
    """Start Python code in a process with this home, and with a limit: a torn index once took all memory there was."""
    return subprocess.Popen(
        [sys.executable, "-c", LIMIT + code, *map(str, given)],
        env={**os.environ, "RAGWEAVE_HOME": str(home), "RAGWEAVE_PARSE_WORKERS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def end(process: subprocess.Popen[str]) -> int:
    """Wait for a process and close its pipes."""
    code = process.wait()
    process.stdin.close()
    process.stdout.close()
    return code


class Content:
    """Everything that the stores of a home hold, with nothing in it that depends on time or order."""

    def __init__(self, home: Path) -> None:
        catalog, vectors = Catalog(home / "catalog.sqlite"), Vectors(home)
        [row] = catalog.libraries()
        self.rows: dict[str, Counter[Any]] = {}
        self.words: dict[str, Counter[Any]] = {}
        self.vectors: dict[str, dict[str, Any]] = {}
        with catalog.engine.begin() as connection:
            ask = connection.exec_driver_sql
            for name, query in {
                "sources": "SELECT id, kind, title, status, sha256, bytes FROM sources",
                "paths": "SELECT path, source FROM paths",
                "stages": "SELECT source, stage, status FROM stages",
            }.items():
                self.rows[name] = Counter(map(tuple, ask(query).fetchall()))
            for corpus in CORPORA:
                if lexical.exists(connection, row.id, corpus):
                    table = lexical.table(row.id, corpus)
                    query = f"SELECT i.id, f.text FROM {table} f LEFT JOIN items i ON i.n = f.rowid"
                    self.words[corpus] = Counter(map(tuple, ask(query).fetchall()))
            self.damage = [r[0] for r in ask("PRAGMA integrity_check") if r[0] != "ok"]
            ids = ask("SELECT id FROM items").scalars().all()
        # As a reader gets them: the file of a locator is where its source lies now, not where it was read first.
        held = [pack(item) for item in catalog.items(row.id, ids).values()]
        self.rows["items"] = Counter((i["id"], i["source"], i["corpus"], json.dumps(i, sort_keys=True)) for i in held)
        self.twice = len(ids) - len(set(ids))
        self.lost = 0
        for corpus in self.words:
            ids = vectors.ids(row.id, corpus, row.space, row.generation)
            got, sources, found = vectors.fetch(row.id, corpus, row.space, row.generation, ids)
            self.vectors[corpus] = {i: (s, v) for i, s, v in zip(got, sources, found, strict=True)}
            # Documents are copied, so that several vectors may be equal: among 30 each has to be.
            hits = vectors.query(row.id, corpus, row.space, row.generation, found, 30)
            self.lost += sum(item_of(i) not in {h for h, _ in near} for i, near in zip(got, hits, strict=True))
        names = [n for n in vectors.names() if not n.startswith(row.id)]
        self.strays = len(names)
        vectors.close()
        catalog.close()

    def differences(self, other: Content) -> dict[str, int]:
        """Count what one holds and the other does not, store by store."""
        found = {n: sum(((self.rows[n] - other.rows[n]) + (other.rows[n] - self.rows[n])).values()) for n in self.rows}
        for corpus in self.words.keys() | other.words.keys():
            mine, its = self.words.get(corpus, Counter()), other.words.get(corpus, Counter())
            found[f"words of {corpus}"] = sum(((mine - its) + (its - mine)).values())
            here, there = self.vectors.get(corpus, {}), other.vectors.get(corpus, {})
            unlike = sum(
                here[i][0] != there[i][0] or not np.allclose(here[i][1], there[i][1], atol=1e-5)
                for i in here.keys() & there.keys()
            )
            found[f"vectors of {corpus}"] = len(here.keys() ^ there.keys()) + unlike
        return found

    def faults(self) -> dict[str, int]:
        """Count what the stores of one home hold twice, or one of them alone."""
        items = {row[0]: row[2] for row in self.rows["items"]}
        words = [row[0] for rows in self.words.values() for row in rows.elements()]
        vectors = {item_of(i) for found in self.vectors.values() for i in found}
        return {
            "items twice": self.twice,
            "rows of the word index twice": len(words) - len(set(words)),
            "rows of the word index without item": sum(w not in items for w in words),
            "items without words": len(items.keys() - set(words)),
            "vectors without item": len(vectors - items.keys()),
            "items without vectors": len(items.keys() - vectors),
            "vectors not found by themselves": self.lost,
            "unfinished stages": sum(status != "done" for _, _, status in self.rows["stages"]),
            "stray collections": self.strays,
            "damage": len(self.damage),
        }


def show(title: str, rows: list[list[object]], header: list[str]) -> None:
    """Print a table."""
    cells = [header, *[[str(c) for c in row] for row in rows]]
    widths = [max(len(row[n]) for row in cells) for n in range(len(header))]
    print(f"\n{title}")
    for row in cells:
        print("  " + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip())


@pytest.fixture
def kit() -> SimpleNamespace:
    """Give a test everything above."""
    return SimpleNamespace(kills=KILLS, changes=CHANGES, spawn=spawn, end=end, Content=Content, show=show)
