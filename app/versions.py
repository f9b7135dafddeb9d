"""Compare the schema versions of a home with those that this program reads."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

from ragweave.app.findings import Finding


async def versions() -> list[Finding]:
    """Compare the schema versions of the home, or of the database, with this program's; change nothing."""
    return await asyncio.to_thread(_versions)


async def database() -> list[Finding]:
    """Return which database the settings name and its version; nothing if they name none."""
    return await asyncio.to_thread(_database)


def _database() -> list[Finding]:
    from sqlalchemy import make_url

    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store import postgres

    given = corpora_settings().database
    if not given:
        return []
    found, url = postgres.server(given).number(), make_url(given)
    place = f"{url.host or url.query.get('host', 'this machine')}/{url.database}"
    return [Finding("database", "ok", f"PostgreSQL {found} at {place}")]


def _versions() -> list[Finding]:
    from ragweave.corpora.store.catalog_steps import HISTORY as CATALOG

    libraries = _of_libraries()
    found: list[Finding] = []
    for number in sorted(libraries):
        found.append(_compared("libraries", number, CATALOG.oldest, CATALOG.newest))
    server = _of_server()
    if server is not None:
        found.append(server)
    if not found:
        return [Finding("versions", "ok", f"no tables yet; this program writes libraries {CATALOG.newest}")]
    bad = [finding for finding in found if finding.state == "bad"]
    return bad or [Finding("versions", "ok", "; ".join([finding.what for finding in found]))]


def _of_server() -> Finding | None:
    from ragweave.corpora.settings import corpora_settings

    try:
        from ragweave.serve.database import number_of_tables
        from ragweave.serve.tables import HISTORY
    except ImportError:
        # The extra `serve` is not installed, so there is no server.
        return None
    number = number_of_tables(corpora_settings().home / "serve.sqlite")
    return None if number is None else _compared("server", number, HISTORY.oldest, HISTORY.newest)


def _of_libraries() -> set[int]:
    """Return the schema versions that the libraries have."""
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store import postgres
    from ragweave.corpora.store.folders import catalog_of, folders

    settings = corpora_settings()
    if settings.database:
        return set(postgres.server(settings.database).numbers().values())
    return {_number(catalog_of(settings.home, id)) for id in folders(settings.home)}


def _number(catalog: Path) -> int:
    """Return the schema version of a catalog, or 0 if it cannot be read."""
    from ragweave.corpora.store.sqlite_file import number_of

    try:
        return number_of(catalog)
    except (OSError, sqlite3.Error):
        # The area "libraries" of `ragweave doctor` reports the error.
        return 0


def _compared(what: str, number: int, oldest: int, newest: int) -> Finding:
    if number > newest:
        what = f"the tables of the {what} have the number {number}, and this program reads up to {newest}"
        return Finding("versions", "bad", what, "upgrade Ragweave, or choose another RAGWEAVE_HOME")
    if number == newest:
        return Finding("versions", "ok", f"{what} {number}")
    if number < oldest:
        return Finding("versions", "ok", f"{what} {number}, which cannot be read")
    return Finding("versions", "ok", f"{what} {number}, brought up to {newest} when next opened")
