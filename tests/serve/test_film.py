"""The film of an answer's cited moments, as the page fetches it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from pathlib import Path

import httpx
import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.stores import stores
from ragweave.corpora.video.ffmpeg import binary
from ragweave.corpora.video.streams import examine


async def test_cited_moments_come_as_one_film_to_keep(
    client: httpx.AsyncClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "films" / "film.mp4"
    path.parent.mkdir()
    drawn = [
        "-v",
        "error",
        "-f",
        "lavfi",
        "-i",
        "testsrc=size=160x120:rate=10:duration=4",
        "-pix_fmt",
        "yuv420p",
    ]
    await asyncio.to_thread(subprocess.run, [binary(), *drawn, path], check=True, stdin=subprocess.DEVNULL)
    await index([path.parent], "default")
    row, catalog = stores().catalog.library("default"), stores().catalog
    [clip] = [item for page in catalog.pages(row.id, "clip") for item in page]
    [note, *_] = [item for page in catalog.pages(row.id, "paragraph") for item in page]
    moment = {"id": clip.id, "start": 1, "end": 3}
    (scratch := tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    response = await client.post(
        f"/media/{row.id}/film", json={"moments": [moment, {**moment, "id": note.id}]}
    )
    assert response.status_code == 200 and response.headers["content-type"] == "video/mp4"
    assert response.headers["content-disposition"] == 'attachment; filename="film.mp4"'
    (tmp_path / "got.mp4").write_bytes(response.content)
    assert examine(str(tmp_path / "got.mp4"), "mov").duration == 4.0
    assert os.listdir(scratch) == []

    for moments in ([{**moment, "id": note.id}], [{**moment, "id": "nothing"}]):
        missing = await client.post(f"/media/{row.id}/film", json={"moments": moments})
        assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    path.unlink()
    gone = await client.post(f"/media/{row.id}/film", json={"moments": [moment]})
    assert gone.status_code == 422 and "ilm.mp4 is gone" in gone.text
