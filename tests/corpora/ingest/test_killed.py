"""Real processes, killed without notice at chosen places; tests/hard kills them at any moment, very often."""

import subprocess
import sys

import pytest
from sqlalchemy import text

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import delete_library, open_library
from ragweave.corpora.store.repair import repair
from ragweave.corpora.store.stores import close_stores, stores

pytestmark = pytest.mark.both

WRITER = """
import asyncio, os, signal, sys
from pathlib import Path
from ragweave.corpora.store import commit
from ragweave.corpora.ingest.run import index
from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.ingest.stages import prepare

Readers.read = lambda self, path, source, words, *more, **_: prepare(Path(path), source, words, *more)
nth, name = {"second bump": (2, "bump"), "third bump": (3, "bump")}.get(sys.argv[2], (1, sys.argv[2]))
where = {"bump": commit, "remove_paths": commit.Committer}[name]
real, calls = getattr(where, name), []

def killed(*given):
    calls.append(given)
    if len(calls) == nth:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*given)

setattr(where, name, killed)
asyncio.run(index([Path(sys.argv[1])]))
"""


def killed_at(folder, function):
    done = subprocess.run(
        [sys.executable, "-c", WRITER, str(folder), function], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == -9, done.stderr


def stored(corpus):
    [row] = stores().catalog.libraries()
    return len(stores().vectors.ids(row.id, corpus, row.encoder))


async def test_killed_before_a_commit_and_before_a_removal_the_next_run_brings_everything_into_agreement(
    notes,
):
    (notes / "alexandria.md").unlink()
    (notes / "rome.md").write_text("# Rome\n\nThe Pantheon has a dome of concrete.\n")
    (notes / "petra.md").write_text("# Petra\n\nPetra was carved from sandstone.\n")
    killed_at(notes, "bump")  # before the transaction ends: nothing of it is there
    assert stored("paragraph") == 3 and len(await (await open_library()).sources()) == 3
    close_stores()
    killed_at(notes, "remove_paths")  # the new files are stored, the one that has gone is still known
    report = await index([notes])
    assert (report.unchanged, report.indexed, report.removed, report.failed) == (3, 0, 1, [])
    library = await open_library()
    assert sorted(s.title for s in await library.sources()) == ["Petra", "Rome", "长安"]
    [lists] = await library.search("paragraph", ["dome of concrete"])
    held = await library.items([h.id for h in lists.dense])
    assert len(lists.dense) == 3 and held[lists.dense[0].id].text == "The Pantheon has a dome of concrete."
    assert (stored("paragraph"), stored("document")) == (3, 0)
    assert (await repair()).sound


_TITLE = text("SELECT title FROM lex_paragraph WHERE rowid = (SELECT n FROM items WHERE id = :id)")


async def names_of(library, source):
    """Return what each store says of the name of a source: title, titles of items, words, and the vector itself."""
    row = await library.about()
    [item] = await library.items_of(source.id, "paragraph")
    with stores().catalog.reading(row.id) as connection:
        words = connection.execute(_TITLE, {"id": item.id}).scalar_one()
    [vector] = stores().vectors.of_items(row.id, "paragraph", row.encoder, [item.id])[item.id]
    return source.title, item.title, words, vector.tobytes()


@pytest.mark.parametrize("where", ["", "bump", "remove_paths", "second bump", "third bump"])
async def test_a_file_that_was_renamed_has_its_new_name_everywhere_with_and_without_a_kill(notes, where):
    (notes / "obelisks.txt").write_text("It stood in Heliopolis before it was moved.\n")
    await index([notes])
    (notes / "obelisks.txt").rename(notes / "pillars.txt")
    if where:
        close_stores()
        killed_at(notes, where)
    report = await index([notes])
    counts = (report.indexed, report.unchanged, report.linked, len(report.failed))
    assert sum(counts) == report.files == 4, "each file is counted once"
    assert where or counts == (1, 3, 0, 0)
    library = await open_library()
    [source] = [s for s in await library.sources() if s.path.endswith(".txt")]
    assert source.paths == (str(notes / "pillars.txt"),)
    title, of_item, words, vector = await names_of(library, source)
    assert (title, of_item, words) == ("pillars", "pillars", "pillar")
    report = await index([notes])
    assert (report.indexed, report.unchanged) == (0, 4), "it is read anew once"
    (notes / "fresh").mkdir()
    (notes / "pillars.txt").rename(notes / "fresh" / "pillars.txt")
    assert (await index([notes])).indexed == 0, "a file that moves keeps its name"
    await delete_library("default")
    await index([notes])
    library = await open_library()
    [source] = [s for s in await library.sources() if s.path.endswith(".txt")]
    assert (await names_of(library, source))[3] == vector, "as if it had been indexed for the first time"
