"""Texts are stored before pictures are read; the library that comes of it is the same, also after a kill in between."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ragweave.corpora.ingest.events import Event
from ragweave.corpora.ingest.pipeline import Pipeline
from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import delete_library, open_library
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.stores import close_stores, stores
from ragweave.models.settings import model_settings
from ragweave.tests.corpora.images.test_files import WHOLE, pdf
from tests.corpora.images.conftest import BLUE, GREEN, RED, picture  # type: ignore[import-not-found]

KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.ingest.run import index
from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.store import commit

Readers.read = lambda self, path, source, words, *more, **_: prepare(Path(path), source, words, *more)
real, seen = commit.bump, []

def bump(connection):
    seen.append(connection)
    if len(seen) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(connection)

commit.bump = bump
asyncio.run(index([Path(sys.argv[1])]))
"""


@pytest.fixture
def folder(tmp_path: Path, read_here: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAGWEAVE_OCR", "off")
    model_settings.cache_clear()
    made = tmp_path / "notes"
    (made / ".img").mkdir(parents=True)
    (made / ".img" / "mole.png").write_bytes(picture(RED))
    (made / "port.md").write_text("# Port\n\nShips come in.\n\n![The mole](.img/mole.png)\n")
    (made / "photo.png").write_bytes(picture(GREEN))
    (made / "scan.pdf").write_bytes(pdf(([], [(BLUE, WHOLE)])))
    (made / "zebra.md").write_text("# Zebra\n\nIt has stripes.\n")
    return made


def whole() -> dict[str, Any]:
    """Everything that can be found, by ids: rows have their numbers in the order in which they came."""
    held = stores()
    row = held.catalog.library("default")
    queries = {
        "items": "SELECT id, source, corpus, title, text, locator, meta FROM items",
        "vectors": "SELECT item, part, data FROM vectors",
        "sources": "SELECT id, title, status, reason, warnings FROM sources",
        "words": "SELECT id, w.text FROM items JOIN lex_image w ON w.rowid = n",
    }
    with held.catalog.reading(row.id) as connection:
        state: dict[str, Any] = {
            name: sorted(map(repr, connection.exec_driver_sql(query))) for name, query in queries.items()
        }
    media = Media.of(row.id)
    return state | {"media": [file for source in media.orphans([]) for file in media.files(source)]}


async def story(folder: Path) -> list[Event]:
    told: list[Event] = []
    await index([folder], on_event=told.append)
    return told


async def test_all_texts_are_stored_before_a_picture_is_read_and_counts_name_each_file_once(
    folder: Path,
) -> None:
    told = await story(folder)
    [ready] = [n for n, event in enumerate(told) if event.kind == "ready"]
    left = {Path(e.path).name: (e.stage, e.total, e.items) for e in told[:ready] if e.kind == "later"}
    assert left == {
        "port.md": ("picture", 1, 3),
        "photo.png": ("picture", 1, 0),
        "scan.pdf": ("picture", 1, 0),
    }
    assert [Path(e.path).name for e in told[:ready] if e.kind == "done"] == ["zebra.md"]
    assert {Path(e.path).name for e in told[ready:] if e.kind == "done"} == set(left)
    report = told[-1].report
    assert report is not None and (told[ready].total, report.indexed, report.items) == (
        3,
        4,
        len(whole()["items"]),
    )
    assert not [e for e in await story(folder) if e.kind in ("later", "ready", "done")]


async def test_a_library_is_the_same_whether_its_texts_came_first_or_not(
    folder: Path, monkeypatch: Any
) -> None:
    await index([folder])
    before = whole()
    await delete_library("default")
    run = Pipeline.run

    def at_once(self: Pipeline, files: Any, known: Any, again: Any = (), **_: Any) -> list[str]:
        return run(self, files, known, again)

    monkeypatch.setattr(Pipeline, "run", at_once)
    assert not [e for e in await story(folder) if e.kind == "later"]
    assert whole() == before


@pytest.mark.parametrize("nth", [1, 2])
async def test_killed_between_texts_and_pictures_the_next_run_reads_what_is_missing(
    folder: Path, nth: int
) -> None:
    await index([folder])
    before = whole()
    await delete_library("default")
    close_stores()
    given = [sys.executable, "-c", KILLED, str(folder), str(nth)]
    done = await asyncio.to_thread(subprocess.run, given, capture_output=True, text=True)
    assert done.returncode == -9, done.stderr
    if nth == 2:  # the texts are there, and found
        library = await open_library()
        [lists] = await library.search("paragraph", ["ships stripes"])
        assert {h.id for h in lists.lexical} and len(whole()["sources"]) == 2
    told = await story(folder)
    assert whole() == before
    read = {Path(e.path).name for e in told if e.kind == "done"}
    assert read == {"port.md", "photo.png", "scan.pdf"} | ({"zebra.md"} if nth == 1 else set())
