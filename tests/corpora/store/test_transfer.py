"""A library moves between files and a database and is the same: ids, vectors, words and what a search finds."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import lexical
from ragweave.corpora.store.library import delete_library, open_library
from ragweave.corpora.store.schema import indexes, metadata
from ragweave.corpora.store.stores import close_stores, stores
from ragweave.corpora.store.transfer import copy_library
from ragweave.corpora.types import CORPORA
from ragweave.models.errors import InputError, LibraryError
from ragweave.tests.conftest import Main
from ragweave.tests.support import build_library
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
        assert held("notes") == again
        assert await sought("notes") == found


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
