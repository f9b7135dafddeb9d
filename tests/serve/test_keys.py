"""Keys of a team: what each role may do, changes that lose no conversation, and the sessions of browsers."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from ragweave.corpora.store.library import open_library
from ragweave.serve import keys as serve_keys
from ragweave.serve.access import Role
from ragweave.serve.app import create_app
from ragweave.serve.keys import Keys
from ragweave.serve.settings import ServeSettings
from ragweave.tests.conftest import ROOT, Main
from ragweave.tests.serve.conftest import QUESTION, TEXTS
from ragweave.tests.support.library import build_library
from ragweave.tests.support.serving import ask_over_http, bearer, direct_client, on_loopback

pytestmark = pytest.mark.both

COLUMNS: dict[str, tuple[Role, bool]] = {
    "read": ("read", False),
    "write": ("write", False),
    "own": ("own", False),
    "own, `--all`": ("own", True),
}


def table() -> dict[str, dict[str, bool]]:
    """What docs/serving.md says that each role may do."""
    text = (ROOT / "docs" / "serving.md").read_text("utf-8")
    rows = re.search(r"\| what a key may do.*?\n\n", text, re.DOTALL)
    assert rows is not None
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows.group().strip().split("\n")]
    heads = cells[0][1:]
    return {
        row[0]: {head: cell == "yes" for head, cell in zip(heads, row[1:], strict=True)} for row in cells[2:]
    }


class Desk:
    """One caller at a server that holds the library `default`, and a file that another caller added to it."""

    def __init__(self, client: httpx.AsyncClient, row: str, foreign: str) -> None:
        self.client, self.row, self.foreign = client, row, foreign

    async def upload(self, name: str) -> httpx.Response:
        files = {"files": (name, f"# {name}\n\nA note of {name}.\n".encode())}
        answer = await self.client.post("/api/upload", data={"library": "default"}, files=files)
        if answer.status_code == 202:
            await self.client.get(f"/api/jobs/{answer.json()['job']}/events")
        return answer

    async def sources(self) -> dict[str, dict[str, object]]:
        found = (await self.client.get("/api/sources", params={"library": "default"})).json()["sources"]
        return {source["name"]: source for source in found}

    async def remove(self, id: object) -> bool:
        asked = {"library": "default", "ids": str(id)}
        return (await self.client.delete("/api/sources", params=asked)).status_code == 204


async def asks(desk: Desk) -> bool:
    statuses = [
        (await desk.client.post("/search", json={"query": "lamp", "library": "default"})).status_code,
        (await desk.client.post("/api/ask", json={"question": QUESTION, "library": "default"})).status_code,
    ]
    source = (await desk.sources())["ferry.md"]
    statuses.append((await desk.client.get(str(source["media"]))).status_code)
    return statuses == [200, 202, 200]


async def keeps(desk: Desk) -> bool:
    made = await desk.client.post("/api/threads", json={"library": "default"})
    path = f"/api/threads/{made.json()['id']}"
    named = await desk.client.patch(path, json={"title": "mine"})
    gone = await desk.client.delete(path)
    return (made.status_code, named.status_code, gone.status_code) == (201, 200, 204)


async def adds(desk: Desk) -> bool:
    added = (await desk.upload(f"{desk.row}-more.md")).status_code == 202
    fetched = await desk.client.post("/api/fetch", json={"library": "default", "url": "http://127.0.0.1/x"})
    stopped = await desk.client.delete("/api/overview", params={"library": "default"})
    refused = [fetched.status_code == 403, stopped.status_code == 403]
    assert all(refused) is not added and any(refused) is not added
    return added


async def removes_its_own(desk: Desk) -> bool:
    name = f"{desk.row}-own.md"
    await desk.upload(name)
    source = (await desk.sources()).get(name)
    if source is None:
        return False
    assert source["removable"]
    return await desk.remove(source["id"])


async def removes_others(desk: Desk) -> bool:
    source = (await desk.sources())[desk.foreign]
    done = await desk.remove(source["id"])
    assert done is source["removable"]
    return done


async def changes_libraries(desk: Desk) -> bool:
    made = await desk.client.post("/api/libraries", json={"name": f"of {desk.row}"})
    by_upload = await desk.client.post(
        "/api/upload", data={"library": f"new {desk.row}"}, files={"files": ("n.md", b"# N\n")}
    )
    assert (by_upload.status_code == 202) is (made.status_code == 201)
    listed = (await desk.client.get("/api/libraries")).json()["libraries"]
    named = {row["name"]: row["id"] for row in listed}
    mine = named.get(f"of {desk.row}", named["default"])
    renamed = await desk.client.patch(f"/api/libraries/{mine}", json={"name": f"then {desk.row}"})
    gone = await desk.client.delete(f"/api/libraries/{mine}")
    statuses = (made.status_code, renamed.status_code, gone.status_code)
    assert statuses in ((201, 200, 204), (403, 403, 403))
    return statuses[0] == 201


async def sees_paths(desk: Desk) -> bool:
    return "paths" in (await desk.sources())["ferry.md"]


async def sees_models(desk: Desk) -> bool:
    return (await desk.client.get("/api/models")).status_code == 200


TRIED: dict[str, Callable[[Desk], Awaitable[bool]]] = {
    "ask, search, open what is cited": asks,
    "keep, rename, judge and delete its own conversations": keeps,
    "add files and addresses, have a library introduced": adds,
    "remove a file that it added": removes_its_own,
    "remove any other file": removes_others,
    "make, rename and delete libraries": changes_libraries,
    "see where files lie on the server's disk": sees_paths,
    "see and try the models": sees_models,
}


@pytest.fixture
async def notes(tmp_path: Path, home: Path) -> Path:
    """The library `default`, in a file or in a database."""
    await build_library(tmp_path / "notes", TEXTS)
    return tmp_path / "notes"


@pytest.fixture
async def desks(app: FastAPI, client: httpx.AsyncClient) -> AsyncIterator[dict[str, Desk]]:
    """A caller of each role."""
    keys: Keys = app.state.keys
    row = await open_library("default")
    other = Desk(direct_client(app, headers=bearer(keys.create("other", (row.id,))[1])), "other", "")
    found, clients = {}, [other.client]
    for head, (role, everything) in COLUMNS.items():
        name = role + ("-all" if everything else "")
        _, secret = keys.create(name, None if everything else (row.id,), role)
        clients.append(direct_client(app, headers=bearer(secret)))
        await other.upload(f"others-{name}.md")
        found[head] = Desk(clients[-1], name, f"others-{name}.md")
    yield found
    for each in clients:
        await each.aclose()


async def test_each_role_may_do_what_the_table_of_the_docs_says(desks: dict[str, Desk]) -> None:
    said = table()
    assert set(said) == set(TRIED)
    for what, tried in TRIED.items():
        assert {head: await tried(desk) for head, desk in desks.items()} == said[what], what


async def test_two_keys_for_all_libraries_do_not_see_each_others_conversations(
    app: FastAPI, client: httpx.AsyncClient
) -> None:
    keys: Keys = app.state.keys
    one, two = (bearer(keys.create(name, None)[1]) for name in ("Anna", "Bo"))
    thread = (await client.post("/api/threads", json={"library": "default"}, headers=one)).json()["id"]
    assert (await client.get(f"/api/threads/{thread}", headers=one)).status_code == 200
    assert (await client.get(f"/api/threads/{thread}", headers=two)).status_code == 404
    assert (await client.get("/api/threads", headers=two)).json()["threads"] == []


async def test_the_log_names_the_key_of_each_request(
    app: FastAPI, client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("ragweave.serve"), "propagate", True)
    key, secret = app.state.keys.create("Anna at the front desk", None)
    with caplog.at_level(logging.INFO, logger="ragweave.serve"):
        await client.get("/api/me", headers=bearer(secret))
    (line,) = [r for r in caplog.records if "/api/me" in r.getMessage()]
    assert (line.caller, line.key) == (f"key {key.id}", "Anna at the front desk")  # type: ignore[attr-defined]


async def test_the_first_key_that_owns_all_takes_over_what_was_asked_before(
    app: FastAPI, client: httpx.AsyncClient
) -> None:
    await ask_over_http(client, QUESTION)
    keys: Keys = app.state.keys
    _, first = keys.create("me", None)
    _, second = keys.create("somebody", None)
    assert len((await client.get("/api/threads", headers=bearer(first))).json()["threads"]) == 1
    assert (await client.get("/api/threads", headers=bearer(second))).json()["threads"] == []
    assert keys.left_by_owner() == 0


async def test_a_key_keeps_its_conversations_when_it_is_edited_rotated_and_revoked(
    app: FastAPI, client: httpx.AsyncClient
) -> None:
    keys: Keys = app.state.keys
    row = await open_library("default")
    key, secret = keys.create("Anna", (row.id,), "read")
    await ask_over_http_with(client, secret)
    keys.edit(key.id, "Anna B.", "own", True)
    me = (await client.get("/api/me", headers=bearer(secret))).json()
    assert (me["name"], me["role"], me["may_change"]) == ("Anna B.", "own", True)
    fresh = keys.rotate(key.id)
    assert (await client.get("/api/me", headers=bearer(secret))).status_code == 401
    assert len((await client.get("/api/threads", headers=bearer(fresh))).json()["threads"]) == 1
    keys.revoke(key.id)
    assert (await client.get("/api/me", headers=bearer(fresh))).status_code == 401
    again = keys.rotate(key.id)
    assert len((await client.get("/api/threads", headers=bearer(again))).json()["threads"]) == 1
    heir, inherited = keys.create("Bo", None)
    assert keys.hand_over(key.id, heir.id) == 1
    assert len((await client.get("/api/threads", headers=bearer(inherited))).json()["threads"]) == 1
    assert (await client.get("/api/threads", headers=bearer(again))).json()["threads"] == []


async def ask_over_http_with(client: httpx.AsyncClient, secret: str) -> None:
    body = {"question": QUESTION, "library": "default"}
    run = (await client.post("/api/ask", json=body, headers=bearer(secret))).json()["run"]
    await client.get(f"/api/runs/{run}/events", headers=bearer(secret))


async def logged_in(app: FastAPI, secret: str) -> httpx.AsyncClient:
    browser = direct_client(app)
    answer = await browser.post("/api/login", json={"key": secret})
    assert answer.status_code == 204 and secret not in answer.headers["set-cookie"]
    return browser


async def test_a_session_ends_with_logging_out_with_its_key_and_after_thirty_days(
    app: FastAPI, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: Keys = app.state.keys
    key, secret = keys.create("me", None)
    one, two = await logged_in(app, secret), await logged_in(app, secret)
    session = one.cookies["ragweave_session"]
    assert (await one.get("/api/me")).json()["caller"] == f"key {key.id}"
    assert (await client.get("/api/me", headers=bearer(session))).status_code == 401  # a session is no key
    await one.post("/api/logout")
    stale = {"cookie": f"ragweave_session={session}"}
    assert (await client.get("/api/me", headers=stale)).status_code == 401
    assert (await two.get("/api/me")).status_code == 200
    assert keys.log_out_all(key.id) == 1 and (await two.get("/api/me")).status_code == 401
    three = await logged_in(app, secret)
    fresh = keys.rotate(key.id)
    assert (await three.get("/api/me")).status_code == 401
    four = await logged_in(app, fresh)
    kept = {
        "cookie": f"ragweave_session={four.cookies['ragweave_session']}"
    }  # a browser may keep it for longer
    later = serve_keys.time.time() + 30 * 86_400 + 1
    monkeypatch.setattr(serve_keys.time, "time", lambda: later)
    told = await client.get("/api/me", headers=kept)
    assert told.status_code == 401 and "logged out" in told.json()["title"] + told.json()["detail"]
    for browser in (one, two, three, four):
        await browser.aclose()


async def test_the_cookie_is_secure_where_the_public_address_is(notes: Path, home: Path) -> None:
    async def cookie(settings: ServeSettings, headers: dict[str, str]) -> str:
        app = create_app(settings)
        keys: Keys = app.state.keys
        _, secret = await asyncio.to_thread(keys.create, "me", None)
        async with (
            on_loopback(app, settings.proxies) as address,
            httpx.AsyncClient(base_url=address) as browser,
        ):
            answer = await browser.post("/api/login", json={"key": secret}, headers=headers)
        return answer.headers["set-cookie"].lower()

    forwarded = {"x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.9"}
    assert "; secure" in await cookie(ServeSettings(url="https://ask.example"), {})
    assert "; secure" in await cookie(ServeSettings(proxies="127.0.0.1"), forwarded)
    assert "; secure" not in await cookie(ServeSettings(), forwarded)  # nobody named this proxy
    assert "; secure" not in await cookie(ServeSettings(url="http://ask.example"), {})


def test_keys_are_changed_on_the_command_line(main: Main, notes: Path) -> None:
    _, secret, told = main("keys", "create", "Anna", "--library", "default", "--role", "read")
    id = told.split()[1]
    assert "role read" in told
    assert main("keys", "edit", id, "--role", "write", "--name", "Anna B.")[0] == 0
    assert "Anna B." in main("keys", "list")[1] and "write" in main("keys", "list")[1]
    code, fresh, _ = main("keys", "rotate", id)
    assert code == 0 and fresh.startswith("rw_") and fresh != secret
    assert main("keys", "logout", id)[1].startswith("0 browsers")
    for wrong in (
        ("edit", id),
        ("edit", id, "--role", "boss"),
        ("rotate", "nothing"),
        ("give", "owner", "nothing"),
    ):
        code, out, told = main("keys", *wrong)
        assert code == 2 and not out and told, wrong
