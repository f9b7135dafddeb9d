"""The live library: killed writers, and readers in other processes."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ragweave.corpora import lexical
from ragweave.corpora.catalog import Catalog
from ragweave.corpora.ingest import index
from ragweave.corpora.library import open_library
from ragweave.corpora.readers import Readers
from ragweave.corpora.stages import prepare
from ragweave.corpora.vectors import Vectors, _collection

KILLS = int(os.environ.get("TEST_KILLS", "3"))

WRITER = """
import asyncio, sys
from pathlib import Path
from ragweave.corpora import events, pipeline
from ragweave.corpora.ingest import index
pipeline.COMMIT_CHUNKS = 6

def tell(event):
    if isinstance(event, events.Started):
        print("started", flush=True)

asyncio.run(index([Path(sys.argv[1])], on_event=tell))
"""

READER = """
import asyncio, json, sys
from ragweave.corpora.library import open_library

async def main():
    library = await open_library()
    for line in sys.stdin:
        [lists] = await library.search("paragraph", [line], 500)
        items = await library.items([h.id for h in (*lists.dense, *lists.lexical)])
        found = [sorted(items[h.id].title for h in hits) for hits in (lists.dense, lists.lexical)]
        print(json.dumps(found), flush=True)

asyncio.run(main())
"""

NOUNS = "aqueduct basilica citadel dolmen esplanade forum granary hippodrome icon jetty kiln lighthouse".split()


def write_note(folder: Path, n: int, rng: random.Random) -> None:
    parts = [f"## Part {i}\n\n" + " ".join(rng.choices(NOUNS, k=90)) + "." for i in range(rng.randint(1, 4))]
    (folder / f"{n:03}.md").write_text("\n\n".join([f"# Note {n}", *parts]))


@pytest.fixture
def _read_here(monkeypatch):
    """Read files in this process; the writers that are killed read in processes of their own."""
    monkeypatch.setattr(Readers, "read", lambda self, path, source, words: prepare(Path(path), source, words))


def spawn(code: str, home: Path, *given: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *given],
        env={**os.environ, "RAGWEAVE_HOME": str(home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def content(home: Path) -> dict[str, object]:
    """Everything both stores hold, with nothing in it that depends on time or order."""
    catalog, vectors = Catalog(home / "catalog.sqlite"), Vectors(home)
    [library] = catalog.libraries()
    found: dict[str, object] = {}
    with catalog.engine.begin() as connection:
        ask = connection.exec_driver_sql
        found["sources"] = Counter(ask("SELECT id, kind, title, status, sha256, bytes FROM sources").fetchall())
        found["paths"] = Counter(ask("SELECT path, source FROM paths").fetchall())
        found["items"] = Counter(ask("SELECT id, source, corpus, ordinal, text, locator, spans FROM items").fetchall())
        found["stages"] = Counter(ask("SELECT source, stage, status FROM stages").fetchall())
        for corpus in ("paragraph", "document"):
            rows = f"SELECT i.id, f.text FROM {lexical.table(library.id, corpus)} f LEFT JOIN items i ON i.n = f.rowid"
            found[f"words of {corpus}"] = Counter(ask(rows).fetchall())
    for corpus in ("paragraph", "document"):
        with vectors.changing(library.id, library.generation) as client:
            collection = _collection(client, library.id, corpus, library.encoder)
            got = collection.get(include=["embeddings", "metadatas"])
            hits = collection.query(query_embeddings=got["embeddings"], n_results=1, include=["distances"])
        rows = zip(got["ids"], got["metadatas"], np.round(got["embeddings"], 4).tolist(), strict=True)
        found[f"vectors of {corpus}"] = Counter((i, m["source"], tuple(e)) for i, m, e in rows)
        assert all(abs(row[0]) < 1e-3 for row in hits["distances"]), "a stored vector is not found by itself"
    vectors.close()
    catalog.close()
    return found


def test_killed_at_any_moment_nothing_is_lost_doubled_or_orphaned(tmp_path):
    rng = random.Random(7)
    notes, home, calm = tmp_path / "notes", tmp_path / "killed", tmp_path / "calm"
    notes.mkdir()
    for n in range(40):
        write_note(notes, n, rng)
    landed = 0
    for kill in range(KILLS):
        writer = spawn(WRITER, home, str(notes))
        assert writer.stdout.readline() == "started\n"
        try:
            writer.wait(rng.uniform(0, 1.5))
        except subprocess.TimeoutExpired:
            writer.kill()
            landed += 1
        writer.wait()
        writer.stdin.close()
        writer.stdout.close()
        # The folder goes on living between two runs.
        for n in (*rng.sample(range(40), 10), 40 + kill):
            write_note(notes, n, rng)
        (notes / f"{rng.randrange(40):03}.md").unlink(missing_ok=True)
    assert landed >= KILLS / 2, "too few runs were cut short to prove anything"
    for writer in [spawn(WRITER, place, str(notes)) for place in (home, calm)]:
        assert writer.wait() == 0
        writer.stdin.close()
        writer.stdout.close()
    killed, undisturbed = content(home), content(calm)
    for part in undisturbed:
        assert killed[part] == undisturbed[part], f"{part} differ"
    assert len(undisturbed["paths"]) == len(list(notes.iterdir()))


async def test_a_reader_that_was_open_before_sees_every_change_at_its_next_question(tmp_path, home, _read_here):

    notes = tmp_path / "notes"
    notes.mkdir()
    rng = random.Random(3)
    write_note(notes, 0, rng)
    await index([notes])
    reader = spawn(READER, home)
    try:
        there = {"Note 0"}
        for step in range(6):
            reader.stdin.write("aqueduct granary\n")
            reader.stdin.flush()
            dense, words = json.loads(reader.stdout.readline())
            assert set(dense) == set(words) == there
            if step % 3 == 2:
                gone = rng.choice(sorted(there))
                (notes / f"{int(gone.split()[1]):03}.md").unlink()
                there.remove(gone)
            for n in (100 + 2 * step, 101 + 2 * step):
                write_note(notes, n, rng)
                there.add(f"Note {n}")
            await index([notes])
    finally:
        reader.stdin.close()
        reader.wait()
        reader.stdout.close()


async def test_a_reader_in_another_process_never_sees_what_was_deleted_while_a_writer_works(tmp_path, home, _read_here):

    notes = tmp_path / "notes"
    notes.mkdir()
    rng = random.Random(5)
    for n in range(30):
        write_note(notes, n, rng)
    await index([notes])
    library = await open_library()
    reader = spawn(READER, home)
    gone: set[str] = set()
    try:
        for source in (await library.sources())[:6]:
            await library.remove(source.id)
            gone.add(source.title)
            reader.stdin.write("forum kiln\n")
            reader.stdin.flush()
            dense, words = json.loads(reader.stdout.readline())
            assert not gone & {*dense, *words}
            assert len(set(dense)) == len(set(words)) == 30 - len(gone)
    finally:
        reader.stdin.close()
        reader.wait()
        reader.stdout.close()
