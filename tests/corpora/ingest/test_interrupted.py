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


async def test_an_interrupted_commit_changes_nothing_and_the_next_run_makes_it(notes, monkeypatch):
    await index([notes])
    held = stores()
    (notes / "rome.md").write_text("# Rome\n\nThe catacombs lie below the Appian Way.\n")
    for where in ("ragweave.corpora.store.commit.bump", "ragweave.corpora.store.commit.Committer._put"):
        with monkeypatch.context() as broken:
            broken.setattr(where, lambda *a: (_ for _ in ()).throw(KeyError))
            with pytest.raises(KeyError):
                await index([notes])
        await sound()
        assert await found("aqueducts") == {"rome.md"}
    (notes / "rome.md").write_text("# Rome\n\nThe forum was the market.\n")
    close_stores()
    await index([notes])
    assert held is not stores()
    assert await found("forum") == {"rome.md"}
    await sound()


async def test_after_an_upgrade_each_file_is_read_anew_once_and_a_stopped_run_goes_on_where_it_ended(
    notes, monkeypatch
):
    await index([notes])
    old = {s.id for s in await (await open_library()).sources()}
    monkeypatch.setattr("ragweave.corpora.store.prepared.VERSION", 10**6)
    monkeypatch.setattr("ragweave.corpora.ingest.pipeline.COMMIT_CHUNKS", 1)
    seen = []
    task = asyncio.create_task(index([notes], on_event=lambda e: (seen.append(e), task.cancel())))
    with pytest.raises(asyncio.CancelledError):
        await task
    await sound()
    done = {s.id for s in await (await open_library()).sources()} - old
    report = await index([notes])
    assert (report.indexed, report.unchanged) == (3 - len(done), len(done))
    assert (await index([notes])).unchanged == 3
    assert not {s.id for s in await (await open_library()).sources()} & old
    assert len((await sound())["items"]) == 6


@pytest.mark.parametrize(
    "where, error",
    [
        (
            "ragweave.corpora.store.blobs.put",
            LibraryError("The catalog cannot be used (database or disk is full)", "x"),
        ),
        (
            "ragweave.corpora.store.commit.upsert",
            LibraryError("The catalog cannot be used (database or disk is full)", "x"),
        ),
        ("ragweave.corpora.store.lexical.put", LibraryError("The catalog cannot be used (disk I/O error)", "x")),
        (
            "ragweave.corpora.store.commit.Committer._put_paths",
            LibraryError("The catalog cannot be used (database or disk is full)", "x"),
        ),
    ],
)
async def test_a_disk_that_fills_up_anywhere_is_stated_and_leaves_nothing_half_written(
    notes, where, error, monkeypatch
):
    await index([notes])
    (notes / "rome.md").write_text("# Rome\n\nThe catacombs lie below the Appian Way.\n")

    def full(*args, **options):
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(where, full)
        with pytest.raises(LibraryError, match="cannot be"):
            await index([notes])
    assert await found("aqueducts") == {"rome.md"}
    await index([notes])
    assert await found("catacombs") == {"rome.md"}
    await sound()


async def read_while(path, happens, notes, monkeypatch):
    """Write a new version of a file, index, and let something happen to the file once it has been read."""
    await index([notes])
    path.write_text("# Rome\n\nThe catacombs lie below the Appian Way.\n")

    def read(self, where, source, words, *more):
        made = prepare(Path(where), source, words)
        if where == str(path):
            happens()
        return made

    with monkeypatch.context() as patched:
        patched.setattr(Readers, "read", read)
        return await index([notes])


async def test_a_file_that_grows_while_it_is_read_is_stated_and_read_by_the_next_run(notes, monkeypatch):
    path = notes / "rome.md"
    report = await read_while(path, lambda: path.write_text(path.read_text() + "And it grew.\n"), notes, monkeypatch)
    assert "changed while it was read" in dict(report.failed)[str(path)]
    assert await found("aqueducts") == {"rome.md"}
    await index([notes])
    assert await found("grew") == {"rome.md"}


async def test_a_file_that_vanishes_while_it_is_read_goes_with_its_items(notes, monkeypatch):
    path = notes / "rome.md"
    report = await read_while(path, path.unlink, notes, monkeypatch)
    assert report.removed == 1
    assert await found("aqueducts") == await found("catacombs") == set()
    await sound()
