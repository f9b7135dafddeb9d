"""The server's tables live through versions: from every earlier number, and never a later one."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import postgres
from ragweave.corpora.store.migrations import History
from ragweave.corpora.store.sqlite_file import engine_of, write
from ragweave.models.errors import LibraryError
from ragweave.serve.app import create_app
from ragweave.serve.database import SCHEMA, number_of_tables, sent
from ragweave.serve.keys import Keys, hashed
from ragweave.serve.settings import ServeSettings
from ragweave.serve.store import Store
from ragweave.serve.tables import HISTORY
from ragweave.tests.conftest import ROOT, Main
from ragweave.tests.support.serving import bearer, in_process

HOMES = sorted((ROOT / "tests" / "data" / "homes").glob("*.zip"))


ROLES = 10
"""Number of the tables from which on keys have roles."""


def at_number(number: int, home: Path) -> None:
    """Make the tables of an earlier number, with a key, a conversation and its turn."""
    steps = {n: step for n, step in HISTORY.steps.items() if n <= number}
    url = corpora_settings().database
    home.mkdir(parents=True, exist_ok=True)
    engine = postgres.server(url).within(SCHEMA)[1] if url else engine_of(home / "serve.sqlite")
    with engine.begin() if url else write(engine) as db:
        if url:
            sent(db, f"CREATE SCHEMA {SCHEMA}")
        History(0, steps).bring_up(db, 0, "the test")
        fill(db)
        if number >= ROLES:
            sent(db, "UPDATE keys SET role = 'write' WHERE id = 'some'")
            sent(db, "UPDATE threads SET owner = 'key all' WHERE id = 'mine'")
        kept = f"COMMENT ON SCHEMA {SCHEMA} IS '{number}'" if url else f"PRAGMA user_version = {number}"
        db.exec_driver_sql(kept)
    if not url:
        engine.dispose()


def fill(db: Connection) -> None:
    for id, libraries in (("all", None), ("some", '["x"]')):
        row = {"id": id, "hash": hashed(f"rw_{id}"), "libraries": libraries}
        columns = "id, name, hash, libraries, created"
        sent(db, f"INSERT INTO keys ({columns}) VALUES (:id, :id, :hash, :libraries, '2026')", **row)
    for id, owner in (("mine", "owner"), ("other", "key some")):
        columns = "id, owner, library, title, created, updated"
        sent(
            db,
            f"INSERT INTO threads ({columns}) VALUES (:id, :owner, 'x', 't', '2026', '2026')",
            id=id,
            owner=owner,
        )
    columns = "thread, n, run, graph, question, status, created"
    sent(db, f"INSERT INTO turns ({columns}) VALUES ('mine', 1, 'r', 'agent', 'When?', 'done', '2026')")


def shape(store: Store) -> dict[str, list[str]]:
    """Return the tables with their columns in order, and their indexes."""
    with store.reading() as db:
        seen, schema = inspect(db), SCHEMA if store.shared else None
        found = {}
        for table in seen.get_table_names(schema):
            if table.startswith("checkpoint"):
                continue
            columns = [f"{c['name']} {c['type']} {c['nullable']}" for c in seen.get_columns(table, schema)]
            indexes = sorted(str(i["name"]) for i in seen.get_indexes(table, schema))
            found[table] = columns + indexes
        return found


@pytest.mark.both
@pytest.mark.parametrize("number", range(1, HISTORY.newest))
def test_tables_of_each_earlier_number_become_todays_with_all_that_they_hold(number: int, home: Path) -> None:
    at_number(number, home)
    store = Store(home / "serve.sqlite")
    (turn,) = store.turns("mine")
    assert (turn.question, turn.status, turn.trail) == ("When?", "done", [])
    some, everything = Keys(store).caller("rw_some"), Keys(store).caller("rw_all")
    assert some and some.role == "write" and [t.id for t in store.threads(some.id)] == ["other"]
    assert everything and everything.owns_all and [t.id for t in store.threads(everything.id)] == ["mine"]
    assert number_of_tables(home / "serve.sqlite") == HISTORY.newest
    upgraded = shape(store)
    store.close()
    if store.shared:
        with store.writing() as db:
            sent(db, f"DROP SCHEMA {SCHEMA} CASCADE")
    fresh = Store(home / "fresh.sqlite")
    assert upgraded == shape(fresh)
    fresh.close()


def test_of_several_keys_for_all_libraries_none_gets_what_they_shared(home: Path) -> None:
    at_number(9, home)
    with closing(sqlite3.connect(home / "serve.sqlite")) as db, db:
        db.execute("INSERT INTO keys (id, name, hash, created) VALUES ('second', 'b', 'h', '2026')")
    store = Store(home / "serve.sqlite")
    keys = Keys(store)
    assert keys.left_by_owner() == 1 and keys.hand_over("owner", "second") == 1
    assert [t.id for t in store.threads("key second")] == ["mine"]
    store.close()


def test_a_later_number_is_refused_and_its_file_stays_as_it_is(home: Path, main: Main) -> None:
    Store(home / "serve.sqlite").close()
    with closing(sqlite3.connect(home / "serve.sqlite")) as db:
        db.execute(f"PRAGMA user_version = {HISTORY.newest + 1}")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = (home / "serve.sqlite").read_bytes()
    with pytest.raises(LibraryError, match="newer Ragweave"):
        Store(home / "serve.sqlite")
    code, _, told = main("serve", "--port", "0")
    assert code == 2 and "upgrade Ragweave" in told
    assert (home / "serve.sqlite").read_bytes() == before
    code, out, _ = main("doctor", "--json")
    (found,) = [f for f in json.loads(out) if f["area"] == "versions"]
    assert code == 2 and found["state"] == "bad" and str(HISTORY.newest + 1) in found["what"]


@pytest.mark.parametrize("packed", HOMES, ids=lambda path: path.stem)
async def test_a_home_that_an_earlier_commit_wrote_is_opened(packed: Path, home: Path) -> None:
    with zipfile.ZipFile(packed) as homes:
        homes.extractall(home)
    about = json.loads((home / "about.json").read_text("utf-8"))
    async with in_process(create_app(ServeSettings())) as client:
        client.headers.update(bearer(about["key"]))
        found = (await client.post("/search", json={"query": "lamp of the lighthouse"})).json()["results"]
        assert "1874" in found[0]["text"]
        (turn,) = (await client.get(f"/api/threads/{about['thread']}")).json()["turns"]
        assert turn["status"] == "done" and turn["answer"]["text"]
    shutil.rmtree(home)


def test_there_are_homes_to_open() -> None:
    assert len(HOMES) >= 3
