import sqlite3

import pytest

from ragweave.corpora.store.catalog import Catalog, check_name
from ragweave.corpora.store.schema import SCHEMA_VERSION
from ragweave.models.errors import InputError, LibraryError, LibraryNotFound


@pytest.fixture
def catalog(tmp_path):
    found = Catalog(tmp_path / "home" / "catalog.sqlite")
    yield found
    found.close()


@pytest.mark.parametrize("name", ["default", "Заметки", "我的图书馆", "ملاحظات", "my notes / 2026", "🗂", "می‌خواهم"])
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


def test_a_rename_keeps_the_id_and_refuses_a_taken_name(catalog):
    first = catalog.create("a", "enc", 3)
    catalog.create("b", "enc", 3)
    catalog.rename("a", "c")
    assert catalog.library("c").id == first.id
    with pytest.raises(LibraryNotFound):
        catalog.library("a")
    with pytest.raises(LibraryError, match="exists"):
        catalog.rename("c", "b")


def test_libraries_come_by_name_and_a_deleted_one_is_gone(catalog):
    for name in ("b", "a"):
        catalog.create(name, "enc", 3)
    assert [row.name for row in catalog.libraries()] == ["a", "b"]
    gone = catalog.library("a").id
    catalog.delete(gone)
    with pytest.raises(LibraryNotFound):
        catalog.generation(gone)


def test_a_catalog_of_a_newer_version_is_refused_with_the_remedy(tmp_path):
    path = tmp_path / "catalog.sqlite"
    Catalog(path).close()
    with sqlite3.connect(path) as raw:
        raw.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    raw.close()
    with pytest.raises(LibraryError, match=r"newer Ragweave.*[Uu]pgrade"):
        Catalog(path)


def test_a_library_of_a_newer_version_is_refused_and_the_others_open(catalog, tmp_path):
    catalog.create("old", "enc", 3)
    catalog.create("new", "enc", 3)
    with sqlite3.connect(tmp_path / "home" / "catalog.sqlite") as raw:
        raw.execute("UPDATE libraries SET schema_version = 99 WHERE name = 'new'")
    raw.close()
    assert catalog.library("old")
    with pytest.raises(LibraryError, match="newer Ragweave"):
        catalog.library("new")


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough to be one" * 20, b"SQLite format 3\0" + b"\xff" * 500]
)
def test_a_file_that_is_no_catalog_gets_a_sentence(tmp_path, content):
    path = tmp_path / "catalog.sqlite"
    path.write_bytes(content)
    with pytest.raises(LibraryError, match="RAGWEAVE_HOME"):
        Catalog(path)


def test_a_home_that_is_a_file_gets_a_sentence(tmp_path):
    (tmp_path / "home").write_text("x")
    with pytest.raises(LibraryError, match="RAGWEAVE_HOME"):
        Catalog(tmp_path / "home" / "catalog.sqlite")


@pytest.mark.parametrize("version", [1, 2])
def test_a_catalog_of_an_older_version_is_brought_up_to_date_with_what_it_holds(tmp_path, version):
    path = tmp_path / "catalog.sqlite"
    made = Catalog(path)
    row = made.create("old", "enc", 3)
    made.close()
    with sqlite3.connect(path) as raw:
        for column in ("half_life", "recency") if version == 2 else ("half_life", "recency", "epoch"):
            raw.execute(f"ALTER TABLE libraries DROP COLUMN {column}")
        raw.execute(f"PRAGMA user_version = {version}")
    raw.close()
    again = Catalog(path)
    assert again.library("old") == row
    assert again.set_ageing("old", "on", 30).half_life == 30
    again.close()


def test_a_library_says_how_its_documents_age_and_forgets_it_again(catalog):
    catalog.create("news", "enc", 3)
    assert (catalog.library("news").recency, catalog.library("news").half_life) == ("auto", None)
    catalog.set_ageing("news", "on", 30)
    catalog.set_ageing("news", None, None)
    assert (catalog.library("news").recency, catalog.library("news").half_life) == ("on", 30)
    catalog.set_ageing("news", "auto", 0)
    assert (catalog.library("news").recency, catalog.library("news").half_life) == ("auto", None)


@pytest.mark.parametrize(
    ("recency", "half_life", "words"),
    [
        ("sometimes", None, "auto, on or off"),
        ("", None, "auto, on or off"),
        (None, -1.0, "half-life of -1"),
        (None, 36_501.0, "half-life of 36501"),
        (None, float("nan"), "half-life of nan"),
        (None, float("inf"), "half-life of inf"),
    ],
)
def test_an_ageing_that_means_nothing_is_refused_and_changes_nothing(catalog, recency, half_life, words):
    before = catalog.create("news", "enc", 3)
    with pytest.raises(InputError, match=words):
        catalog.set_ageing("news", recency, half_life)
    assert catalog.library("news") == before
