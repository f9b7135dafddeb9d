"""A library lives through versions: its catalog is brought up by steps, and a later one is never touched."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from sqlalchemy import text

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import lexical, postgres, schema
from ragweave.corpora.store.catalog_steps import HISTORY, STEPS
from ragweave.corpora.store.folders import catalog_of
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.migrations import History, Step
from ragweave.corpora.store.stores import close_stores, stores
from ragweave.corpora.types import CORPORA
from ragweave.models.errors import LibraryError
from ragweave.tests.conftest import ROOT
from ragweave.tests.support import build_library

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
