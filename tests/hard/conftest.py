"""What the hard tests share: their size, child processes, and everything that both stores of a home hold."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import chromadb
import numpy as np
import pytest

from ragweave.corpora.store import lexical
from ragweave.corpora.store.blobs import item_of
from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.rows import pack
from ragweave.corpora.store.vectors import Vectors
from ragweave.corpora.types import CORPORA

KILLS = int(os.environ.get("TEST_KILLS", "10"))
CHANGES = int(os.environ.get("TEST_CHANGES", "200"))
LIMIT = 300.0
"""Seconds that a test waits for a line, or for the end, of a process it has started."""

PRELUDE = """
import faulthandler, resource
faulthandler.enable()
_, _hard = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, _hard))
"""
"""A torn index once took all memory there was."""


class Child:
    """Python code in a process with this home; nothing waits for it longer than `LIMIT`."""

    def __init__(self, code: str, home: Path, *given: object) -> None:
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, "-c", PRELUDE + code, *map(str, given)],
            env={**os.environ, "RAGWEAVE_HOME": str(home), "RAGWEAVE_PARSE_WORKERS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def line(self) -> str:
        """Return the next line that it prints, or "" when it has ended."""
        try:
            return self._lines.get(timeout=LIMIT)
        except queue.Empty:
            return self._hangs("printed nothing")

    def rest(self) -> list[str]:
        """Return every line up to its end."""
        return list(iter(self.line, ""))

    def ended_within(self, seconds: float) -> bool:
        """Wait for its end that long."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        """Kill it as a power cut would, without notice."""
        self._process.kill()

    def told_to_stop(self) -> None:
        """Close its standard input."""
        self._process.stdin.close()

    def end(self) -> int:
        """Wait for its end and return its exit status."""
        if not self.ended_within(LIMIT):
            self._hangs("did not end")
        self._listener.join(LIMIT)
        self._process.stdin.close()
        self._process.stdout.close()
        return self._process.returncode

    def errors(self) -> str:
        """Return what it has written to standard error."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")

    def _listen(self) -> None:
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def _hangs(self, how: str) -> str:
        self._process.send_signal(signal.SIGABRT)  # it says where each of its threads is
        self.ended_within(10)
        self._process.kill()
        pytest.fail(
            f"a process {how} for {LIMIT:g} seconds; it was here:\n{self.errors()[-8000:]}", pytrace=False
        )


class Content:
    """Everything that the stores of a home hold, with nothing in it that depends on time or order."""

    def __init__(self, home: Path) -> None:
        catalog = Catalog(home)
        vectors = Vectors(catalog, home)
        vectors.stays = True
        [row] = catalog.libraries()
        self.rows: dict[str, Counter[Any]] = {}
        self.words: dict[str, Counter[Any]] = {}
        self.vectors: dict[str, dict[str, Any]] = {}
        with catalog.reading(row.id) as connection:
            ask = connection.exec_driver_sql
            for name, query in {
                "sources": "SELECT id, kind, title, status, sha256, bytes FROM sources",
                "paths": "SELECT path, source FROM paths",
                "stages": "SELECT source, item, stage FROM stages",
            }.items():
                self.rows[name] = Counter(map(tuple, ask(query).fetchall()))
            for corpus in CORPORA:
                query = (
                    f"SELECT i.id, f.title, f.text FROM {lexical.table(corpus)} f LEFT JOIN items i ON i.n ="
                    " f.rowid"
                )
                self.words[corpus] = Counter(map(tuple, ask(query).fetchall()))
            self.indexed = ask("SELECT count(DISTINCT name) FROM indexes").scalar_one()
            self.damage = [r[0] for r in ask("PRAGMA integrity_check") if r[0] != "ok"]
            ids = ask("SELECT id FROM items").scalars().all()
        # As a reader gets them: the file of a locator is where its source lies now, not where it was read
        # first.
        held = [pack(item) for item in catalog.items(row.id, ids).values()]
        self.rows["items"] = Counter(
            (i["id"], i["source"], i["corpus"], json.dumps(i, sort_keys=True)) for i in held
        )
        self.twice = len(ids) - len(set(ids))
        self.lost = 0
        for corpus in self.words:
            query = "SELECT item || '~' || part, source, data FROM vectors WHERE space = ? AND corpus = ?"
            with catalog.reading(row.id) as connection:
                stored = connection.exec_driver_sql(query, (row.encoder, corpus)).fetchall()
            got, sources = [row[0] for row in stored], [row[1] for row in stored]
            found = np.array([np.frombuffer(row[2], "<f4") for row in stored]).reshape(len(stored), row.dim)
            self.vectors[corpus] = {i: (s, v) for i, s, v in zip(got, sources, found, strict=True)}
            # Documents are copied, so that several vectors may be equal: among 30 each has to be.
            hits = vectors.query(row.id, corpus, row.encoder, found, 30)
            self.lost += sum(
                item_of(i) not in {h for h, _ in near} for i, near in zip(got, hits, strict=True)
            )
        there: dict[str, set[str]] = {}
        if self.indexed:
            client = chromadb.PersistentClient(str(home / "libraries" / row.id / "chroma"))
            there = {c.name: set(c.get(include=[])["ids"]) for c in client.list_collections()}
            client.close()
        self.unindexed = sum(
            len(there.get(c, set()) ^ held.keys()) for c, held in self.vectors.items() if there
        )
        left = [p.name for p in (home / "libraries").iterdir() if p.name != row.id]
        indexes = list((home / "libraries" / row.id).glob("indexes/*"))
        self.strays = len(left) + abs(len(indexes) - self.indexed)
        vectors.close()
        catalog.close()

    def differences(self, other: Content) -> dict[str, int]:
        """Count what one holds and the other does not, store by store."""
        found = {
            n: sum(((self.rows[n] - other.rows[n]) + (other.rows[n] - self.rows[n])).values())
            for n in self.rows
        }
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
            "vectors that the index lacks or holds beside them": self.unindexed,
            "stray folders": self.strays,
            "damage": len(self.damage),
        }


@pytest.fixture
def kit() -> Iterator[SimpleNamespace]:
    """Give a test everything above; processes that it leaves behind are ended."""
    started: list[Child] = []

    def spawn(code: str, home: Path, *given: object) -> Child:
        started.append(Child(code, home, *given))
        return started[-1]

    yield SimpleNamespace(kills=KILLS, changes=CHANGES, spawn=spawn, Content=Content)
    for child in started:
        child.kill()
        child.end()
