"""A library moves between files and a database and is the same: ids, vectors, words and what a search finds."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import lexical, transfer
from ragweave.corpora.store.beside import FileBeside, beside
from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.folders import catalog_of
from ragweave.corpora.store.library import delete_library, open_library
from ragweave.corpora.store.prepared import chunks, terms_of
from ragweave.corpora.store.schema import bump, indexes, metadata
from ragweave.corpora.store.stores import close_stores, stores
from ragweave.corpora.store.together import together
from ragweave.corpora.store.transfer import copy_library
from ragweave.corpora.types import CORPORA, Item, whole_of
from ragweave.models.errors import InputError, LibraryError
from ragweave.tests.conftest import Main
from ragweave.tests.support.library import build_library
from ragweave.tests.support.postgres import Postgres

TEXTS = {
    f"n{n}.md": f"# Note {n}\n\nThe harbour {n} was built in {1800 + n}.\n\n## More\n\nIt holds {n} boats.\n"
    for n in range(30)
}
TEXTS["tide.md"] = "# Über Gezeiten\n\nEbbe und Flut – 潮汐 – kommen zweimal am Tag.\n"


def use(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    close_stores()
    if url:
        monkeypatch.setenv("RAGWEAVE_DATABASE_URL", url)
    else:
        monkeypatch.delenv("RAGWEAVE_DATABASE_URL", raising=False)
    corpora_settings.cache_clear()


def held(name: str) -> dict[str, Any]:
    """Return every row of a library but those of its index."""
    catalog = stores().catalog
    with catalog.reading(catalog.library(name).id) as connection:
        found: dict[str, Any] = {}
        for table in metadata.sorted_tables:
            if table is not indexes:
                rows = connection.execute(select(table).order_by(*table.primary_key)).mappings()
                found[table.name] = [dict(row) for row in rows]
        for corpus in CORPORA:
            words = text(f"SELECT rowid, title, heading, text FROM {lexical.table(corpus)} ORDER BY rowid")
            found[f"words of {corpus}"] = [tuple(row) for row in connection.execute(words)]
    return found


async def sought(name: str) -> list[Any]:
    library = await open_library(name)
    lists = await library.search("paragraph", ["harbour 7 built", "潮汐 Flut"], k=8)
    return [[(h.id, round(h.score, 4)) for h in one.lexical] + [h.id for h in one.dense] for one in lists]


async def test_a_library_moves_to_a_database_and_back(
    postgres: Postgres, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await build_library(tmp_path / "notes", TEXTS, "notes")
    before, found, id = held("notes"), await sought("notes"), stores().catalog.library("notes").id
    with postgres.database() as url:
        copied = await copy_library("notes", url)
        assert (copied.id, copied.sources) == (id, len(TEXTS)) and held("notes") == before
        use(monkeypatch, url)
        assert held("notes") == before and await sought("notes") == found
        await build_library(
            tmp_path / "more", {"more.md": "# More\n\nThe pier was built in 1950.\n"}, "notes"
        )
        again, found = held("notes"), await sought("notes")
        assert len(again["vectors"]) > len(before["vectors"])  # new rows go on after the copied ones
        with pytest.raises(LibraryError, match="copied there before"):
            await copy_library("notes", "sqlite")
        await copy_library("notes", "sqlite", replace=True)
        use(monkeypatch, "")
        (about,) = again["about"]
        assert held("notes") == again | {"about": [about | {"generation": about["generation"] + 1}]}
        assert await sought("notes") == found


async def test_files_that_a_process_has_open_are_not_replaced(
    postgres: Postgres, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await build_library(tmp_path / "notes", TEXTS, "notes")
    id = stores().catalog.library("notes").id
    with postgres.database() as url:
        await copy_library("notes", url)
        use(monkeypatch, url)
        monkeypatch.setattr(transfer, "_PATIENCE", 0.1)
        server = sqlite3.connect(catalog_of(home, id))
        server.execute("INSERT INTO removed VALUES ('a row in the log')")
        server.commit()
        with pytest.raises(LibraryError, match="open in another process"):
            await copy_library("notes", "sqlite", replace=True)
        assert server.execute("SELECT count(*) FROM removed").fetchone() == (1,)
        server.close()
        await copy_library("notes", "sqlite", replace=True)
        assert [path.name for path in (home / "libraries").iterdir()] == [id]
        use(monkeypatch, "")
        assert held("notes")["removed"] == [] and await sought("notes")


async def test_a_process_that_remembers_a_library_sees_that_a_copy_took_its_place(
    postgres: Postgres, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await build_library(tmp_path / "notes", {"a.md": "# A\n\nThe harbour was built in 1874.\n"}, "notes")
    with postgres.database() as url:
        await copy_library("notes", url)
        changed = {"a.md": "# A\n\nThe ferry sails to the island.\n"}
        await build_library(tmp_path / "notes", changed, "notes")
        use(monkeypatch, url)
        changed = {"a.md": "# A\n\nBread is baked at dawn.\n"}
        await build_library(tmp_path / "notes", changed, "notes")
        at = stores().catalog.library("notes").generation
        use(monkeypatch, "")
        assert stores().catalog.library("notes").generation == at
        await copy_library("notes", url, replace=True)
        use(monkeypatch, url)
        assert stores().catalog.library("notes").generation == at + 1


async def test_the_same_database_under_another_name_is_refused_and_the_library_stays(
    postgres: Postgres, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres.database() as url:
        use(monkeypatch, url.replace("+psycopg", ""))
        await build_library(tmp_path / "notes", TEXTS, "notes")
        before = held("notes")
        with pytest.raises(LibraryError, match="being written there"):
            await copy_library("notes", f"{url}&application_name=other", replace=True)
        assert held("notes") == before
        use(monkeypatch, "")


def broken(*_: object) -> None:
    raise RuntimeError("cut short")


async def test_what_cannot_be_copied_is_refused_and_leaves_nothing(
    postgres: Postgres, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await build_library(tmp_path / "notes", {"a.md": "# A\n\nA note.\n"}, "notes")
    for wrong in ("sqlite", "mysql://x", ""):
        with pytest.raises(InputError):
            await copy_library("notes", wrong)
    with postgres.database() as url:
        use(monkeypatch, url)
        await build_library(tmp_path / "other", {"b.md": "# B\n\nAnother.\n"}, "notes")
        use(monkeypatch, "")
        with pytest.raises(LibraryError, match="Another library named"):
            await copy_library("notes", url)
        use(monkeypatch, url)
        assert len(stores().catalog.libraries()) == 1
        await delete_library("notes")
        monkeypatch.setattr("ragweave.corpora.store.lexical.put", broken)
        use(monkeypatch, "")
        with pytest.raises(RuntimeError):
            await copy_library("notes", url)
        use(monkeypatch, url)
        assert stores().catalog.libraries() == []
        use(monkeypatch, "")


def test_the_command_says_what_to_do_next(
    postgres: Postgres, home: Path, tmp_path: Path, main: Main, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(build_library(tmp_path / "notes", {"a.md": "# A\n\nA note.\n"}, "notes"))
    with postgres.database() as url:
        monkeypatch.setenv("RAGWEAVE_COPY_TO", url.replace("+psycopg", ""))  # an address holds a password
        code, out, _ = main("library", "copy", "notes")
        assert code == 0 and "1 source" in out and "RAGWEAVE_DATABASE_URL" in out and url not in out
        assert main("library", "copy", "notes")[0] == 2


ABOUT = "The kiln of Rook was fired in 1911 by Rosa."


def kiln() -> FileBeside:
    """One paragraph, and a document that is that paragraph."""
    place = {"kind": "heading", "file": "kiln.md"}
    first = Item("k1", "paragraph", "sent-1", "Kiln", ABOUT, place, ordinal=0)  # type: ignore[arg-type]
    second = Item("k2", "paragraph", "sent-1", "Kiln", "It is red.", place, ordinal=1)  # type: ignore[arg-type]
    whole = Item(whole_of("k1"), "document", "sent-1", "Kiln", ABOUT, place, meta={"paragraph": "k1"})  # type: ignore[arg-type]
    items = (first, second, whole)
    return FileBeside("1", "kiln.md", items, tuple(tuple(chunks(i, 100)) for i in items), terms_of(items))


async def test_lists_of_both_are_merged_and_items_of_both_are_read(home: Path, tmp_path: Path) -> None:
    await build_library(tmp_path / "notes", {"tea.md": "# Tea\n\nTea of Rook is brewed at ninety degrees.\n"})
    library = await open_library()
    both = beside(library, [kiln(), kiln()])
    (lists,) = await both.search("paragraph", ["Who fired the kiln of Rook?"])
    assert lists.dense[0].id == lists.lexical[0].id == "k1"
    assert {hit.id for hit in lists.dense} > {"k1", "k2"} and len(lists.lexical) >= 2
    (wholes,) = await both.search("document", ["Who fired the kiln?"], only="dense")
    assert wholes.dense[0].id == whole_of("k1") and not wholes.lexical
    found = await both.items([hit.id for hit in lists.dense])
    assert found.keys() == {hit.id for hit in lists.dense} and found["k1"].text == ABOUT
    assert [i.id for i in both.around("k2", 1)] == ["k1", "k2"]
    assert (await both.counts())["paragraph"] == 3 and (await library.counts())["paragraph"] == 1
    assert not await library.items(["k1"])


async def test_a_library_without_files_is_itself_and_an_empty_one_is_searched(
    home: Path, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    await build_library(tmp_path / "notes", {})
    library = await open_library()
    assert beside(library, []) is library
    (lists,) = await beside(library, [kiln()]).search("paragraph", ["Who fired it?"], k=1)
    assert [hit.id for hit in lists.lexical] == ["k1"] and len(lists.dense) == 1


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


ROOT = Path(__file__).resolve().parents[3]


def unused() -> list[str]:
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^pip uninstall -y (.+)$", page, re.M)
    return line.split()


@pytest.mark.chroma
def test_a_library_and_its_index_are_written_and_asked_without_them(home: Path, tmp_path: Path) -> None:
    for name in unused():
        (tmp_path / f"{name}.py").write_text("raise ImportError('it is not installed')\n")
    (tmp_path / "a.md").write_text("# A\n\nThe harbour was built in 1874.\n")
    code = """
import sys, chromadb
from pathlib import Path
from ragweave.app.cli import main
from ragweave.corpora.store import index_upkeep, vectors
index_upkeep.INDEX_FROM, vectors.Vectors.stays = 1, True
assert main(["index", sys.argv[1]]) == 0 and main(["ask", "When was the harbour built?"]) == 0
(folder,) = (Path(sys.argv[2]) / "libraries").glob("*/chroma")
assert sum(c.count() for c in chromadb.PersistentClient(str(folder)).list_collections()) == 1
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", code, str(tmp_path / "a.md"), str(home)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0 and "1874" in done.stdout, done.stderr
