"""A library lives through versions: its catalog is brought up by steps, and a later one is never touched."""

from __future__ import annotations

import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import lexical, postgres, schema, sqlite_file
from ragweave.corpora.store.catalog import Catalog, check_name
from ragweave.corpora.store.catalog_steps import HISTORY, STEPS
from ragweave.corpora.store.folders import catalog_of
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.migrations import History, Step
from ragweave.corpora.store.schema import SCHEMA_VERSION
from ragweave.corpora.store.stores import close_stores, stores
from ragweave.corpora.types import CORPORA
from ragweave.models.errors import DamagedError, InputError, LibraryError, LibraryNotFound
from ragweave.tests.conftest import ROOT
from ragweave.tests.support.library import build_library


@pytest.fixture
def catalog(tmp_path):
    found = Catalog(tmp_path / "home")
    yield found
    found.close()


@pytest.mark.both
@pytest.mark.parametrize(
    "name", ["default", "Заметки", "我的图书馆", "ملاحظات", "my notes / 2026", "🗂", "می‌خواهم"]
)
def test_a_library_may_be_named_in_any_script(catalog, name):
    made = catalog.create(name, "enc", 3)
    assert catalog.library(name) == made
    assert made.id.isascii() and made.id.isalnum()


@pytest.mark.both
@pytest.mark.parametrize("name", ["", "   ", "a" * 101, "a\nb", "a\x00b", "a\u202eb", "a\u200bb", "a\ud800"])
def test_a_name_that_is_empty_long_or_deceives_is_refused(catalog, name):
    with pytest.raises(InputError):
        catalog.create(name, "enc", 3)


@pytest.mark.both
def test_two_spellings_of_the_same_name_are_one_library(catalog):
    catalog.create("caf\u00e9", "enc", 3)
    assert catalog.library(" cafe\u0301 ").name == check_name("café")
    with pytest.raises(LibraryError, match="exists"):
        catalog.create("cafe\u0301", "enc", 3)


def file_of(catalog, tmp_path, name):
    return tmp_path / "home" / "libraries" / catalog.library(name).id / "catalog.sqlite"


@pytest.mark.both
@pytest.mark.sqlite
def test_a_library_of_a_newer_version_is_refused_with_the_remedy_and_the_others_open(catalog, tmp_path):
    catalog.create("old", "enc", 3)
    catalog.create("new", "enc", 3)
    path = file_of(catalog, tmp_path, "new")
    catalog.close()
    with sqlite3.connect(path) as raw:
        raw.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    raw.close()
    assert [row.name for row in catalog.libraries()] == ["old"]
    assert catalog.library("old")
    with pytest.raises(LibraryError, match=r"newer Ragweave.*[Uu]pgrade"):
        Catalog(tmp_path / "home").library("new")


@pytest.mark.both
@pytest.mark.sqlite
@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough to be one" * 20, b"SQLite format 3\0" + b"\xff" * 500]
)
def test_a_file_that_is_no_catalog_gets_a_sentence(catalog, tmp_path, content):
    catalog.create("a", "enc", 3)
    path = file_of(catalog, tmp_path, "a")
    catalog.close()
    path.write_bytes(content)
    with pytest.raises(LibraryError, match="RAGWEAVE_HOME"):
        Catalog(tmp_path / "home").library("a")


@pytest.mark.both
@pytest.mark.sqlite
@pytest.mark.parametrize("emptied", ["file", "rows"])
def test_a_catalog_that_is_empty_is_told_as_damaged_and_the_others_open(catalog, tmp_path, emptied):
    good, bad = catalog.create("good", "enc", 3), catalog.create("bad", "enc", 3)
    path = file_of(catalog, tmp_path, "bad")
    catalog.close()
    if emptied == "file":
        path.write_bytes(b"")
    else:
        with sqlite3.connect(path) as raw:
            raw.execute("DELETE FROM about")
        raw.close()
    for again in range(2):
        other = Catalog(tmp_path / "home")
        assert other.libraries()[0] == other.library("good") == good
        assert other.create(f"third {again}", "enc", 3).name in [row.name for row in other.libraries()]
        with pytest.raises(DamagedError, match=f"damaged.*{bad.id}.*Put a copy"):
            other.library("bad")
        other.close()


@pytest.mark.both
def test_an_id_that_leads_out_of_the_home_is_no_library(catalog):
    for id_ in ("..", "../../etc", ".hidden", "", "a/b"):
        with pytest.raises(LibraryNotFound):
            catalog.row(id_)


@pytest.mark.both
def test_a_library_says_how_its_documents_age_and_what_means_nothing_changes_nothing(catalog):
    catalog.create("news", "enc", 3)
    for recency, half_life, then in (
        ("on", 30, ("on", 30)),
        (None, None, ("on", 30)),
        ("auto", 0, ("auto", None)),
    ):
        catalog.set_ageing("news", recency, half_life)
        assert (catalog.library("news").recency, catalog.library("news").half_life) == then
    before = catalog.library("news")
    for recency in ("sometimes", ""):
        with pytest.raises(InputError, match="auto, on or off"):
            catalog.set_ageing("news", recency, None)
    for half_life in (-1.0, 36_501.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match=f"half-life of {half_life:g}"):
            catalog.set_ageing("news", None, half_life)
    assert catalog.library("news") == before


@pytest.mark.both
@pytest.mark.sqlite
@pytest.mark.parametrize("told", [False, True])
def test_a_library_that_a_process_keeps_to_itself_is_read_or_what_holds_it_is_named(
    catalog, tmp_path, monkeypatch, told
):
    """So a process holds a library that is stopped while it closes it; where it has left its log, nobody else reads."""
    library, path = catalog.create("held", "enc", 3), file_of(catalog, tmp_path, "held")
    catalog.close()
    monkeypatch.setattr(sqlite_file, "OPENING", 0.1)
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        if told:
            holder.execute("UPDATE about SET name = 'other'")
            holder.execute("COMMIT")
        beside = Catalog(tmp_path / "home")
        if told:
            with pytest.raises(LibraryError, match="held by another process"):
                beside.library("held")
        else:
            assert beside.library("held") == library
        beside.close()


HOMES = sorted((ROOT / "tests" / "data" / "homes").glob("*.zip"))
TEXTS = {"a.md": "# A\n\nThe harbour was built in 1874.\n"}


def become(monkeypatch: pytest.MonkeyPatch, steps: dict[int, Step]) -> History:
    """Be the program that knows these steps beyond today's."""
    later = History(HISTORY.oldest, STEPS | steps)
    for module in (schema, postgres):
        monkeypatch.setattr(module, "HISTORY", later)
        monkeypatch.setattr(module, "SCHEMA_VERSION", later.newest)
    close_stores()
    return later


@pytest.mark.both
async def test_a_catalog_is_brought_up_once_and_the_program_before_refuses_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await build_library(tmp_path / "notes", TEXTS)
    id, next_one = stores().catalog.library("default").id, HISTORY.newest + 1
    step = {next_one: "CREATE TABLE extra (n INTEGER, data BLOB); INSERT INTO extra (n) VALUES (7)"}
    become(monkeypatch, step)
    for _ in range(2):
        opened = await open_library("default")
        (hits,) = await opened.search("paragraph", ["harbour built"], k=3)
        assert hits.lexical
        with stores().catalog.reading(id) as connection:
            assert connection.execute(text("SELECT n FROM extra")).scalars().all() == [7]
        close_stores()
    before = None if corpora_settings().database else catalog_of(home, id).read_bytes()
    become(monkeypatch, {})
    with pytest.raises(LibraryError, match=f"newer Ragweave.*tables {next_one}"):
        await open_library("default")
    assert before is None or catalog_of(home, id).read_bytes() == before


@pytest.mark.both
async def test_a_step_that_fails_leaves_the_catalog_as_it_was(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await build_library(tmp_path / "notes", TEXTS)
    become(monkeypatch, {HISTORY.newest + 1: "CREATE TABLE extra (n INTEGER); SELECT no_such_function()"})
    with pytest.raises(Exception, match="no_such_function"):
        await open_library("default")
    become(monkeypatch, {})
    assert (await (await open_library("default")).counts())["paragraph"] == 1


def test_tables_of_a_number_without_a_step_are_refused() -> None:
    history = History(3, {4: "", 5: ""})
    assert history.newest == 5
    for number, words in ((2, "earlier Ragweave"), (6, "newer Ragweave")):
        with pytest.raises(LibraryError, match=words):
            history.check(number, "It")


@pytest.mark.sqlite
@pytest.mark.parametrize("kept", HOMES, ids=lambda path: path.stem)
async def test_the_words_of_an_earlier_catalog_are_found_and_can_be_removed(kept: Path, home: Path) -> None:
    with zipfile.ZipFile(kept) as homes:
        homes.extractall(home)
    library = await open_library("default")
    [lists] = await library.search("paragraph", ["lamp of the lighthouse"])
    found = await library.items([hit.id for hit in lists.lexical])
    assert "1874" in found[lists.lexical[0].id].text
    with stores().catalog.writing(library.id) as connection:
        for name in map(lexical.table, CORPORA):
            check = f"INSERT INTO {name}({name}, rank) VALUES ('integrity-check', 1)"
            connection.exec_driver_sql(check)
    await library.remove(found[lists.lexical[0].id].source)
    [lists] = await library.search("paragraph", ["lamp of the lighthouse"])
    assert not lists.lexical
    [lists] = await library.search("paragraph", ["the ferry"])
    assert lists.lexical
