"""An address that a reader gives is fetched from the public web, and from nowhere else."""

from __future__ import annotations

import io
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.objects import Objects, objects
from ragweave.corpora.web import fetch
from ragweave.models.errors import InputError, StorageError
from ragweave.models.settings import model_settings
from ragweave.serve import uploads
from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.tests.serve.test_uploads import upload
from ragweave.tests.support.objects import bucket
from ragweave.tests.support.serving import in_process, parse_events

NAMES = ("example.test", "xn--bcher-kva.test")
PAGE = b"<html><head><title>Tea</title></head><body><p>The tea house opened in 1911.</p></body></html>"


class Web(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.hosts.append(self.headers["Host"])  # type: ignore[attr-defined]
        asked = {
            "/away": (302, {"Location": "http://127.0.0.2/secret"}),
            "/on": (302, {"Location": "tea.html"}),
        }
        status, headers = asked.get(self.path, (200, {"Content-Type": "text/html; charset=utf-8"}))
        if self.path == "/program":
            headers = {"Content-Type": "application/x-msdownload"}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadingHTTPServer]:
    """A server on this machine that stands for the public web under two names."""
    looked_up = socket.getaddrinfo

    def lookup(host: str, *rest: object, **options: object) -> object:
        return looked_up("127.0.0.1" if host in NAMES else host, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    monkeypatch.setattr(fetch, "_is_public", lambda place: place == "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Web) as server:
        server.hosts = []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


PRIVATE = (
    *("http://127.0.0.1/", "http://localhost:8765/api/me", "http://[::1]/", "http://[::ffff:127.0.0.1]/"),
    *(
        "http://169.254.169.254/latest/meta-data",
        "http://10.0.0.1/",
        "https://192.168.1.1/",
        "http://0.0.0.0/",
    ),
    *("http://2130706433/", "http://100.64.0.1/", "http://[::127.0.0.1]/", "http://[64:ff9b::7f00:1]/"),
    *(
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[64:ff9b:1::a00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[fec0::1]/",
    ),
)
NO_PAGES = ("file:///etc/passwd", "ftp://example.org/x", "http://me:secret@example.org/", "tea", "")


async def test_what_only_the_server_can_reach_and_what_is_no_address_of_a_page_are_refused() -> None:
    for url in (*PRIVATE, *NO_PAGES):
        with pytest.raises(
            InputError, match="private network" if url in PRIVATE else "no address of a web page"
        ):
            await fetch.fetched(url)


async def test_offline_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "true")
    model_settings.cache_clear()
    with pytest.raises(InputError, match="RAGWEAVE_OFFLINE"):
        await fetch.fetched("https://example.org/")
    model_settings.cache_clear()


async def test_a_page_is_fetched_through_a_redirect_under_its_own_name_as_dns_writes_it(
    web: ThreadingHTTPServer,
) -> None:
    port = web.server_address[1]
    assert await fetch.fetched(f"http://example.test:{port}/on") == ("example.test tea.html", PAGE)
    url = f"http://bücher.test:{port}/straße"
    assert await fetch.fetched(url) == ("bücher.test straße.html", PAGE)
    assert web.hosts == [f"example.test:{port}"] * 2 + [f"xn--bcher-kva.test:{port}"]  # type: ignore[attr-defined]
    assert (await fetch._request(url)).extensions["sni_hostname"] == "xn--bcher-kva.test"


def test_a_public_place_is_public_also_behind_a_translation_to_ipv4() -> None:
    for place in ("8.8.8.8", "2606:4700::6810:84e5", "64:ff9b::808:808", "2002:808:808::1", "::ffff:8.8.8.8"):
        assert fetch._is_public(place), place


async def test_a_redirect_to_a_private_place_and_a_program_are_refused(web: ThreadingHTTPServer) -> None:
    base = f"http://example.test:{web.server_address[1]}"
    with pytest.raises(InputError, match="private network"):
        await fetch.fetched(f"{base}/away")
    with pytest.raises(InputError, match="x-msdownload, is not read"):
        await fetch.fetched(f"{base}/program")


async def test_what_was_fetched_is_indexed_as_a_source(
    client: httpx.AsyncClient, web: ThreadingHTTPServer
) -> None:
    url = f"http://example.test:{web.server_address[1]}/tea"
    taken = await client.post("/api/fetch", json={"library": "web", "url": url})
    assert taken.status_code == 202 and taken.json()["files"] == ["example.test tea.html"]
    events = parse_events((await client.get(f"/api/jobs/{taken.json()['job']}/events")).text)
    assert events[-1]["status"] == "done"
    (source,) = (await client.get("/api/sources?library=web")).json()["sources"]
    assert source["title"] == "Tea" and source["uploaded"]
    refused = await client.post("/api/fetch", json={"library": "web", "url": "http://127.0.0.2/"})
    assert refused.status_code == 400 and "private network" in refused.json()["title"]
    assert (
        await client.post("/api/fetch", json={"library": "moat", "url": "http://127.0.0.2/"})
    ).status_code == 400
    assert "moat" not in [row["name"] for row in (await client.get("/api/libraries")).json()["libraries"]]


MILL = b"# The mill\n\nThe mill was built in 1702 by Odo Marsh.\n"


@pytest.fixture(params=["file", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Keep media and uploads in a store: a folder by way of fsspec, or a server that answers as S3 does."""
    folder = nullcontext(f"file://{tmp_path}/bucket")
    with folder if request.param == "file" else bucket(monkeypatch) as address:
        monkeypatch.setenv("RAGWEAVE_MEDIA_URL", address)
        corpora_settings.cache_clear()
        yield address


@pytest.fixture
async def mill(client: httpx.AsyncClient) -> Any:
    """The source of an upload that this server has no copy of."""
    await upload(client, ("mill [1].md", MILL))
    shutil.rmtree(uploads.folder_of("x").parent)
    rows = {s["name"]: s for s in (await client.get("/api/sources?library=default")).json()["sources"]}
    return rows["mill [1].md"]


@pytest.mark.usefixtures("url")
async def test_an_upload_is_passed_on_whole_and_in_ranges_and_goes_with_its_source(
    client: httpx.AsyncClient, mill: dict[str, Any]
) -> None:
    whole = await client.get(mill["media"])
    assert (
        whole.content == MILL and whole.headers["content-type"].startswith("text/plain") and mill["uploaded"]
    )
    assert "sandbox" in whole.headers["content-security-policy"] and whole.headers["accept-ranges"] == "bytes"
    assert whole.headers["content-disposition"] == "inline; filename*=utf-8''mill%20%5B1%5D.md"
    part = await client.get(mill["media"], headers={"range": "bytes=2-9"})
    assert (part.status_code, part.content) == (206, MILL[2:10])
    assert part.headers["content-range"] == f"bytes 2-9/{len(MILL)}" and part.headers["content-length"] == "8"
    assert (await client.get(mill["media"], headers={"range": "bytes=9999-"})).status_code == 416
    assert (await client.get(mill["media"], headers={"range": f"bytes={'9' * 5000}-"})).content == MILL
    assert (await client.get(mill["media"], headers={"range": "bytes=40-"})).content == MILL[40:]
    assert (await client.get(mill["media"], headers={"range": "bytes=-5"})).content == MILL[-5:]
    head = await client.head(mill["media"], headers={"range": "bytes=0-3"})
    assert (head.status_code, head.headers["content-length"], head.content) == (206, "4", b"")
    assert not uploads.folder_of("x").parent.exists()
    folder, store = uploads.folder_of((await open_library()).id), objects()
    assert store is not None and store.names(folder) == ["mill [1].md"]
    assert (
        await client.delete("/api/sources", params={"library": "default", "ids": mill["id"]})
    ).status_code == 204
    assert store.names(folder) == [] and (await client.get(mill["media"])).status_code == 404


@pytest.mark.usefixtures("url")
async def test_a_server_goes_on_with_what_one_that_is_gone_had_taken(notes: Path) -> None:
    library = await open_library()
    uploads.keep("mill.md", io.BytesIO(MILL), library.id)
    shutil.rmtree(uploads.folder_of(library.id))
    app = create_app(ServeSettings())
    async with in_process(app) as client:
        for job in list(app.state.app_state.jobs._jobs.values()):
            await job.task
        found = (await client.post("/search", json={"query": "Who built the mill?"})).json()["results"]
        assert "Odo Marsh" in found[0]["text"]
        shutil.rmtree(uploads.folder_of(library.id))
        await app.state.app_state.jobs.take_over()
        assert not app.state.app_state.jobs._jobs


@pytest.mark.usefixtures("url")
async def test_an_upload_that_the_store_does_not_take_is_refused_and_leaves_nothing(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(self: Objects, path: Path, content: Path) -> None:
        raise StorageError("The object store cannot be used", "check RAGWEAVE_MEDIA_URL", 503)

    monkeypatch.setattr(Objects, "put", away)
    sent = await client.post("/api/upload", data={"library": "default"}, files=[("files", ("mill.md", MILL))])
    assert sent.status_code == 503 and "RAGWEAVE_MEDIA_URL" in sent.json()["remedy"]
    assert list(uploads.folder_of((await open_library()).id).iterdir()) == []
