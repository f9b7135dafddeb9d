import asyncio
import hashlib
import json
import os
import shutil
import sqlite3
import zipfile
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store import bundle as module
from ragweave.corpora.store.bundle import CATALOG, MANIFEST, export_library, import_library
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.stores import close_stores, stores
from ragweave.models.errors import InputError, LibraryError
from ragweave.models.settings import model_settings
from ragweave.tests.corpora.conftest import in_home

pytestmark = pytest.mark.both


@pytest.fixture(scope="session")
def exported(_indexed, tmp_path_factory):
    """What `export_library` told of the library of the three notes and of a file that could not be read."""
    folder = tmp_path_factory.mktemp("exported")
    shutil.copytree(_indexed, folder / "all")
    with in_home(folder / "all" / "home"):
        (_indexed / "notes" / "bad.pdf").write_bytes(b"%PDF-1.7\nnothing of the kind")
        asyncio.run(index([_indexed / "notes"]))
        (_indexed / "notes" / "bad.pdf").unlink()
        written = asyncio.run(export_library("default", folder / "notes.ragweave"))
    assert (written.sources, written.items, written.vectors) == (3, 6, 6)
    return written


@pytest.fixture
def bundle(exported, engine, notes, tmp_path, monkeypatch):
    """A copy of that bundle, and a new machine: an empty home, and an encoder that must not be asked."""
    shutil.copy(exported.path, tmp_path / "notes.ragweave")
    if engine == "postgres":
        stores().catalog.delete(stores().catalog.library("default").id)
    close_stores()
    monkeypatch.setenv("RAGWEAVE_HOME", str(tmp_path / "elsewhere"))
    model_settings.cache_clear()
    embedding = "ragweave.models.static_embed.WordLlamaEncoder.texts"
    monkeypatch.setattr(embedding, lambda *a: pytest.fail("it was embedded"))
    return replace(exported, path=tmp_path / "notes.ragweave")


def parts(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path, changed, resign=True):
    """Write a bundle anew with some parts exchanged; with their digests, unless told otherwise."""
    every = {**parts(path), **changed}
    manifest = json.loads(every[MANIFEST])
    if resign:
        manifest["parts"] |= {n: hashlib.sha256(data).hexdigest() for n, data in changed.items() if n != MANIFEST}
        every[MANIFEST] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in every.items():
            archive.writestr(name, data)


def rows(path):
    """Return everything that the catalog of a bundle holds, but for when it was indexed."""
    with closing(sqlite3.connect(":memory:")) as raw:
        raw.deserialize(parts(path)[CATALOG])
        tables = ("sources", "paths", "items", "vectors", "stages", "mentions", "relations")
        return {t: sorted(map(repr, raw.execute(f"SELECT * FROM {t}"))) for t in tables}


async def test_another_machine_opens_it_without_embedding(bundle, tmp_path, monkeypatch):
    opened = await import_library(bundle.path, files=tmp_path / "notes")
    assert (opened.library, opened.sources, opened.items, opened.vectors) == ("default", 3, 6, 6)
    assert opened.sha256 == bundle.sha256
    monkeypatch.undo()
    monkeypatch.setenv("RAGWEAVE_HOME", str(tmp_path / "elsewhere"))
    model_settings.cache_clear()
    library = await open_library()
    for corpus in ("paragraph", "document"):
        [lists] = await library.search(corpus, ["aqueducts of Rome"])
        assert lists.dense[0].id == lists.lexical[0].id
        assert (await library.items([lists.dense[0].id]))[lists.dense[0].id].locator["file"] == str(
            tmp_path / "notes" / "rome.md"
        )
    report = await index([tmp_path / "notes"])
    assert (report.unchanged, report.indexed) == (3, 0)


async def test_a_bundle_tells_nothing_of_where_the_files_lay(bundle, _indexed):
    everything = b"".join(parts(bundle.path).values())
    assert b"rome.md" in everything and "deeper/长安.md".encode() in everything
    assert str(_indexed).encode() not in everything and b"bad.pdf" not in everything


async def test_what_was_imported_is_exported_as_it_was(bundle, tmp_path):
    await import_library(bundle.path)
    again = await export_library("default", tmp_path / "again.ragweave")
    assert rows(again.path) == rows(bundle.path)


def left(home):
    return list((home / "libraries").glob("*"))


def harmed(statement, *values):
    """Return what a bundle is changed to: its catalog after a statement that no constraint holds back."""

    def change(p):
        with closing(sqlite3.connect(":memory:")) as raw:
            raw.deserialize(p[CATALOG])
            raw.execute("PRAGMA foreign_keys = OFF")
            raw.execute(statement, values)
            raw.commit()
            return {CATALOG: raw.serialize()}

    return change


def nan():
    return np.array([np.nan] * 256, "<f4").tobytes()


SOURCE = "INSERT INTO mentions SELECT 1, id, 'c', 'e', '', '', '', ? FROM sources LIMIT 1"

TAMPERED = {
    "an item": (harmed("UPDATE items SET text = 'forged'"), False, "was changed"),
    "a part more": (lambda p: {"evil.py": b"print()"}, False, "other parts"),
    "a part more, named": (lambda p: {"evil.py": b"print()"}, True, "other parts"),
    "a picture that leads out": (lambda p: {"media/../../x.png": b""}, True, "other parts"),
    "a picture without source": (lambda p: {f"media/{'0' * 24}/x.png": b""}, True, "without its source"),
    "a path that leads out": (harmed("UPDATE paths SET path = '../../etc/passwd' WHERE rowid = 1"), True, "leads out"),
    "an absolute path": (harmed("UPDATE paths SET path = '/etc/passwd' WHERE rowid = 1"), True, "leads out"),
    "a trigger": (harmed("CREATE TRIGGER t AFTER INSERT ON items BEGIN DELETE FROM items; END"), True, "tables"),
    "another column": (harmed("ALTER TABLE sources ADD COLUMN extra TEXT"), True, "tables"),
    "an item without source": (harmed("UPDATE items SET source = 'x'"), True, "FOREIGN KEY"),
    "an unknown corpus": (harmed("UPDATE items SET corpus = 'x' WHERE n = 1"), True, "cannot be used"),
    "an item with other spans": (harmed("UPDATE items SET spans = '[[\"a\"]]'"), True, "cannot be used"),
    "an item that is no text": (harmed("UPDATE items SET text = x'00ff'"), True, "with another text"),
    "a list that is no JSON": (harmed("UPDATE items SET heading = '{]'"), True, "with another heading"),
    "a place that is none": (harmed('UPDATE items SET locator = \'{"page": "x"}\''), True, "cannot be used"),
    "a date that is none": (harmed("UPDATE sources SET date = 'yesterday'"), True, "cannot be used"),
    "a state that is none": (harmed("UPDATE sources SET status = 'fine'"), True, "unknown state"),
    "a vector without item": (harmed("UPDATE vectors SET item = 'x' WHERE n = 1"), True, "without its item"),
    "a vector that is no number": (harmed("UPDATE vectors SET data = ?", nan()), True, "length 1"),
    "a vector cut short": (harmed("UPDATE vectors SET data = x'0000803f' WHERE n = 1"), True, "another length"),
    "a mention of nothing": (harmed(SOURCE, '["a"]'), True, "cannot be used"),
    "an ageing that is none": (harmed("UPDATE about SET half_life = -1"), True, "ages"),
    "two libraries": (harmed("INSERT INTO about VALUES ('x', 'y', 1, 1, 'auto', NULL)"), True, "none"),
    "no catalog": (lambda p: {CATALOG: b"no database at all" * 500}, True, "cannot be used"),
    "a bomb": (lambda p: {CATALOG: bytes(10_000_000)}, True, "would unpack"),
    "a newer schema": (lambda p: {MANIFEST: b'{"schema": 99}'}, False, "newer Ragweave"),
    "an earlier schema": (lambda p: {MANIFEST: b'{"schema": 5}'}, False, "an earlier Ragweave"),
    "a manifest that is a list": (lambda p: {MANIFEST: b"[[[]]]"}, False, "cannot be used"),
}


@pytest.mark.sqlite  # what follows is refused before anything is stored
@pytest.mark.parametrize("what", TAMPERED)
async def test_a_bundle_that_was_tampered_with_is_refused_and_leaves_nothing(bundle, tmp_path, monkeypatch, what):
    change, resign, said = TAMPERED[what]
    monkeypatch.setattr(module, "RATIO_FROM", 1_000_000)
    rewrite(bundle.path, change(parts(bundle.path)), resign)
    with pytest.raises(InputError, match=said):
        await import_library(bundle.path)
    assert [row.name for row in stores().catalog.libraries()] == []
    assert left(tmp_path / "elsewhere") == []


async def test_a_file_that_a_locator_names_is_not_opened(bundle, tmp_path):
    forged = 'UPDATE items SET locator = \'{"kind": "heading", "file": "/etc/passwd"}\''
    rewrite(bundle.path, harmed(forged)(parts(bundle.path)))
    await import_library(bundle.path, files=tmp_path / "notes")
    [row] = stores().catalog.libraries()
    for page in stores().catalog.pages(row.id, "paragraph"):
        held = stores().catalog.items(row.id, [item.id for item in page])
        assert all(i.locator["file"].startswith(str(tmp_path / "notes")) for i in held.values())
        assert all(i.locator["file"] == "" for i in page)


@pytest.mark.sqlite
async def test_a_flipped_byte_is_noticed_or_harmless_and_a_bundle_that_is_cut_short_refused(bundle):
    data = bundle.path.read_bytes()
    for at in range(0, len(data), max(1, len(data) // 20)):
        bundle.path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        try:
            opened = await import_library(bundle.path, f"try {at}")
        except InputError:
            continue
        assert opened.sha256 == bundle.sha256
    for share in (0.0, 0.3, 0.6, 0.99):
        bundle.path.write_bytes(data[: int(len(data) * share)])
        with pytest.raises(InputError):
            await import_library(bundle.path)


async def test_what_is_no_bundle_and_what_is_in_the_way_are_sentences(bundle, tmp_path, monkeypatch):
    (tmp_path / "text").write_text("no bundle")
    with pytest.raises(InputError, match="no bundle"):
        await import_library(tmp_path / "text")
    with pytest.raises(InputError, match="cannot be read"):
        await import_library(tmp_path / "nowhere")
    await import_library(bundle.path)
    with pytest.raises(InputError, match="exists"):
        await export_library("default", bundle.path)
    with pytest.raises(LibraryError, match="cannot be written"):
        await export_library("default", tmp_path / "nowhere" / "x")
    monkeypatch.setattr(os, "replace", lambda *a: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(LibraryError, match="No space left"):
        await export_library("default", tmp_path / "out.ragweave")
    assert not [p for p in tmp_path.iterdir() if "out.ragweave" in p.name]
