import asyncio
import shutil

import pytest

from ragweave.corpora.ingest import watch as module
from ragweave.corpora.ingest.watch import watch
from ragweave.corpora.store.library import create_library, delete_library, open_library
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import InputError, LibraryError, LibraryNotFound


class Watching:
    """A watch in the background that remembers what it told."""

    def __init__(self, folder):
        self.reports, self.errors = asyncio.Queue(), asyncio.Queue()
        self.task = asyncio.create_task(
            watch([folder], interval=0.02, on_report=self.reports.put_nowait, on_error=self.errors.put_nowait)
        )

    async def report(self):
        return await asyncio.wait_for(self.reports.get(), 30)


@pytest.fixture
async def watching(notes):
    found = Watching(notes)
    await found.report()
    yield found
    found.task.cancel()
    await asyncio.wait([found.task])
    assert found.task.cancelled() or isinstance(found.task.exception(), LibraryNotFound)


async def test_what_comes_changes_and_goes_is_indexed_in_turn(watching, notes):
    (notes / "petra.md").write_text("# Petra\n\nCarved from sandstone.\n")
    assert (await watching.report()).indexed == 1
    (notes / "petra.md").write_text("# Petra\n\nCarved from red sandstone.\n")
    assert (await watching.report()).indexed == 1
    (notes / "petra.md").unlink()
    assert (await watching.report()).removed == 1


async def test_a_quiet_folder_is_not_indexed_again(watching):
    await asyncio.sleep(0.3)
    assert watching.reports.empty()


async def test_an_error_is_told_once_and_survived(watching, notes, monkeypatch):
    index = module.index

    async def failing(*args, **options):
        raise LibraryError("The disk is full", "free some")

    monkeypatch.setattr(module, "index", failing)
    (notes / "petra.md").write_text("# Petra\n\nCarved from sandstone.\n")
    assert "disk is full" in str(await asyncio.wait_for(watching.errors.get(), 30))
    await asyncio.sleep(0.3)
    assert watching.errors.empty()
    monkeypatch.setattr(module, "index", index)
    assert (await watching.report()).indexed == 1


async def test_a_folder_that_goes_away_keeps_its_items_until_it_is_back(watching, notes, tmp_path):
    shutil.move(notes, tmp_path / "away")
    assert str(notes) in str(await asyncio.wait_for(watching.errors.get(), 30))
    (tmp_path / "away" / "petra.md").write_text("# Petra\n\nCarved from sandstone.\n")
    shutil.move(tmp_path / "away", notes)
    report = await watching.report()
    assert (report.indexed, report.unchanged, report.removed) == (1, 3, 0)


async def test_a_folder_that_never_rests_is_indexed_all_the_same(watching, notes, monkeypatch):
    monkeypatch.setattr(module, "LONGEST_UNREST", 0.2)
    looks = iter(range(10**9))
    monkeypatch.setattr(module, "_look", lambda paths: str(next(looks)))
    await watching.report()
    await watching.report()


async def test_a_library_that_was_renamed_is_watched_under_its_new_name(watching, notes):
    stores().catalog.rename("default", "travels")
    (notes / "petra.md").write_text("# Petra\n\nCarved from sandstone.\n")
    report = await watching.report()
    assert (report.library, report.indexed, report.unchanged) == ("travels", 1, 3)
    assert [row.name for row in stores().catalog.libraries()] == ["travels"]


async def test_a_library_that_is_renamed_during_the_first_run_is_watched_under_its_new_name(notes, monkeypatch):
    index = module.index

    async def renamed(*args, **options):
        report = await index(*args, **options)
        stores().catalog.rename("default", "travels")
        await create_library("default")
        return report

    monkeypatch.setattr(module, "index", renamed)
    watching = Watching(notes)
    assert (await watching.report()).library == "default"
    monkeypatch.setattr(module, "index", index)
    (notes / "petra.md").write_text("# Petra\n\nCarved from sandstone.\n")
    report = await watching.report()
    watching.task.cancel()
    assert (report.library, report.indexed, report.unchanged) == ("travels", 1, 3)
    assert await (await open_library("default")).sources() == []


async def test_a_library_that_was_made_under_the_old_name_of_a_watched_one_is_left_alone(watching, notes):
    stores().catalog.rename("default", "travels")
    await create_library("default")
    (notes / "petra.md").write_text("# Petra\n\nCarved from sandstone.\n")
    assert (await watching.report()).library == "travels"
    assert await (await open_library("default")).sources() == []


@pytest.mark.parametrize("change", [False, True])
async def test_a_library_that_was_deleted_ends_the_watching_and_is_not_made_again(notes, change):
    watching = Watching(notes)
    await watching.report()
    await delete_library("default")
    if change:
        (notes / "petra.md").write_text("# Petra\n\nCarved from sandstone.\n")
    with pytest.raises(LibraryNotFound, match="'default', which was watched, was deleted"):
        await asyncio.wait_for(watching.task, 30)
    assert stores().catalog.libraries() == [] and watching.errors.empty()


async def test_a_library_that_is_deleted_before_a_run_begins_to_write_ends_the_watching(watching, notes, monkeypatch):
    index = module.index

    async def late(*args, **options):
        await delete_library("default")
        return await index(*args, **options)

    monkeypatch.setattr(module, "index", late)
    (notes / "petra.md").write_text("# Petra\n\nCarved from sandstone.\n")
    await asyncio.wait([watching.task], timeout=30)
    assert isinstance(watching.task.exception(), LibraryNotFound) and stores().catalog.libraries() == []


async def test_a_first_run_that_cannot_be_made_is_an_error(tmp_path):
    with pytest.raises(InputError):
        await watch([tmp_path / "nowhere"])
