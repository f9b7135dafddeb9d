import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.folders import catalog_of
from ragweave.corpora.store.schema import bump
from ragweave.models.errors import LibraryNotFound


@pytest.fixture
def made(tmp_path: Path) -> tuple[Catalog, str]:
    catalog = Catalog(tmp_path)
    return catalog, catalog.create("watched", "wordllama-l2-256", 256).id


def test_what_is_remembered_is_forgotten_when_another_process_commits(made: tuple[Catalog, str]) -> None:
    catalog, library = made
    memory = catalog.memory(library)
    assert catalog.row(library).name == "watched" and catalog.memory(library) is memory
    with sqlite3.connect(catalog_of(catalog._home, library)) as other:
        other.execute("UPDATE about SET name = 'renamed'")
    assert catalog.row(library).name == "renamed" and catalog.memory(library) is not memory


def test_a_transaction_fills_the_memory_of_the_state_that_it_sees(made: tuple[Catalog, str]) -> None:
    catalog, library = made
    with catalog.reading(library):
        memory = catalog.memory(library)
        catalog.counts(library)
        with catalog.writing(library) as connection:
            bump(connection)
        assert catalog.memory(library) is memory
    assert catalog.memory(library) is not memory


def test_a_catalog_that_was_replaced_or_deleted_is_not_remembered(made: tuple[Catalog, str]) -> None:
    catalog, library = made
    path, memory = catalog_of(catalog._home, library), catalog.memory(library)
    shutil.copy(path, copy := path.with_name("copy"))
    os.replace(copy, path)
    assert catalog.memory(library) is not memory
    path.unlink()
    with pytest.raises(LibraryNotFound):
        catalog.memory(library)
