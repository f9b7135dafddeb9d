import asyncio
import shutil

import pytest

from ragweave.corpora.ingest import watch as module
from ragweave.corpora.ingest.watch import watch
from ragweave.models.errors import InputError, LibraryError


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
    assert found.task.cancelled()


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


async def test_a_first_run_that_cannot_be_made_is_an_error(tmp_path):
    with pytest.raises(InputError):
        await watch([tmp_path / "nowhere"])
