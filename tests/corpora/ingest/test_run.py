"""Documents of LangChain loaders, and what its retrievers found, as sources of a library."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from pathlib import Path

import pytest
from langchain_core.documents import Document
from sqlalchemy import select

from ragweave import Context, aask, aindex
from ragweave.corpora.ingest.events import Event
from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.ingest.run import index
from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.store import locks
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.schema import items
from ragweave.corpora.store.stores import close_stores, stores
from ragweave.models.errors import InputError, LibraryError
from ragweave.tests.support.stored import found, lay, sound, whole

FULL = LibraryError("The catalog cannot be used (database or disk is full)", "x")
BAD = b"%PDF-1.7\nnothing of the kind"
CATACOMBS = "# Rome\n\nThe catacombs lie below the Appian Way.\n"


@pytest.fixture
def notes(tmp_path, read_here):
    """A folder of three notes that nothing has indexed yet."""
    return lay(tmp_path / "notes")


@pytest.mark.both
async def test_a_folder_is_indexed_once_into_both_granularities(notes):
    report = await index([notes])
    assert (report.indexed, report.failed, report.skipped) == (3, [], [])
    assert await found("lighthouse") == await found("lighthouse", "document") == {"alexandria.md"}
    assert dict(await (await open_library()).counts()) == {"paragraph": 3, "document": 3}
    before = (await whole(), stores().catalog.libraries())
    os.utime(notes / "rome.md", (1, 1))
    report = await index([notes])
    assert (report.indexed, report.unchanged, report.linked, report.items) == (0, 3, 0, 0)
    assert (await whole(), stores().catalog.libraries()) == before
    await sound()


@pytest.mark.both
async def test_a_changed_file_replaces_its_items_even_where_size_and_time_stay(notes):
    path = notes / "rome.md"
    await index([notes])
    stat, text = path.stat(), path.read_text()
    path.write_text(text.replace("water", "drink"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert path.stat().st_size == stat.st_size
    report = await index([notes])
    assert (report.indexed, report.unchanged, await found("drink"), await found("water")) == (
        1,
        2,
        {"rome.md"},
        set(),
    )
    assert len((await sound())["items"]) == 6


@pytest.mark.both
@pytest.mark.parametrize("name", ["rome.md", "line\nbreak 🏛.md", "-rf a'b\"c%.md"])
async def test_a_removed_file_of_any_name_is_forgotten_and_indexed_anew_when_it_is_back(notes, name):
    path, told = (notes / "rome.md").rename(notes / name), []
    await index([notes])
    text = path.read_text()
    path.unlink()
    report = await index([notes], on_event=told.append)
    assert report.removed == 1 and Event("removed", str(path)) in told
    assert await found("aqueducts") == set() and len((await sound())["items"]) == 4
    path.write_text(text)
    assert (await index([notes])).indexed == 1 and await found("aqueducts") == {name}
    await sound()


@pytest.mark.both
async def test_files_of_a_folder_that_cannot_be_listed_or_was_not_given_stay(notes, tmp_path, monkeypatch):
    (notes / "deep" / "er").mkdir(parents=True)
    (notes / "rome.md").rename(notes / "deep" / "er" / "rome.md")
    (tmp_path / "notes2").mkdir()
    (tmp_path / "notes2" / "a.md").write_text("Petra was carved from sandstone.")
    await index([notes, tmp_path / "notes2"])
    shutil.rmtree(tmp_path / "notes2")
    look = os.scandir

    def fails(path):
        if str(path).endswith("deep"):
            raise OSError(errno.EIO, "Input/output error")
        return look(path)

    with monkeypatch.context() as at:
        at.setattr(os, "scandir", fails)
        report = await index([notes])
    assert report.skipped == [(str(notes / "deep"), "it cannot be opened (Input/output error)")]
    assert (report.removed, await found("aqueducts"), await found("sandstone")) == (0, {"rome.md"}, {"a.md"})
    (notes / "deep" / "er" / "rome.md").unlink()
    assert (await index([notes])).removed == 1


@pytest.mark.both
async def test_a_folder_that_is_suddenly_empty_is_forgotten_only_by_a_run_that_may(notes):
    await index([notes])
    count = len(list(notes.iterdir()))
    for path in notes.iterdir():
        path.unlink()
    report = await index([notes])
    assert (report.removed, report.kept) == (0, [(str(notes), count, count)])
    assert f"{count} of {count} files of {notes} are gone" in report.notes[0] and await found("aqueducts")
    report = await index([notes], forgets=True)
    assert (report.removed, report.kept, await found("aqueducts")) == (count, [], set())


@pytest.mark.both
async def test_equal_files_are_one_source_that_lives_as_long_as_one_of_them(notes):
    shutil.copy(notes / "rome.md", notes / "again.md")
    report = await index([notes])
    assert (report.indexed, report.linked) == (3, 1)
    [source] = [s for s in await (await open_library()).sources() if len(s.paths) == 2]
    assert source.path == str(notes / "again.md")
    for name, left in (("again.md", {"rome.md"}), ("rome.md", set())):
        (notes / name).unlink()
        assert (await index([notes])).removed == 1 and await found("aqueducts") == left
    await sound()


@pytest.mark.both
async def test_bytes_that_move_among_paths_are_kept(notes):
    rome, alexandria, late = notes / "rome.md", notes / "alexandria.md", notes / "zz.md"
    await index([notes])
    a, b = rome.read_text(), alexandria.read_text()
    rome.write_text(b)
    alexandria.write_text(a)
    await index([notes])
    assert (await found("aqueducts"), await found("lighthouse")) == ({"alexandria.md"}, {"rome.md"})
    alexandria.write_text(CATACOMBS)
    late.write_text(a)
    await index([notes])
    assert (await found("aqueducts"), await found("catacombs")) == ({"zz.md"}, {"alexandria.md"})
    late.rename(notes / "roma.md")
    report = await index([notes])
    assert (report.linked, report.removed, await found("aqueducts")) == (1, 1, {"roma.md"})
    catalog, row = stores().catalog, stores().catalog.libraries()[0]
    with catalog.reading(row.id) as connection:
        stored = connection.execute(select(items.c.locator)).scalars().all()
    assert {Path(where["file"]).name for where in stored} == {p.name for p in notes.iterdir()}, (
        "as they are stored"
    )
    await sound()


@pytest.mark.both
async def test_a_bad_file_is_recorded_tried_again_and_replaced_by_its_repair(notes, monkeypatch):
    monkeypatch.setenv("RAGWEAVE_MAX_FILE_MB", "1")
    bad, huge, told = notes / "bad.pdf", notes / "huge.txt", []
    bad.write_bytes(BAD)
    huge.touch()
    os.truncate(huge, 2**30)
    for name in ("one.py", "two.py", "three.py"):
        (notes / name).touch()
    report = await index([notes], on_event=told.append)
    failed = dict(report.failed)
    assert (report.indexed, len(failed)) == (3, 5) and "larger than 1 MiB" in failed[str(huge)]
    assert len({why.split(":")[0] for path, why in failed.items() if path.endswith(".py")}) == 1
    [source] = [s for s in await (await open_library()).sources() if s.path == str(bad)]
    assert (source.status, source.reason, source.items) == ("failed", failed[str(bad)], 0)
    assert (str(bad), failed[str(bad)]) in [(e.path, e.reason) for e in told if e.kind == "failed"]
    assert len((await index([notes])).failed) == 5
    bad.write_text("It is a text about Nineveh after all.")
    (notes / "rome.md").write_bytes(BAD)
    report = await index([notes])
    assert (report.indexed, len(report.failed)) == (1, 5)
    assert (await found("Nineveh"), await found("aqueducts")) == ({"bad.pdf"}, set())
    await sound()


@pytest.mark.both
async def test_what_cannot_be_indexed_at_all_is_an_error_with_its_remedy(notes, tmp_path):
    with pytest.raises(InputError, match="nowhere"):
        await index([tmp_path / "nowhere"])
    with pytest.raises(InputError):
        await index([])
    stores().catalog.create("default", "another-encoder", 7)
    with pytest.raises(LibraryError, match="RAGWEAVE_EMBED=another-encoder"):
        await index([notes])


@pytest.mark.both
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


@pytest.mark.both
async def test_events_tell_the_story_on_the_callers_loop_and_a_listener_may_fail(notes, monkeypatch):
    monkeypatch.setattr("ragweave.corpora.ingest.pipeline.IN_FLIGHT", 1)  # a file waits for those before it
    loop, told = asyncio.get_running_loop(), []
    loop.set_exception_handler(lambda *_: None)

    def listen(event):
        assert asyncio.get_running_loop() is loop
        told.append(event)
        raise RuntimeError

    report = await asyncio.wait_for(index([notes], on_event=listen), 120)
    assert told[0] == Event("started", total=3) and told[-1] == Event("finished", report=report)
    story = [e.stage or e.kind for e in told if e.path.endswith("rome.md")]
    assert story == ["read", "embed", "commit", "done"] and report.indexed == 3


@pytest.mark.both
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
async def test_a_commit_that_fails_anywhere_changes_nothing_and_the_next_run_makes_it(
    notes, where, error, monkeypatch
):
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


@pytest.mark.both
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


@pytest.mark.both
@pytest.mark.parametrize("vanishes", [False, True])
async def test_a_file_that_changes_while_it_is_read_is_stated_and_one_that_vanishes_goes(
    notes, monkeypatch, vanishes
):
    await index([notes])
    path = notes / "rome.md"
    path.write_text(CATACOMBS)

    def read(self, where, source, words, *more, **_):
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


loaders = pytest.importorskip("langchain_community.document_loaders", reason="`make setup-dev` installs it")
SOURCE = "/mnt/../Tarn Mill: a history.pdf"


def pages(*texts: str) -> list[Document]:
    return [Document(text, metadata={"source": SOURCE, "page": n}) for n, text in enumerate(texts)]


async def told(question: str) -> str:
    return (await aask(question, context=Context(mode="extractive"))).text


async def test_pages_of_one_source_are_one_file_that_is_cited_and_replaced(home: Path) -> None:
    first = pages("The Tarn Mill made paper.", "It was set up by Ilse Marwen in 1871.")
    report = await aindex(documents=first)
    assert (report.indexed, report.failed) == (1, [])
    answer = await aask("Who set up the Tarn Mill?", context=Context(mode="extractive"))
    file = Path(answer.citations[0].locator["file"])
    assert "Ilse Marwen" in answer.text and file.name == "Tarn Mill a history.txt" and home in file.parents
    assert (await aindex(documents=first)).unchanged == 1
    await aindex(documents=pages("The Tarn Mill made paper.", "It was set up by Bert Osk in 1950."))
    text = await told("Who set up the Tarn Mill?")
    assert "Bert Osk" in text and "Ilse" not in text


async def test_rows_without_a_source_are_documents_of_their_own_and_empty_ones_refused(home: Path) -> None:
    with pytest.raises(InputError, match="no text"):
        await aindex(documents=[Document(" \n")])
    rows = [Document("Rye bread is baked at 250 degrees."), Document(""), Document("The moon has craters.")]
    assert (await aindex(documents=[*rows, *pages("The Tarn Mill made paper.")])).indexed == 3
    assert len(await (await open_library()).sources()) == 3


async def test_what_loaders_of_the_community_read_answers(home: Path, tmp_path: Path) -> None:
    (tmp_path / "ferries.csv").write_text("ferry,captain\nHeron,Bert Osk\nGull,Ada Lund\n")
    assert (await aindex(documents=loaders.CSVLoader(str(tmp_path / "ferries.csv")).load())).indexed == 1
    assert "Ada Lund" in await told("Who is captain of the Gull?")
