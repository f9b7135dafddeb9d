import asyncio
import errno
import os
import shutil
from types import SimpleNamespace

import pytest

from ragweave.corpora.ingest.events import Event
from ragweave.corpora.ingest.run import index
from ragweave.corpora.store import locks
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import InputError, LibraryError, LibraryNotFound
from ragweave.tests.support.stored import found, lay, sound, whole

pytestmark = pytest.mark.both


@pytest.fixture
def notes(tmp_path, read_here):
    """A folder of three notes that nothing has indexed yet."""
    return lay(tmp_path / "notes")


async def test_a_folder_is_indexed_into_both_granularities(notes):
    report = await index([notes])
    assert (report.indexed, report.failed, report.skipped) == (3, [], [])
    assert await found("lighthouse") == await found("lighthouse", "document") == {"alexandria.md"}
    assert dict(await (await open_library()).counts()) == {"paragraph": 3, "document": 3}
    await sound()


async def test_an_unchanged_folder_is_not_read_again(notes):
    await index([notes])
    before = (await whole(), (await open_library()).held.catalog.libraries())
    report = await index([notes])
    assert (report.indexed, report.unchanged, report.items) == (0, 3, 0)
    assert (await whole(), (await open_library()).held.catalog.libraries()) == before


async def test_a_touched_file_costs_a_hash_and_no_more(notes):
    await index([notes])
    os.utime(notes / "rome.md", (1, 1))
    report = await index([notes])
    assert (report.indexed, report.unchanged, report.linked) == (0, 3, 0)


async def test_a_file_of_a_far_future_or_with_a_very_large_inode_is_read_once_as_any_other(notes, monkeypatch):
    def seen(path):
        found = os.stat(path)
        given = {name: getattr(found, name) for name in ("st_size", "st_mtime_ns", "st_ctime_ns")}
        return SimpleNamespace(**given, st_ino=2**64 - 1 - found.st_ino)

    os.utime(notes / "rome.md", (13_000_000_000, 13_000_000_000))
    monkeypatch.setattr("ragweave.corpora.store.files.os", SimpleNamespace(stat=seen))
    assert (await index([notes])).indexed == 3
    for _ in range(2):
        report = await index([notes])
        assert (report.indexed, report.unchanged, report.failed) == (0, 3, [])
    (notes / "rome.md").write_text("# Rome\n\nThe catacombs lie below the Appian Way.\n")
    assert (await index([notes])).indexed == 1
    await sound()


async def test_a_changed_file_replaces_its_items(notes):
    await index([notes])
    (notes / "rome.md").write_text("# Rome\n\nThe catacombs lie below the Appian Way.\n")
    report = await index([notes])
    assert (report.indexed, report.unchanged) == (1, 2)
    assert await found("aqueducts") == set()
    assert await found("catacombs") == {"rome.md"}
    assert len((await sound())["items"]) == 6


async def test_a_change_that_keeps_size_and_time_is_noticed(notes):
    path = notes / "rome.md"
    await index([notes])
    stat, text = path.stat(), path.read_text()
    path.write_text(text.replace("water", "drink"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert path.stat().st_size == stat.st_size
    await index([notes])
    assert await found("drink") == {"rome.md"}


async def test_a_removed_file_is_forgotten(notes):
    await index([notes])
    (notes / "rome.md").unlink()
    told = []
    report = await index([notes], on_event=told.append)
    assert report.removed == 1
    assert Event("removed", str(notes / "rome.md")) in told
    assert await found("aqueducts") == set()
    assert len((await sound())["items"]) == 4


async def test_files_of_a_folder_that_cannot_be_listed_stay_until_it_can(notes, monkeypatch):
    (notes / "deep" / "er").mkdir(parents=True)
    (notes / "rome.md").rename(notes / "deep" / "er" / "rome.md")
    await index([notes])
    look = os.scandir

    def fails(path):
        if str(path).endswith("deep"):
            raise OSError(errno.EIO, "Input/output error")
        return look(path)

    with monkeypatch.context() as at:
        at.setattr(os, "scandir", fails)
        report = await index([notes])
    assert report.removed == 0
    assert report.skipped == [(str(notes / "deep"), "it cannot be opened (Input/output error)")]
    assert await found("aqueducts") == {"rome.md"}
    (notes / "deep" / "er" / "rome.md").unlink()
    assert (await index([notes])).removed == 1


async def test_files_outside_the_given_folder_stay(notes, tmp_path):
    (tmp_path / "notes2").mkdir()
    (tmp_path / "notes2" / "a.md").write_text("Petra was carved from sandstone.")
    await index([notes, tmp_path / "notes2"])
    shutil.rmtree(tmp_path / "notes2")
    await index([notes])
    assert await found("sandstone") == {"a.md"}


async def test_a_removed_and_restored_file_is_indexed_anew(notes):
    await index([notes])
    text = (notes / "rome.md").read_text()
    (notes / "rome.md").unlink()
    await index([notes])
    (notes / "rome.md").write_text(text)
    assert (await index([notes])).indexed == 1
    assert await found("aqueducts") == {"rome.md"}
    await sound()


async def test_equal_files_are_one_source_that_lives_as_long_as_one_of_them(notes):
    shutil.copy(notes / "rome.md", notes / "again.md")
    report = await index([notes])
    assert (report.indexed, report.linked) == (3, 1)
    library = await open_library()
    [source] = [s for s in await library.sources() if len(s.paths) == 2]
    assert source.path == str(notes / "again.md")
    (notes / "again.md").unlink()
    assert (await index([notes])).removed == 1
    assert await found("aqueducts") == {"rome.md"}
    (notes / "rome.md").unlink()
    await index([notes])
    assert await found("aqueducts") == set()
    await sound()


async def test_a_renamed_file_is_not_read_again_and_opens_at_its_new_place(notes):
    await index([notes])
    (notes / "rome.md").rename(notes / "roma.md")
    report = await index([notes])
    assert (report.indexed, report.linked, report.removed) == (0, 1, 1)
    assert await found("aqueducts") == {"roma.md"}


async def test_two_files_that_swap_their_contents_keep_both(notes):
    await index([notes])
    rome, alexandria = notes / "rome.md", notes / "alexandria.md"
    a, b = rome.read_text(), alexandria.read_text()
    rome.write_text(b)
    alexandria.write_text(a)
    await index([notes])
    assert await found("aqueducts") == {"alexandria.md"}
    assert await found("lighthouse") == {"rome.md"}
    assert len((await sound())["items"]) == 6


async def test_bytes_that_leave_one_path_and_arrive_at_a_later_one_are_kept(notes):
    await index([notes])
    text = (notes / "alexandria.md").read_text()
    (notes / "alexandria.md").write_text("# Alexandria\n\nThe museum drew scholars.\n")
    (notes / "zz.md").write_text(text)
    await index([notes])
    assert await found("lighthouse") == {"zz.md"}
    assert await found("scholars") == {"alexandria.md"}
    await sound()


async def test_a_bad_file_is_recorded_with_its_reason_and_the_rest_goes_on(notes):
    (notes / "bad.pdf").write_bytes(b"%PDF-1.7\nnothing of the kind")
    told = []
    report = await index([notes], on_event=told.append)
    assert report.indexed == 3
    [(path, reason)] = report.failed
    assert path == str(notes / "bad.pdf") and reason.endswith(".")
    [source] = [s for s in await (await open_library()).sources() if s.status == "failed"]
    assert (source.path, source.reason, source.items) == (path, reason, 0)
    assert Event("failed", path, reason=reason) in told


async def test_equal_bad_files_each_get_the_reason(notes):
    for name in ("one.py", "two.py", "three.py"):
        (notes / name).touch()
    for _ in range(2):
        report = await index([notes])
        assert (len(report.failed), report.linked) == (3, 0)
        assert len({reason.split(":")[0] for _, reason in report.failed}) == 1


async def test_a_bad_file_is_tried_again_and_its_repair_replaces_the_failure(notes):
    (notes / "bad.pdf").write_bytes(b"%PDF-1.7\nnothing of the kind")
    await index([notes])
    assert len((await index([notes])).failed) == 1
    (notes / "bad.pdf").write_text("It is a text about Nineveh after all.")
    report = await index([notes])
    assert (report.indexed, report.failed) == (1, [])
    assert {s.status for s in await (await open_library()).sources()} == {"ok"}
    assert await found("Nineveh") == {"bad.pdf"}


async def test_a_good_file_that_turns_bad_takes_its_items_with_it(notes):
    await index([notes])
    (notes / "rome.md").write_bytes(b"%PDF-1.7\nnothing of the kind")
    await index([notes])
    assert await found("aqueducts") == set()
    await sound()


async def test_a_file_beyond_the_size_limit_gets_a_sentence(notes, monkeypatch):
    monkeypatch.setenv("RAGWEAVE_MAX_FILE_MB", "1")
    (notes / "huge.txt").touch()
    os.truncate(notes / "huge.txt", 2**30)
    report = await index([notes])
    assert report.indexed == 3
    assert "larger than 1 MiB" in dict(report.failed)[str(notes / "huge.txt")]


@pytest.mark.parametrize("name", ["emoji 🏛.md", "line\nbreak.md", "-rf.md", "a'b\"c%.md"])
async def test_any_name_can_be_indexed_and_removed(notes, name):
    (notes / name).write_text("The ziggurat rose above Ur.")
    await index([notes])
    assert await found("ziggurat") == {name}
    (notes / name).unlink()
    await index([notes])
    assert await found("ziggurat") == set()


async def test_a_path_that_does_not_exist_or_no_path_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="nowhere"):
        await index([tmp_path / "nowhere"])
    with pytest.raises(InputError):
        await index([])


async def test_a_library_of_another_encoder_is_refused_with_the_remedy(notes):
    stores().catalog.create("default", "another-encoder", 7)
    with pytest.raises(LibraryError, match="RAGWEAVE_EMBED=another-encoder"):
        await index([notes])


async def test_a_second_run_waits_and_says_so_or_names_the_holder(notes, home):
    await index([notes])
    [row] = stores().catalog.libraries()
    told = []
    with locks.writer(row.id, "default", 0, print):
        with pytest.raises(LibraryError, match=str(os.getpid())):
            await index([notes], wait=0.1, on_event=told.append)
    assert told[0].kind == "waiting"
    reports = await asyncio.gather(index([notes]), index([notes]))
    assert [r.unchanged for r in reports] == [3, 3]


async def test_a_library_that_another_process_makes_meanwhile_is_gone_on_in(notes, home, monkeypatch):
    catalog = stores().catalog
    look, asked = catalog.library, []

    def found(name):
        asked.append(name)
        if len(asked) > 1:
            return look(name)
        catalog.create(name, "wordllama-l2-256", 256)
        raise LibraryNotFound("There is no library", "make it")

    monkeypatch.setattr(catalog, "library", found)
    assert (await index([notes])).indexed
    assert [row.name for row in catalog.libraries()] == ["default"]


async def test_events_tell_the_story_on_the_callers_loop(notes):
    loop, told = asyncio.get_running_loop(), []

    def listen(event):
        assert asyncio.get_running_loop() is loop
        told.append(event)

    report = await index([notes], on_event=listen)
    assert told[0] == Event("started", total=3)
    assert told[-1] == Event("finished", report=report)
    story = [e.stage or e.kind for e in told if e.path.endswith("rome.md")]
    assert story == ["read", "embed", "commit", "done"]


async def test_a_listener_that_fails_does_not_stop_the_run(notes):
    def listen(event):
        raise RuntimeError

    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    assert (await index([notes], on_event=listen)).indexed == 3


async def test_a_source_tells_its_title_author_date_and_language(tmp_path, home, read_here):
    path = tmp_path / "phare.md"
    path.write_text(
        "---\ntitle: Le phare\nauthor: Anne Morel\ndate: 2019-04-02\n---\n"
        "Le gardien du phare allume la lampe chaque soir, et les bateaux entrent dans le port avec la marée.\n"
    )
    await index([path])
    [source] = await (await open_library()).sources()
    assert (source.title, source.author, source.language) == ("Le phare", "Anne Morel", "fr")
    assert source.date.date().isoformat() == "2019-04-02"


async def test_a_file_that_has_to_wait_until_those_before_it_are_stored_does_not_wait_for_ever(notes, monkeypatch):
    monkeypatch.setattr("ragweave.corpora.ingest.pipeline.IN_FLIGHT", 1)  # one file at a time
    report = await asyncio.wait_for(index([notes]), 120)
    assert report.indexed == 3
