"""The commands `serve` and `keys`, and what they refuse."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import socket
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ragweave.app.commands import serve as cli_serve
from ragweave.corpora.store.library import create_library
from ragweave.models.subprocess_env import import_path
from ragweave.serve.direct import events_of
from ragweave.serve.process import only_server
from ragweave.serve.settings import ServeSettings
from ragweave.tests.serve.conftest import QUESTION
from ragweave.tests.support.serving import ask_over_http, bearer, begin

Main = Callable[..., tuple[int, str, str]]


def test_a_key_is_made_listed_and_revoked(main: Main) -> None:
    asyncio.run(create_library("notes"))
    code, secret, told = main("keys", "create", "Open WebUI", "--library", "notes")
    assert code == 0 and secret.startswith("rw_") and "opens library notes" in told and secret.strip() not in told
    _, listed, _ = main("keys", "list", "--json")
    (key,) = json.loads(listed)
    assert key["name"] == "Open WebUI" and secret.strip() not in listed and "hash" not in key
    assert "notes" in main("keys", "list")[1]
    assert main("keys", "revoke", key["id"])[0] == 0
    code, _, told = main("keys", "revoke", key["id"])
    assert code == 2 and "no working key" in told
    assert "revoked" in main("keys", "list")[1]


@pytest.mark.parametrize("options", [(), ("--all", "--library", "notes")])
def test_a_key_opens_some_libraries_or_all(main: Main, options: tuple[str, ...]) -> None:
    code, out, told = main("keys", "create", "x", *options)
    assert code == 2 and not out and "some libraries or all" in told


def test_a_key_for_a_library_that_is_not_there_is_refused(main: Main) -> None:
    code, out, told = main("keys", "create", "x", "--library", "nothing")
    assert code == 2 and not out and "no library named" in told


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_other_machines_are_not_let_in_without_a_key(main: Main, host: str) -> None:
    code, _, told = main("serve", "--host", host, "--port", "0")
    assert code == 2 and "no API key" in told and "ragweave keys create" in told


def test_a_name_that_lets_others_in_is_what_the_refusal_names(main: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_SERVE_NAMES", "my.host")
    code, _, told = main("serve", "--port", "0")
    assert code == 2 and "RAGWEAVE_SERVE_NAMES" in told and "my.host" in told and "127.0.0.1 can be" not in told


def test_a_revoked_key_does_not_count(main: Main) -> None:
    main("keys", "create", "x", "--all")
    (key,) = json.loads(main("keys", "list", "--json")[1])
    main("keys", "revoke", key["id"])
    assert main("serve", "--host", "0.0.0.0", "--port", "0")[0] == 2


@pytest.mark.parametrize(
    ("host", "names", "exposed"),
    [("127.0.0.1", "", False), ("::1", "", False), ("localhost", "", False), ("127.0.0.1", "my.host", True)],
)
def test_what_counts_as_open_to_others(host: str, names: str, exposed: bool) -> None:
    assert cli_serve.is_exposed(ServeSettings(host=host, names=names)) is exposed


def test_a_port_in_use_gets_a_sentence(main: Main) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, _, told = main("serve", "--port", str(taken.getsockname()[1]))
    assert code == 2 and "is in use" in told and "--port" in told


def test_a_second_server_of_one_home_is_refused_with_the_remedy(main: Main, home: Path) -> None:
    with only_server():
        code, _, told = main("serve", "--port", "0")
    assert code == 2 and "runs already, as process" in told and "RAGWEAVE_HOME" in told
    with only_server():
        pass


def test_an_address_of_another_machine_cannot_be_listened_on(main: Main) -> None:
    main("keys", "create", "x", "--all")
    code, _, told = main("serve", "--host", "192.0.2.1", "--port", "0")
    assert code == 2 and "cannot listen" in told


def test_a_log_of_another_form_is_refused(main: Main) -> None:
    assert main("serve", "--log", "xml")[0] == 2


HEAPS = """
import ctypes, os, sys, threading
from ragweave.serve.process import share_heap
if sys.argv[1] == "shared":
    share_heap()
held, together = [], threading.Barrier(4)
def work():
    held.append(bytes(10_000))
    together.wait()
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
libc.malloc_info(0, ctypes.c_void_p(libc.fdopen(os.dup(1), b"w")))
libc.fflush(None)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have one heap")
def test_the_threads_of_a_server_share_one_heap() -> None:
    def heaps(how: str) -> int:
        env = {**os.environ, "PYTHONPATH": import_path()}
        done = subprocess.run([sys.executable, "-c", HEAPS, how], env=env, capture_output=True, text=True, check=True)
        return done.stdout.count("<heap nr=")

    assert heaps("shared") == 1 < heaps("its own")


def _kept(home: Path, conversations: Sequence[str]) -> dict[str, int]:
    """Return how many rows there are of conversations, where there are any."""
    of = f"IN ({', '.join('?' * len(conversations))})"
    found = {}
    with closing(sqlite3.connect(home / "serve.sqlite")) as db:
        db.execute("ATTACH ? AS steps", [str(home / "conversations.sqlite")])
        for table, id in (
            *(("threads", "id"), ("turns", "thread"), ("shares", "thread"), ("runs", "thread")),
            *(("steps.checkpoints", "thread_id"), ("steps.writes", "thread_id")),
        ):
            found[table] = db.execute(f"SELECT count(*) FROM {table} WHERE {id} {of}", conversations).fetchone()[0]
    return {table: rows for table, rows in found.items() if rows}


async def test_a_library_that_is_deleted_on_the_command_line_takes_what_a_running_server_keeps_of_it_along(
    app: FastAPI, client: httpx.AsyncClient, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = (await ask_over_http(client, "How hot is tea brewed?", library="tea room"))[0]["thread"]
    thread = (await ask_over_http(client, QUESTION))[0]["thread"]
    client.headers.update(bearer(app.state.keys.create("mine", None)[1]))
    url = (await client.post(f"/api/threads/{thread}/share", json={})).json()["url"]

    begun, may = asyncio.Event(), asyncio.Event()

    async def slowly(*args: Any, **how: Any) -> AsyncIterator[dict[str, Any]]:
        async with aclosing(events_of(*args, **how)) as events:
            async for event in events:
                begun.set()
                await may.wait()
                yield event

    monkeypatch.setattr("ragweave.serve.runs.events_of", slowly)
    late = await begin(client, QUESTION)
    await begun.wait()
    assert set(_kept(home, [thread, late["thread"]])) == {
        *("threads", "turns", "shares", "runs", "steps.checkpoints", "steps.writes"),
    }
    command = [sys.executable, "-m", "ragweave.app.cli", "library", "delete", "default", "--yes"]
    await asyncio.to_thread(subprocess.run, command, check=True)
    under_way = [run.task for run in app.state.app_state.runs._runs.values()]
    may.set()
    await asyncio.wait(under_way, timeout=30)
    assert _kept(home, [thread, late["thread"]]) == {}
    assert (await client.get(url, headers={"authorization": ""})).status_code == 404
    assert (await client.get("/api/shares")).json() == {"shares": []}
    assert (await client.get(f"/api/threads/{other}")).json()["turns"][0]["status"] == "done"


def test_a_library_is_not_deleted_where_the_tables_of_the_server_cannot_be_used(main: Main, home: Path) -> None:
    asyncio.run(create_library("notes"))
    with closing(sqlite3.connect(home / "serve.sqlite")) as db:
        db.execute("PRAGMA user_version = 99")
    code, _, err = main("library", "delete", "notes", "--yes")
    assert code == 2 and "another version of Ragweave" in err
    assert main("library")[1] == "notes\n"


def test_where_no_server_has_been_the_deletion_of_a_library_makes_no_tables_of_one(main: Main, home: Path) -> None:
    asyncio.run(create_library("notes"))
    assert main("library", "delete", "notes", "--yes")[0] == 0
    assert not (home / "serve.sqlite").exists()
