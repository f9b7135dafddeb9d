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
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.library import delete_library, open_library
from ragweave.corpora.store.objects import discard
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import InputError
from ragweave.serve import jobs, uploads
from ragweave.tests.support.serving import parse_events

MILL = ("mill.md", b"# The mill\n\nThe mill was built in 1702 by Odo Marsh.\n")


@given(st.text(max_size=400))
def test_a_kept_name_is_one_plain_part_of_a_path(name: str) -> None:
    try:
        kept = uploads.safe_name(name)
    except InputError:
        return
    path = Path("/folder") / kept
    assert path.parent == Path("/folder") and path.name == kept and kept not in ("", ".", "..")
    assert len(kept.encode()) <= 200 and not kept.startswith(".")
    assert kept.isprintable() or "\u200c" in kept or "\u200d" in kept
    assert uploads.safe_name(kept) == kept


NAMES = {
    "../../etc/passwd": "passwd",
    "..\\..\\windows\\win.ini": "win.ini",
    "C:\\notes.md": "notes.md",
    "..md": "md",
    "notes.md\x00.png": "notes.md.png",
    "evil\u202egnp.md": "evilgnp.md",
    "日本語のメモ.md": "日本語のメモ.md",
    "یادداشت\u200cها.md": "یادداشت\u200cها.md",
    "cafe\u0301.md": "café.md",
    "what?.md": "what_.md",
    "a" * 300 + ".md": "a" * 197 + ".md",
    ".environment.md": "environment.md",
}
NO_NAMES = ("", ".", "..", "/", "\\", "../", "   ", "\x00", "...", "x." + "y" * 300, "id_rsa", "x.pem")
SECRETS = (".env", ".env.local", ".netrc", ".pgpass", ".npmrc", ".htpasswd", "shop/.ENV", " ..env. ")


def test_names_are_cleaned_and_those_of_keys_and_passwords_are_refused() -> None:
    assert {name: uploads.safe_name(name) for name in NAMES} == NAMES
    for name in (*NO_NAMES, *SECRETS):
        with pytest.raises(InputError, match="key or password file" if name in SECRETS else None):
            uploads.safe_name(name)


def test_the_same_name_with_other_bytes_is_kept_beside_the_first_also_when_both_come_at_once(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = uploads.keep("a.md", io.BytesIO(b"one"), "lib")
    assert uploads.keep("a.md", io.BytesIO(b"one"), "lib") == first
    others, sync = iter([b"three"]), os.fsync

    def meanwhile(descriptor: int) -> None:
        sync(descriptor)
        for data in others:
            uploads.keep("a.md", io.BytesIO(data), "lib")

    monkeypatch.setattr(os, "fsync", meanwhile)
    uploads.keep("a.md", io.BytesIO(b"two"), "lib")
    assert sorted(path.read_bytes() for path in first.parent.iterdir()) == [b"one", b"three", b"two"]


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
    assert not left.exists() and not [p for p in (home / "locks").iterdir() if "half" in p.name]


def test_a_link_is_not_followed_and_only_uploads_are_discarded(home: Path, tmp_path: Path) -> None:
    (own := tmp_path / "own.md").write_bytes(b"mine")
    folder = uploads.folder_of("lib")
    folder.mkdir(parents=True)
    (folder / "a.md").symlink_to(own)
    with pytest.raises(InputError):
        uploads.keep("a.md", io.BytesIO(b"theirs"), "lib")
    kept = uploads.keep("b.md", io.BytesIO(b"one"), "lib")
    discard(home, "lib", [str(own), str(kept), str(kept.parent / ".." / "other" / "b.md")])
    assert own.read_bytes() == b"mine" and not kept.exists()


async def upload(client: httpx.AsyncClient, *files: tuple[str, bytes], library: str = "default") -> Any:
    sent = [("files", file) for file in files]
    answer = await client.post("/api/upload", data={"library": library}, files=sent)
    assert answer.status_code == 202, answer.text
    told = parse_events((await client.get(f"/api/jobs/{answer.json()['job']}/events")).text)
    return answer.json(), told


async def test_files_are_indexed_with_errors_per_file_and_can_be_asked_at_once(
    client: httpx.AsyncClient,
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../../evil.md", "# Evil\n")
    files = (
        ("../../mill.md", MILL[1]),
        ("slip.zip", packed.getvalue()),
        ("..", b"x"),
        (".env", b"It is hunter2."),
    )
    job, told = await upload(client, *files)
    assert job["files"] == ["mill.md", "slip.zip"] and [r["file"] for r in job["refused"]] == ["..", ".env"]
    assert job["kept_as"] == ["mill.md", "slip.zip", None, None]
    by_type = {e["type"]: e for e in told}
    assert by_type["done"]["file"] == "mill.md" and told[-1]["status"] == "done"
    assert {e["file"] for e in told if e["type"] in ("failed", "skipped")} == {"..", "slip.zip", ".env"}
    home = uploads.folder_of("x").parent.parent
    assert not [*home.parent.rglob("evil.md"), *home.rglob(".env")] and str(home) not in json.dumps(told)
    found = (await client.post("/search", json={"query": "Who built the mill?"})).json()["results"]
    assert "Odo Marsh" in found[0]["text"] and "hunter2" not in str(found)


async def test_an_upload_of_which_nothing_can_be_kept_makes_no_library_and_too_many_files_are_refused(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_MAX_FILE_MB", "1")
    corpora_settings.cache_clear()
    sent = [("files", (".env", b"a secret")), ("files", ("big.md", b"x" * (1 << 20) + b"x"))]
    answer = await client.post("/api/upload", data={"library": "Mills"}, files=sent)
    assert answer.status_code == 422 and "key or password file" in answer.json()["detail"]
    names = [row["name"] for row in (await client.get("/api/libraries")).json()["libraries"]]
    assert "Mills" not in names
    many = [("files", (f"{n}.md", b"# Tea")) for n in range(1_001)]
    refused = await client.post("/api/upload", data={"library": "default"}, files=many)
    assert refused.status_code == 400 and "1,000 files" in refused.json()["title"]
    assert len((await client.get("/api/sources?library=default")).json()["sources"]) == 2


async def test_a_job_that_is_cancelled_leaves_no_file_that_was_not_read_but_one_that_another_was_given_too(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    may, index = asyncio.Event(), jobs.aindex

    async def late(*args: Any, **options: Any) -> None:
        await may.wait()
        await index(*args, **options)

    monkeypatch.setattr(jobs, "aindex", late)

    async def send(name: str) -> str:
        sent = [("files", (name, MILL[1]))]
        return str((await client.post("/api/upload", data={"library": "default"}, files=sent)).json()["job"])

    alone, first, second = await send("late.md"), await send("mill.md"), await send("mill.md")
    for job in (alone, alone, first):
        assert (await client.post(f"/api/jobs/{job}/cancel", json={})).status_code == 204
    assert not list(uploads.folder_of("").rglob("late.md")) and list(uploads.folder_of("").rglob("mill.md"))
    may.set()
    told = parse_events((await client.get(f"/api/jobs/{second}/events")).text)
    assert [e["indexed"] for e in told if e["type"] == "finished"] == [1]
    assert parse_events((await client.get(f"/api/jobs/{alone}/events")).text)[-1]["status"] == "cancelled"


async def test_a_deleted_source_or_library_takes_its_uploads_along_and_nothing_else(
    client: httpx.AsyncClient, notes: Path
) -> None:
    await upload(client, MILL, ("weir.md", b"# The weir\n\nIt is old.\n"))
    rows = {s["name"]: s for s in (await client.get("/api/sources?library=default")).json()["sources"]}
    assert rows["mill.md"]["uploaded"] and not rows["ferry.md"]["uploaded"]
    for last, status in (("stranger", 404), (rows["ferry.md"]["id"], 204)):
        asked = {"library": "default", "ids": [rows["mill.md"]["id"], last]}
        assert (await client.delete("/api/sources", params=asked)).status_code == status
    library = await open_library("default")
    await library.remove(rows["weir.md"]["id"])  # by another program
    assert not list(uploads.folder_of(library.id).iterdir()) and uploads.not_indexed(library.id) == []
    names = [s["name"] for s in (await client.get("/api/sources?library=default")).json()["sources"]]
    assert names == ["lighthouse.md"] and (notes / "ferry.md").exists()
    await upload(client, MILL, library="Mills")
    kept = uploads.folder_of(stores().catalog.library("Mills").id)
    await delete_library("Mills")
    assert not kept.exists()


async def test_a_library_is_made_renamed_followed_by_its_id_and_deleted_with_what_belongs_to_it(
    client: httpx.AsyncClient,
) -> None:
    made = (await client.post("/api/libraries", json={"name": "Garten"})).json()
    thread = (await client.post("/api/threads", json={"library": "Garten"})).json()["id"]
    renamed = await client.patch(f"/api/libraries/{made['id']}", json={"name": "Jardín"})
    assert renamed.json()["name"] == "Jardín"

    async def send(**where: str) -> httpx.Response:
        return await client.post("/api/upload", data=where, files=[("files", MILL)])

    sent = await send(library_id=made["id"])
    assert sent.status_code == 202 and sent.json()["library"] == "Jardín"
    await client.get(f"/api/jobs/{sent.json()['job']}/events")
    assert (await client.get(f"/api/threads/{thread}")).json()["library"] == "Jardín"
    assert (await client.delete(f"/api/libraries/{made['id']}")).status_code == 204
    assert not uploads.folder_of(made["id"]).exists()
    assert (await client.get(f"/api/threads/{thread}")).status_code == 404
    gone = {"library_id": made["id"]}
    for refused in (
        await send(**gone),
        await client.post("/api/fetch", json={**gone, "url": "https://example.org/"}),
    ):
        assert refused.status_code == 404 and "not there any more" in refused.json()["title"]
    assert (await send()).status_code == 422
    for name, status in (("default", 409), ("a\u202eb", 400)):
        assert (await client.post("/api/libraries", json={"name": name})).status_code == status
