"""Uploads in an object store: any server passes them on, and goes on with them, from an empty disk."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import httpx
import pytest

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.objects import Objects, objects
from ragweave.models.errors import StorageError
from ragweave.serve import uploads
from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.tests.serve.test_uploads import upload
from ragweave.tests.support.objects import bucket
from ragweave.tests.support.serving import in_process

MILL = b"# The mill\n\nThe mill was built in 1702 by Odo Marsh.\n"


@pytest.fixture(params=["file", "s3"], autouse=True)
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


async def test_an_upload_that_the_store_does_not_take_is_refused_and_leaves_nothing(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(self: Objects, path: Path, content: Path) -> None:
        raise StorageError("The object store cannot be used", "check RAGWEAVE_MEDIA_URL", 503)

    monkeypatch.setattr(Objects, "put", away)
    sent = await client.post("/api/upload", data={"library": "default"}, files=[("files", ("mill.md", MILL))])
    assert sent.status_code == 503 and "RAGWEAVE_MEDIA_URL" in sent.json()["remedy"]
    assert list(uploads.folder_of((await open_library()).id).iterdir()) == []
