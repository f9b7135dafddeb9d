import sqlite3
from contextlib import closing

import pytest

from ragweave.corpora.store import schema
from ragweave.corpora.store.catalog import Catalog, check_name
from ragweave.corpora.store.schema import SCHEMA_VERSION
from ragweave.models.errors import DamagedError, InputError, LibraryError, LibraryNotFound

pytestmark = pytest.mark.both


@pytest.fixture
def catalog(tmp_path):
    found = Catalog(tmp_path / "home")
    yield found
    found.close()


@pytest.mark.parametrize(
    "name", ["default", "Заметки", "我的图书馆", "ملاحظات", "my notes / 2026", "🗂", "می‌خواهم"]
)
def test_a_library_may_be_named_in_any_script(catalog, name):
    made = catalog.create(name, "enc", 3)
    assert catalog.library(name) == made
    assert made.id.isascii() and made.id.isalnum()


@pytest.mark.parametrize("name", ["", "   ", "a" * 101, "a\nb", "a\x00b", "a\u202eb", "a\u200bb", "a\ud800"])
def test_a_name_that_is_empty_long_or_deceives_is_refused(catalog, name):
    with pytest.raises(InputError):
        catalog.create(name, "enc", 3)


def test_two_spellings_of_the_same_name_are_one_library(catalog):
    catalog.create("caf\u00e9", "enc", 3)
    assert catalog.library(" cafe\u0301 ").name == check_name("café")
    with pytest.raises(LibraryError, match="exists"):
        catalog.create("cafe\u0301", "enc", 3)


def file_of(catalog, tmp_path, name):
    return tmp_path / "home" / "libraries" / catalog.library(name).id / "catalog.sqlite"


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


def test_an_id_that_leads_out_of_the_home_is_no_library(catalog):
    for id_ in ("..", "../../etc", ".hidden", "", "a/b"):
        with pytest.raises(LibraryNotFound):
            catalog.row(id_)


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


@pytest.mark.sqlite
@pytest.mark.parametrize("told", [False, True])
def test_a_library_that_a_process_keeps_to_itself_is_read_or_what_holds_it_is_named(
    catalog, tmp_path, monkeypatch, told
):
    """So a process holds a library that is stopped while it closes it; where it has left its log, nobody else reads."""
    library, path = catalog.create("held", "enc", 3), file_of(catalog, tmp_path, "held")
    catalog.close()
    monkeypatch.setattr(schema, "OPENING", 0.1)
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
