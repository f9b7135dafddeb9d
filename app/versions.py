"""Which numbers the tables of a home have, and which ones this program reads."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

from ragweave.app.findings import Finding


async def versions() -> list[Finding]:
    """Compare the tables of the home, or of the database, with those of this program; nothing is changed."""
    return await asyncio.to_thread(_versions)


def _versions() -> list[Finding]:
    from ragweave.corpora.store.catalog_steps import HISTORY as CATALOG

    libraries = _of_libraries()
    found = [_compared("libraries", number, CATALOG.oldest, CATALOG.newest) for number in sorted(libraries)]
    if (server := _of_server()) is not None:
        found.append(server)
    if not found:
        return [Finding("versions", "ok", f"no tables yet; this program writes libraries {CATALOG.newest}")]
    bad = [f for f in found if f.state == "bad"]
    return bad or [Finding("versions", "ok", "; ".join(f.what for f in found))]


def _of_server() -> Finding | None:
    from ragweave.corpora.settings import corpora_settings

    try:
        from ragweave.serve.database import number_of_tables
        from ragweave.serve.tables import HISTORY
    except ImportError:  # without the extra `serve` there is no server
        return None
    number = number_of_tables(corpora_settings().home / "serve.sqlite")
    return None if number is None else _compared("server", number, HISTORY.oldest, HISTORY.newest)


def _of_libraries() -> Counter[int]:
    """Return the numbers of the libraries' tables, each with how many have it."""
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store import postgres
    from ragweave.corpora.store.folders import catalog_of, folders

    settings = corpora_settings()
    if settings.database:
        return Counter(postgres.server(settings.database).numbers().values())
    return Counter(_number(catalog_of(settings.home, id)) for id in folders(settings.home))


def _number(catalog: Path) -> int:
    try:
        with closing(sqlite3.connect(f"{catalog.absolute().as_uri()}?mode=ro", uri=True)) as file:
            return int(file.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.Error:  # "libraries" says what is wrong with it
        return 0


def _compared(what: str, number: int, oldest: int, newest: int) -> Finding:
    if number > newest:
        told = f"the tables of the {what} have the number {number}, and this program reads up to {newest}"
        return Finding("versions", "bad", told, "upgrade Ragweave, or choose another RAGWEAVE_HOME")
    if number == newest:
        return Finding("versions", "ok", f"{what} {number}")
    if number < oldest:
        return Finding("versions", "ok", f"{what} {number}, which cannot be read")
    return Finding("versions", "ok", f"{what} {number}, brought up to {newest} when next opened")
