"""What PostgreSQL alone can do to a library: be away, come back, be older or newer, hold one process for another."""

import shutil

import numpy as np
import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store import blobs, locks
from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.library import delete_library, open_library
from ragweave.corpora.store.postgres import PREFIX
from ragweave.corpora.store.repair import repair
from ragweave.corpora.store.schema import bump, sources
from ragweave.corpora.store.stores import close_stores
from ragweave.models.errors import InputError, LibraryError, LibraryNotFound
from ragweave.tests.support.postgres import binaries, private_postgres

EYE = np.eye(1, 4, dtype=np.float32)


def a_source(id_):
    blank = dict.fromkeys("kind title named reason sha256 params_hash author language indexed_at".split(), "")
    return {**blank, "id": id_, "status": "ok", "bytes": 0, "warnings": []}


pytestmark = [pytest.mark.cluster, pytest.mark.parametrize("engine", ["postgres"], indirect=True)]


@pytest.fixture
def database(engine, monkeypatch):
    """A function that runs a statement in the database of the test, as an administrator would."""
    import os
    import re

    import psycopg

    name, folder = re.fullmatch(r".*/(\w+)\?host=(.*)", os.environ["RAGWEAVE_DATABASE_URL"]).groups()

    def execute(statement):
        with psycopg.connect(f"host={folder} user=ragweave dbname={name}", autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    return execute


@pytest.fixture
def mine(engine, home, monkeypatch):
    """A server of this test's own, to be stopped."""
    with private_postgres(binaries()) as server:
        monkeypatch.setenv("RAGWEAVE_DATABASE_URL", server.url("postgres"))
        close_stores()
        from ragweave.corpora.settings import corpora_settings

        corpora_settings.cache_clear()
        yield server
        close_stores()


async def asked(question="aqueducts"):
    library = await open_library()
    [lists] = await library.search("paragraph", [question])
    return len(lists.lexical)


async def test_a_server_that_is_away_is_a_sentence_and_one_that_is_back_answers(mine, tmp_path, read_here):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "rome.md").write_text("# Rome\n\nThe aqueducts carried water.\n")
    await index([tmp_path / "notes"])
    assert await asked() == 1
    mine.stop()
    with pytest.raises(LibraryError, match=r"The database cannot be used.*RAGWEAVE_DATABASE_URL") as told:
        await asked()
    assert "\n" not in str(told.value)
    with pytest.raises(LibraryError, match="cannot be used"):
        await index([tmp_path / "notes"])
    mine.start()
    assert await asked() == 1
    assert (await index([tmp_path / "notes"])).unchanged == 1


def test_a_server_that_ends_in_the_middle_of_a_transaction_is_a_sentence_and_nothing_of_it_is_there(
    mine, home
):
    catalog = Catalog(home)
    row = catalog.create("notes", "enc", 4)
    for statement in (lambda c: blobs.put(c, "clip", "enc", ["a~0"], ["s"], EYE), bump):
        with pytest.raises(LibraryError, match="cannot be used"), catalog.writing(row.id) as connection:
            connection.execute(sources.insert(), a_source("s"))
            mine.stop()
            statement(connection)
        mine.start()
        assert catalog.sources(row.id) == [] and catalog.row(row.id).generation == 0


def test_a_writer_that_lost_its_lock_with_the_server_writes_no_more(mine, home):
    catalog = Catalog(home)
    row = catalog.create("notes", "enc", 4)
    with locks.writer(row.id, "notes", 0):
        with catalog.writing(row.id):
            pass
        mine.stop()
        mine.start()
        with (
            pytest.raises(LibraryError, match="restarted while the library was written"),
            catalog.writing(row.id),
        ):
            pass
    with locks.writer(row.id, "notes", 0), catalog.writing(row.id):
        pass


async def test_a_library_that_was_deleted_comes_back_as_it_was_at_a_point_in_time(
    mine, home, tmp_path, read_here
):
    (tmp_path / "rome.md").write_text("# Rome\n\nAqueducts fed the fountains.\n")
    await index([tmp_path / "rome.md"])
    mine.back_up()
    close_stores()
    (tmp_path / "segovia.md").write_text("# Segovia\n\nAqueducts of granite still stand.\n")
    await index([tmp_path])
    shutil.copytree(
        home, tmp_path / "copy"
    )  # pictures and uploads: after the database, so that none is missing
    [(time,)] = mine.execute("SELECT now()::text")
    await delete_library("default")
    with pytest.raises(LibraryNotFound):
        await open_library()
    close_stores()
    mine.restore(time)
    shutil.rmtree(home)
    shutil.copytree(tmp_path / "copy", home)
    assert await asked() == 2 and (await repair()).sound
    assert (await index([tmp_path])).unchanged == 2


@pytest.mark.parametrize(("version", "said"), [("99", "newer"), ("5", "earlier"), ("not ours", "earlier")])
def test_a_library_of_another_version_is_refused_and_the_others_open(home, database, version, said):
    catalog = Catalog(home)
    catalog.create("old", "enc", 4)
    new = catalog.create("new", "enc", 4)
    catalog.close()
    database(f"COMMENT ON SCHEMA {PREFIX}{new.id} IS '{version}'")
    assert [row.name for row in catalog.libraries()] == ["old"]
    with pytest.raises(LibraryError, match=said):
        catalog.library("new")


async def test_the_doctor_names_the_database_and_no_password(home, monkeypatch):
    from ragweave.app import versions
    from ragweave.corpora.settings import corpora_settings

    [found] = await versions.database()
    assert found.state == "ok" and "PostgreSQL 1" in found.what and "/test_" in found.what
    monkeypatch.setenv("RAGWEAVE_DATABASE_URL", "postgresql+psycopg://u:secret@127.0.0.1:1/x")
    corpora_settings.cache_clear()
    with pytest.raises(LibraryError) as refused:
        await versions.database()
    assert "secret" not in str(refused.value)


def test_a_role_that_may_make_nothing_gets_the_command_that_lets_it(home, database, monkeypatch):
    import os

    from ragweave.corpora.settings import corpora_settings

    database("DROP ROLE IF EXISTS poor")
    database("CREATE ROLE poor LOGIN")
    url = os.environ["RAGWEAVE_DATABASE_URL"]
    monkeypatch.setenv(
        "RAGWEAVE_DATABASE_URL", url.replace("postgresql+psycopg://ragweave@", "postgres://poor@")
    )
    close_stores()
    corpora_settings.cache_clear()
    with pytest.raises(LibraryError, match="GRANT CREATE ON DATABASE"):
        Catalog(home).create("mine", "enc", 4)
    close_stores()


def test_what_was_deleted_half_way_goes_with_the_next_one(home, database):
    catalog = Catalog(home)
    half, other = (catalog.create(name, "enc", 4).id for name in ("half", "other"))
    database(f"ALTER SCHEMA {PREFIX}{half} RENAME TO gone_{PREFIX}{half}")
    with pytest.raises(LibraryNotFound):
        catalog.row(half)
    catalog.delete(other)
    assert database("SELECT nspname FROM pg_namespace WHERE nspname LIKE '%ragweave%'") == []


def test_an_address_that_is_none_is_a_sentence(home, monkeypatch):
    from ragweave.corpora.settings import corpora_settings

    for url, error in (("sqlite:///x", InputError), ("postgresql+psycopg://u:p@h:port/x", LibraryError)):
        monkeypatch.setenv("RAGWEAVE_DATABASE_URL", url)
        corpora_settings.cache_clear()
        with pytest.raises(error, match="RAGWEAVE_DATABASE_URL"):
            Catalog(home).libraries()
