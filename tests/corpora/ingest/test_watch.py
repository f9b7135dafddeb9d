import asyncio

import pytest

from ragweave.corpora.ingest import watch as module
from ragweave.corpora.ingest.watch import watch
from ragweave.corpora.store.library import create_library, delete_library, open_library
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import LibraryError, LibraryNotFound

PETRA = "# Petra\n\nCarved from sandstone.\n"


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


async def test_what_comes_changes_and_goes_is_indexed_in_turn_and_a_quiet_folder_not(watching, notes):
    (notes / "petra.md").write_text(PETRA)
    assert (await watching.report()).indexed == 1
    (notes / "petra.md").write_text(PETRA.replace("from", "from red"))
    assert (await watching.report()).indexed == 1
    (notes / "petra.md").unlink()
    assert (await watching.report()).removed == 1
    await asyncio.sleep(0.3)
    assert watching.reports.empty()


async def test_an_error_is_told_once_and_survived(watching, notes, monkeypatch):
    async def failing(*args, **options):
        raise LibraryError("The disk is full", "free some")

    with monkeypatch.context() as full:
        full.setattr(module, "index", failing)
        (notes / "petra.md").write_text(PETRA)
        assert "disk is full" in str(await asyncio.wait_for(watching.errors.get(), 30))
        await asyncio.sleep(0.3)
        assert watching.errors.empty()
    assert (await watching.report()).indexed == 1


@pytest.mark.parametrize("during", [False, True])
async def test_a_renamed_library_is_watched_under_its_new_name_and_one_under_the_old_left_alone(
    notes, monkeypatch, during
):
    index = module.index

    async def rename():
        stores().catalog.rename("default", "travels")
        await create_library("default")

    async def renamed(*args, **options):
        report = await index(*args, **options)
        await rename()
        return report

    with monkeypatch.context() as at:
        at.setattr(module, "index", renamed if during else index)
        watching = Watching(notes)
        await watching.report()
    if not during:
        await rename()
    (notes / "petra.md").write_text(PETRA)
    report = await watching.report()
    watching.task.cancel()
    assert (report.library, report.indexed, report.unchanged) == ("travels", 1, 3)
    assert await (await open_library("default")).sources() == []


@pytest.mark.parametrize("when", ["at rest", "in a run"])
async def test_a_library_that_was_deleted_ends_the_watching_and_is_not_made_again(
    watching, notes, monkeypatch, when
):
    index = module.index

    async def late(*args, **options):
        await delete_library("default")
        return await index(*args, **options)

    if when == "in a run":
        monkeypatch.setattr(module, "index", late)
        (notes / "petra.md").write_text(PETRA)
    else:
        await delete_library("default")
    with pytest.raises(LibraryNotFound, match="library"):
        await asyncio.wait_for(watching.task, 30)
    assert stores().catalog.libraries() == []
