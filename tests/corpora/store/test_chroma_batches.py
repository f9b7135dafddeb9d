"""A snapshot holds all its vectors in the graph on the disk, and next to nothing in the log of calls."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ragweave.corpora.store import chroma_rows
from ragweave.corpora.store.stores import stores

pytestmark = pytest.mark.chroma


@pytest.mark.parametrize("count", [1, 2, 7, 40, 43])
def test_no_call_is_left_in_the_log_of_an_index(
    home: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(chroma_rows, "BATCH", 10)
    catalog, vectors = stores().catalog, stores().vectors
    row = catalog.create("notes", "enc", 8)
    given = np.random.default_rng(0).standard_normal((count, 8)).astype(np.float32)
    with catalog.writing(row.id) as connection:
        columns = (
            "id kind title named status reason sha256 params_hash author language indexed_at bytes warnings"
        )
        blanks = ", ".join("'s'" if c == "id" else "0" if c == "bytes" else "'[]'" for c in columns.split())
        connection.exec_driver_sql(f"INSERT INTO sources ({', '.join(columns.split())}) VALUES ({blanks})")
    vectors.put(row.id, "paragraph", "enc", [f"i{n}~0" for n in range(count)], ["s"] * count, given)
    assert vectors.tidy(row.id) == ""
    [index] = (home / "libraries" / row.id / "indexes").iterdir()
    with closing(sqlite3.connect(index / "chroma.sqlite3")) as db:
        assert db.execute("SELECT count(*) FROM embeddings").fetchone() == (count,)
        assert db.execute("SELECT count(*) FROM embeddings_queue").fetchone()[0] <= 1
