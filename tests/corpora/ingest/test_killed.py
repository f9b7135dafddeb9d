"""Real processes, killed without notice at chosen places; tests/hard kills them at any moment, very often."""

import subprocess
import sys

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import close_all, open_library
from ragweave.corpora.store.repair import repair
from ragweave.corpora.store.stores import stores

WRITER = """
import asyncio, os, signal, sys
from pathlib import Path
from ragweave.corpora.store import commit
from ragweave.corpora.ingest.run import index
from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.ingest.stages import prepare

Readers.read = lambda self, path, source, words, *more: prepare(Path(path), source, words, *more)
where = {"bump": commit, "remove_paths": commit.Committer}[sys.argv[2]]
setattr(where, sys.argv[2], lambda *given: os.kill(os.getpid(), signal.SIGKILL))
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


async def test_killed_before_a_commit_and_before_a_removal_the_next_run_brings_everything_into_agreement(notes):
    (notes / "alexandria.md").unlink()
    (notes / "rome.md").write_text("# Rome\n\nThe Pantheon has a dome of concrete.\n")
    (notes / "petra.md").write_text("# Petra\n\nPetra was carved from sandstone.\n")
    killed_at(notes, "bump")  # before the transaction ends: nothing of it is there
    assert stored("paragraph") == 3 and len(await (await open_library()).sources()) == 3
    close_all()
    killed_at(notes, "remove_paths")  # the new files are stored, the one that has gone is still known
    report = await index([notes])
    assert (report.unchanged, report.indexed, report.removed, report.failed) == (3, 0, 1, [])
    library = await open_library()
    assert sorted(s.title for s in await library.sources()) == ["Petra", "Rome", "长安"]
    [lists] = await library.search("paragraph", ["dome of concrete"])
    held = await library.items([h.id for h in lists.dense])
    assert len(lists.dense) == 3 and held[lists.dense[0].id].text == "The Pantheon has a dome of concrete."
    assert stored("paragraph") == stored("document") == 3
    assert (await repair()).before.sound
