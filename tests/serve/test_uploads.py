"""Uploads: names in any script, no way out of the folder, nothing lost."""

from __future__ import annotations

import asyncio
import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.library import delete_library, open_library
from ragweave.corpora.store.objects import discard
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import InputError
from ragweave.serve import jobs, uploads
from ragweave.serve.access import Caller
from ragweave.tests.support.serving import parse_events


@given(st.text(max_size=400))
def test_a_kept_name_is_one_plain_part_of_a_path(name: str) -> None:
    try:
        kept = uploads.safe_name(name)
    except InputError:
        return
    path = Path("/folder") / kept
    assert path.parent == Path("/folder") and path.name == kept and kept not in ("", ".", "..")
    assert (
        len(kept.encode()) <= 200
        and not kept.startswith(".")
        and kept.isprintable() | ("\u200c" in kept) | ("\u200d" in kept)
    )
    assert uploads.safe_name(kept) == kept


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\windows\\win.ini", "win.ini"),
        ("/etc/shadow", "shadow"),
        ("C:\\notes.md", "notes.md"),
        ("a/b/c.md", "c.md"),
        ("..md", "md"),
        ("notes.md\x00.png", "notes.md.png"),
        ("evil\u202egnp.md", "evilgnp.md"),
        ("日本語のメモ.md", "日本語のメモ.md"),
        ("заметки.txt", "заметки.txt"),
        ("یادداشت\u200cها.md", "یادداشت\u200cها.md"),
        ("cafe\u0301.md", "café.md"),
        ("what?.md", "what_.md"),
        ("a" * 300 + ".md", "a" * 197 + ".md"),
    ],
)
def test_names(name: str, kept: str) -> None:
    assert uploads.safe_name(name) == kept


@pytest.mark.parametrize(
    "name", ["", ".", "..", "/", "\\", "../", "   ", "\x00", "...", "x." + "y" * 300, "id_rsa", "x.pem"]
)
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(InputError):
        uploads.safe_name(name)


@pytest.mark.parametrize(
    "name",
    [".env", ".env.local", ".netrc", ".pgpass", ".npmrc", ".htpasswd", ".git-credentials", "shop/.ENV", " ..env. "],
)
def test_a_key_or_password_file_is_told_by_the_dot_that_its_kept_name_would_lose(name: str) -> None:
    with pytest.raises(InputError, match="key or password file"):
        uploads.safe_name(name)
    assert uploads.safe_name(".environment.md") == "environment.md"


async def test_an_uploaded_password_file_is_refused_and_nothing_of_it_is_kept(client: httpx.AsyncClient) -> None:
    job, _ = await upload(client, (".env", b"The password of the shop is hunter2."), ("mill.md", b"# The mill\n"))
    assert job["files"] == ["mill.md"] and [r["file"] for r in job["refused"]] == [".env"]
    found = (await client.post("/search", json={"query": "What is the password of the shop?"})).json()["results"]
    assert not any("hunter2" in row["text"] for row in found)
    assert not list(uploads.folder_of("x").parent.rglob("*env*"))


def test_the_same_name_with_other_bytes_is_kept_beside_the_first(home: Path) -> None:
    first = uploads.keep("a.md", io.BytesIO(b"one"), "lib")
    again = uploads.keep("a.md", io.BytesIO(b"one"), "lib")
    other = uploads.keep("a.md", io.BytesIO(b"two"), "lib")
    assert first == again and other.name == "a (2).md"
    assert first.read_bytes() == b"one" and other.read_bytes() == b"two"
    assert sorted(p.name for p in first.parent.iterdir()) == ["a (2).md", "a.md"]


def test_two_files_of_one_name_that_come_at_once_are_both_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others, sync = iter([b"two"]), os.fsync

    def meanwhile(descriptor: int) -> None:
        sync(descriptor)
        for data in others:
            uploads.keep("a.md", io.BytesIO(data), "lib")

    monkeypatch.setattr(os, "fsync", meanwhile)
    kept = uploads.keep("a.md", io.BytesIO(b"one"), "lib")
    assert kept.read_bytes() == b"one"
    assert sorted(path.read_bytes() for path in kept.parent.iterdir()) == [b"one", b"two"]


def test_a_half_is_swept_once_its_server_is_gone_and_not_while_it_comes(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, sync = uploads.folder_of("lib"), os.fsync
    folder.mkdir(parents=True)
    (left := folder / ".0123456789abcdef.part").write_bytes(b"half")

    def meanwhile(descriptor: int) -> None:
        sync(descriptor)
        uploads.sweep("lib")

    monkeypatch.setattr(os, "fsync", meanwhile)
    assert uploads.keep("a.md", io.BytesIO(b"one"), "lib").read_bytes() == b"one"
    assert not left.exists()
    assert [p.name for p in (home / "locks").iterdir() if "half" in p.name] == []


def test_a_link_in_the_place_of_a_file_is_not_followed(home: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"mine")
    folder = uploads.folder_of("lib")
    folder.mkdir(parents=True)
    (folder / "a.md").symlink_to(target)
    with pytest.raises(InputError):
        uploads.keep("a.md", io.BytesIO(b"theirs"), "lib")
    assert target.read_bytes() == b"mine"


def test_only_uploads_are_discarded(home: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.md"
    own.write_text("mine")
    kept = uploads.keep("a.md", io.BytesIO(b"one"), "lib")
    discard(home, "lib", [str(own), str(kept), str(kept.parent / ".." / "other" / "b.md")])
    assert own.exists() and not kept.exists()


async def upload(client: httpx.AsyncClient, *files: tuple[str, bytes], library: str = "default") -> Any:
    sent = [("files", file) for file in files]
    answer = await client.post("/api/upload", data={"library": library}, files=sent)
    assert answer.status_code == 202, answer.text
    told = parse_events((await client.get(f"/api/jobs/{answer.json()['job']}/events")).text)
    return answer.json(), told


async def test_files_are_indexed_with_errors_per_file_and_can_be_asked_at_once(client: httpx.AsyncClient) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../../evil.md", "# Evil\n")
    job, told = await upload(
        client,
        ("../../mill.md", b"# The mill\n\nThe mill was built in 1702 by Odo Marsh.\n"),
        ("slip.zip", packed.getvalue()),
        ("..", b"x"),
    )
    assert job["files"] == ["mill.md", "slip.zip"] and len(job["refused"]) == 1
    assert job["kept_as"] == ["mill.md", "slip.zip", None]
    by_type = {e["type"]: e for e in told}
    assert by_type["done"]["file"] == "mill.md" and told[-1]["status"] == "done"
    assert {e["file"] for e in told if e["type"] in ("failed", "skipped")} == {"..", "slip.zip"}
    home = uploads.folder_of("x").parent.parent
    assert not list(home.parent.rglob("evil.md")) and str(home) not in json.dumps(told)
    found = (await client.post("/search", json={"query": "Who built the mill?"})).json()["results"]
    assert "Odo Marsh" in found[0]["text"]


async def test_an_upload_of_which_nothing_can_be_kept_makes_no_library(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_MAX_FILE_MB", "1")
    corpora_settings.cache_clear()
    sent = [("files", (".env", b"a secret")), ("files", ("big.md", b"x" * (1 << 20) + b"x"))]
    answer = await client.post("/api/upload", data={"library": "Mills"}, files=sent)
    assert answer.status_code == 422 and "key or password file" in answer.json()["detail"]
    names = [row["name"] for row in (await client.get("/api/libraries")).json()["libraries"]]
    assert "Mills" not in names
    answer = await client.post("/api/upload", data={"library": "default"}, files=sent)
    assert answer.status_code == 202 and len(answer.json()["refused"]) == 2


async def test_a_job_that_is_cancelled_ends_and_leaves_no_file_that_was_not_read(
    client: httpx.AsyncClient, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = asyncio.Event()

    async def forever(*args: Any, **options: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as slow:
        slow.setattr(jobs, "aindex", forever)
        sent = await client.post(
            "/api/upload", data={"library": "default"}, files=[("files", ("late.md", b"# Late\n"))]
        )
        await begun.wait()
        job = sent.json()["job"]
        assert list(uploads.folder_of("").rglob("late.md"))
        assert (await client.post(f"/api/jobs/{job}/cancel", json={})).status_code == 204
    told = parse_events((await client.get(f"/api/jobs/{job}/events")).text)
    assert (told[-1]["type"], told[-1]["status"]) == ("end", "cancelled")
    assert not list(uploads.folder_of("").rglob("late.md"))
    assert (await client.post(f"/api/jobs/{job}/cancel", json={})).status_code == 204


async def test_a_job_that_is_cancelled_leaves_a_file_that_another_one_was_given_too(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    may, index = asyncio.Event(), jobs.aindex

    async def late(*args: Any, **options: Any) -> None:
        await may.wait()
        await index(*args, **options)

    monkeypatch.setattr(jobs, "aindex", late)
    mill = ("files", ("mill.md", b"# The mill\n\nThe mill was built in 1702.\n"))
    first, second = [
        (await client.post("/api/upload", data={"library": "default"}, files=[mill])).json()["job"] for _ in range(2)
    ]
    assert (await client.post(f"/api/jobs/{first}/cancel", json={})).status_code == 204
    may.set()
    told = parse_events((await client.get(f"/api/jobs/{second}/events")).text)
    assert [e["indexed"] for e in told if e["type"] == "finished"] == [1]


async def test_no_job_uses_what_was_perceived_for_another_library_once_a_key_is_bound_to_libraries(
    client: httpx.AsyncClient, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[bool] = []

    async def noted(*args: Any, alone: bool, **options: Any) -> None:
        told.append(alone)

    async def send(name: str, key: str = "") -> None:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        note = [("files", (name, b"# A note\n"))]
        sent = await client.post("/api/upload", data={"library": "default"}, files=note, headers=headers)
        await client.get(f"/api/jobs/{sent.json()['job']}/events", headers=headers)

    monkeypatch.setattr(jobs, "aindex", noted)
    await send("one.md")
    _, everything = app.state.keys.create("everything", None)
    await send("two.md", everything)
    app.state.keys.create("tenant", ((await open_library()).id,))
    await send("three.md", everything)
    assert told == [False, False, True]


async def test_a_deleted_source_takes_its_upload_along_and_nothing_else(client: httpx.AsyncClient, notes: Path) -> None:
    await upload(client, ("mill.md", b"# The mill\n\nThe mill was built in 1702.\n"))
    rows = {s["name"]: s for s in (await client.get("/api/sources?library=default")).json()["sources"]}
    assert rows["mill.md"]["uploaded"] and not rows["ferry.md"]["uploaded"]
    (kept,) = rows["mill.md"]["paths"]
    for name in ("mill.md", "ferry.md"):
        answer = await client.delete(f"/api/sources/{rows[name]['id']}", params={"library": "default"})
        assert answer.status_code == 204
    assert kept.endswith("mill.md") and not list(uploads.folder_of("x").parent.rglob("mill.md"))
    assert (notes / "ferry.md").exists()
    names = [s["name"] for s in (await client.get("/api/sources?library=default")).json()["sources"]]
    assert names == ["lighthouse.md"]


async def test_an_upload_that_is_removed_elsewhere_does_not_come_back_with_the_next_server(
    client: httpx.AsyncClient, notes: Path
) -> None:
    await upload(client, ("mill.md", b"# The mill\n\nThe mill was built in 1702.\n"))
    library = await open_library("default")
    (mill,) = [s.id for s in await library.sources() if s.path.endswith("mill.md")]
    await library.remove(mill)
    assert not list(uploads.folder_of(library.id).iterdir()) and uploads.not_indexed(library.id) == []


async def test_a_library_that_is_deleted_elsewhere_takes_its_uploads_along(client: httpx.AsyncClient) -> None:
    await upload(client, ("mill.md", b"# The mill\n\nThe mill was built in 1702.\n"), library="Mills")
    kept = uploads.folder_of(stores().catalog.library("Mills").id)
    assert list(kept.iterdir())
    await delete_library("Mills")
    assert not kept.exists()


async def test_a_job_takes_what_an_earlier_one_left_and_finds_its_library_under_another_name(
    client: httpx.AsyncClient, app: FastAPI
) -> None:
    library = stores().catalog.library("default")
    uploads.keep("left.md", io.BytesIO(b"# Left\n\nThe mill was built in 1702.\n"), library.id)
    gone = uploads.keep("gone.md", io.BytesIO(b"# Gone\n\nThe mill fell in 1803.\n"), library.id)
    gone.unlink()
    stores().catalog.rename("default", "renamed")
    desk = app.state.app_state
    job = await desk.jobs.start(Caller(), library, [gone], [])
    assert [entry.type async for entry in (await desk.jobs.journal(job)).follow()][-1] == "end"
    assert "default" not in [row.name for row in stores().catalog.libraries()]
    assert any(s.path.endswith("left.md") and s.items for s in stores().catalog.sources(library.id))


async def test_jobs_of_one_library_take_turns_however_long_one_takes(
    monkeypatch: pytest.MonkeyPatch, client: httpx.AsyncClient, app: FastAPI
) -> None:
    library, at_once = stores().catalog.library("default"), [0, 0]

    async def slow(paths: Any, name: str, on_event: Any, alone: bool) -> None:
        at_once[0] += 1
        at_once[1] = max(at_once)
        await asyncio.sleep(0.05)
        at_once[0] -= 1

    monkeypatch.setattr(jobs, "aindex", slow)
    desk = app.state.app_state
    kept = [uploads.keep(f"{n}.md", io.BytesIO(b"words"), library.id) for n in range(3)]
    begun = [await desk.jobs.start(Caller(), library, [path], []) for path in kept]
    await asyncio.gather(*(desk.jobs._jobs[job.id].task for job in begun))
    assert at_once == [0, 1]


async def test_a_library_is_made_renamed_and_deleted_with_what_belongs_to_it(client: httpx.AsyncClient) -> None:
    made = (await client.post("/api/libraries", json={"name": "Garten"})).json()
    await upload(client, ("beet.md", "# Das Beet\n\nRosen werden im März geschnitten.\n".encode()), library="Garten")
    thread = (await client.post("/api/threads", json={"library": "Garten"})).json()["id"]
    renamed = await client.patch(f"/api/libraries/{made['id']}", json={"name": "Jardín"})
    assert renamed.json()["name"] == "Jardín"
    assert (await client.get(f"/api/threads/{thread}")).json()["library"] == "Jardín"
    assert (await client.delete(f"/api/libraries/{made['id']}")).status_code == 204
    assert not uploads.folder_of(made["id"]).exists()
    assert (await client.get(f"/api/threads/{thread}")).status_code == 404
    assert (await client.post("/api/libraries", json={"name": "default"})).status_code == 409
    assert (await client.post("/api/libraries", json={"name": "a\u202eb"})).status_code == 400


async def test_no_address_leads_out_of_the_store(client: httpx.AsyncClient) -> None:
    library = await open_library("default")
    (source, *_) = await library.sources()
    for path in (
        "/media/{lib}/source/..%2f..%2fetc%2fpasswd",
        "/media/{lib}/source/%2e%2e",
        "/media/..%2f..%2fetc/source/passwd",
        "/media/{lib}/picture/../../catalog.sqlite",
        "/media/{lib}/picture/{source}/..%2f..%2fcatalog.sqlite",
        "/media/{lib}/picture/{source}/.hidden",
        "/static/..%2f..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/langserve/agent/playground/..%2f..%2fserver.py",
    ):
        answer = await client.get(path.format(lib=library.id, source=source.id))
        assert answer.status_code in (400, 404), path
        assert "root:" not in answer.text and "SQLite" not in answer.text


async def test_media_is_sent_in_ranges_and_inert(client: httpx.AsyncClient, app: FastAPI) -> None:
    page = b"<script>alert(1)</script><p>The mill was built in 1702.</p>"
    await upload(client, ("page.html", page))
    rows = {s["name"]: s for s in (await client.get("/api/sources?library=default")).json()["sources"]}
    address = rows["page.html"]["media"]
    whole = await client.get(address)
    assert whole.content == page and whole.headers["content-type"].startswith("text/plain")
    assert "sandbox" in whole.headers["content-security-policy"] and whole.headers["accept-ranges"] == "bytes"
    part = await client.get(address, headers={"range": "bytes=3-9"})
    assert part.status_code == 206 and part.content == page[3:10]
    assert part.headers["content-range"] == f"bytes 3-9/{len(page)}"
    assert (await client.get(address, headers={"range": "bytes=9999-"})).status_code == 416
    assert (await client.get(address, headers={"range": "bytes=-5"})).content == page[-5:]
    assert (await client.head(address)).headers["content-length"] == str(len(page))


async def test_an_upload_by_id_follows_a_library_that_was_renamed_and_makes_none_that_was_deleted(
    client: httpx.AsyncClient,
) -> None:
    made = (await client.post("/api/libraries", json={"name": "r1"})).json()
    await client.patch(f"/api/libraries/{made['id']}", json={"name": "r2"})

    async def send(**where: str) -> httpx.Response:
        return await client.post("/api/upload", data=where, files=[("files", ("gate.md", b"# The gate\n"))])

    sent = await send(library_id=made["id"])
    assert sent.status_code == 202 and sent.json()["library"] == "r2"
    await client.get(f"/api/jobs/{sent.json()['job']}/events")
    assert (await client.get("/api/sources?library=r2")).json()["sources"][0]["name"] == "gate.md"
    assert (await client.delete(f"/api/libraries/{made['id']}")).status_code == 204
    gone = {"library_id": made["id"]}
    for refused in (await send(**gone), await client.post("/api/fetch", json={**gone, "url": "https://example.org/"})):
        assert refused.status_code == 404 and "not there any more" in refused.json()["title"]
    for refused in (await send(), await client.post("/api/fetch", json={"url": "https://example.org/"})):
        assert refused.status_code == 422 and "library" in refused.json()["remedy"]
    assert not {"r1", "r2"} & {row["name"] for row in (await client.get("/api/libraries")).json()["libraries"]}
