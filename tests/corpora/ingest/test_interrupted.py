"""Runs that are cut short: cancelled, out of power or space, or with files that change under them."""

import asyncio
from pathlib import Path

import pytest

from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.ingest.run import index
from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.stores import close_stores, stores
from ragweave.models.errors import LibraryError
from ragweave.tests.support.stored import found, lay, sound

pytestmark = pytest.mark.both
FULL = LibraryError("The catalog cannot be used (database or disk is full)", "x")
CATACOMBS = "# Rome\n\nThe catacombs lie below the Appian Way.\n"


@pytest.fixture
def notes(tmp_path, read_here):
    """A folder of three notes that nothing has indexed yet."""
    return lay(tmp_path / "notes")


async def test_a_cancelled_run_ends_soundly_and_the_next_one_finishes(notes):
    started = asyncio.Event()
    task = asyncio.create_task(index([notes], on_event=lambda e: started.set()))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await sound()
    await index([notes])
    assert len((await sound())["items"]) == 6


@pytest.mark.parametrize(
    ("where", "error"),
    [
        ("ragweave.corpora.store.commit.bump", KeyError()),
        ("ragweave.corpora.store.commit.Committer._put", KeyError()),
        ("ragweave.corpora.store.blobs.put", FULL),
        ("ragweave.corpora.store.commit.upsert", FULL),
        ("ragweave.corpora.store.lexical.put", FULL),
        ("ragweave.corpora.store.commit.Committer._put_paths", FULL),
    ],
)
async def test_a_commit_that_fails_anywhere_changes_nothing_and_the_next_run_makes_it(notes, where, error, monkeypatch):
    await index([notes])
    (notes / "rome.md").write_text(CATACOMBS)

    def fail(*args, **options):
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(where, fail)
        with pytest.raises(type(error)):
            await index([notes])
    assert await found("aqueducts") == {"rome.md"}
    held = stores()
    close_stores()
    await index([notes])
    assert held is not stores() and await found("catacombs") == {"rome.md"}
    await sound()


async def test_after_an_upgrade_each_file_is_read_anew_once_and_a_stopped_run_goes_on_where_it_ended(
    notes, monkeypatch
):
    await index([notes])
    old = {s.id for s in await (await open_library()).sources()}
    monkeypatch.setattr("ragweave.corpora.store.prepared.VERSION", 10**6)
    monkeypatch.setattr("ragweave.corpora.ingest.pipeline.COMMIT_CHUNKS", 1)
    task = asyncio.create_task(index([notes], on_event=lambda e: task.cancel()))
    with pytest.raises(asyncio.CancelledError):
        await task
    await sound()
    done = {s.id for s in await (await open_library()).sources()} - old
    report = await index([notes])
    assert (report.indexed, report.unchanged) == (3 - len(done), len(done))
    assert not {s.id for s in await (await open_library()).sources()} & old
    assert len((await sound())["items"]) == 6


@pytest.mark.parametrize("vanishes", [False, True])
async def test_a_file_that_changes_while_it_is_read_is_stated_and_one_that_vanishes_goes(notes, monkeypatch, vanishes):
    await index([notes])
    path = notes / "rome.md"
    path.write_text(CATACOMBS)

    def read(self, where, source, words, *more):
        made = prepare(Path(where), source, words)
        if where == str(path):
            path.unlink() if vanishes else path.write_text(CATACOMBS + "And it grew.\n")
        return made

    with monkeypatch.context() as patched:
        patched.setattr(Readers, "read", read)
        report = await index([notes])
    if vanishes:
        assert (report.removed, await found("aqueducts"), await found("catacombs")) == (1, set(), set())
    else:
        assert "changed while it was read" in dict(report.failed)[str(path)]
        assert await found("aqueducts") == {"rome.md"}
        await index([notes])
        assert await found("grew") == {"rome.md"}
    await sound()
