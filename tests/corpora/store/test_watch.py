"""What is remembered while nobody commits, and what is asked in one moment."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.folders import catalog_of
from ragweave.corpora.store.schema import bump
from ragweave.corpora.store.together import together


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


async def test_what_is_asked_in_one_moment_is_read_in_one_thread_and_fails_alone() -> None:
    entered: list[int] = []

    @contextmanager
    def around() -> Iterator[None]:
        entered.append(threading.get_ident())
        yield

    reads = [threading.get_ident, lambda: 1 // 0, threading.get_ident]
    first, failed, last = await asyncio.gather(
        *(together("k", r, around) for r in reads), return_exceptions=True
    )
    assert entered == [first] == [last] and first != threading.get_ident()
    assert isinstance(failed, ZeroDivisionError)


async def test_a_reader_that_leaves_costs_the_others_nothing() -> None:
    @contextmanager
    def around() -> Iterator[None]:
        yield

    kept, left = (asyncio.ensure_future(together("k", lambda: "read", around)) for _ in range(2))
    await asyncio.sleep(0)
    left.cancel()
    assert await kept == "read"
    with pytest.raises(asyncio.CancelledError):
        await left
