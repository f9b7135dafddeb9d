import asyncio
import base64
import hashlib
import json
import os
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.ingest.run import index
from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.store import unbundle
from ragweave.corpora.store.bundle import MANIFEST, export_library, manifest_bytes
from ragweave.corpora.store.library import close_all, list_libraries, open_library, set_ageing
from ragweave.corpora.store.unbundle import import_library
from ragweave.models.errors import InputError, LibraryError
from ragweave.models.settings import model_settings


@pytest.fixture(scope="session")
def exported(_indexed, tmp_path_factory):
    """What `export_library` told of the library of the three notes and of a file that could not be read."""
    folder = tmp_path_factory.mktemp("exported")
    shutil.copytree(_indexed, folder / "all")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGWEAVE_HOME", str(folder / "all" / "home"))
        patch.setattr(
            Readers, "read", lambda self, path, source, words, *more: prepare(Path(path), source, words, *more)
        )
        model_settings.cache_clear()
        (_indexed / "notes" / "bad.pdf").write_bytes(b"%PDF-1.7\nnothing of the kind")
        asyncio.run(index([_indexed / "notes"]))
        (_indexed / "notes" / "bad.pdf").unlink()
        written = asyncio.run(export_library("default", folder / "notes.ragweave"))
        close_all()
        model_settings.cache_clear()
    assert (written.sources, written.items, written.vectors) == (3, 6, 6)
    return written


@pytest.fixture
def bundle(exported, notes, tmp_path, monkeypatch):
    """A copy of that bundle, and a new machine: an empty home, and an encoder that must not be asked."""
    shutil.copy(exported.path, tmp_path / "notes.ragweave")
    close_all()
    monkeypatch.setenv("RAGWEAVE_HOME", str(tmp_path / "elsewhere"))
    model_settings.cache_clear()
    monkeypatch.setattr("ragweave.models.embed.WordLlamaEncoder.texts", lambda *a: pytest.fail("it was embedded"))
    return replace(exported, path=tmp_path / "notes.ragweave")


def parts(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path, changed, resign=True):
    """Write a bundle anew with some parts exchanged; with its digests, unless told otherwise."""
    manifest = json.loads(changed.pop(MANIFEST, parts(path)[MANIFEST]))
    every = {**parts(path), **changed}
    if resign:
        for name, data in changed.items():
            manifest["parts"].setdefault(name, {"rows": 1})
            manifest["parts"][name] |= {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    every[MANIFEST] = manifest_bytes(manifest)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in every.items():
            archive.writestr(name, data)


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
    one, other = parts(bundle.path), parts(again.path)
    for name in one:
        if name != MANIFEST:
            assert one[name] == other[name], name
    assert (await export_library("default", tmp_path / "third.ragweave")).sha256 == again.sha256


async def test_how_its_documents_age_travels_with_a_library(bundle, tmp_path):
    await import_library(bundle.path)
    await set_ageing("default", "on", 30)
    again = await export_library("default", tmp_path / "again.ragweave")
    await import_library(again.path, "second")
    about = await (await open_library("second")).about()
    assert (about.recency, about.half_life) == ("on", 30)


async def test_files_that_are_not_here_are_indexed_later_without_reading(bundle, tmp_path):
    await import_library(bundle.path, "carried")
    report = await index([tmp_path / "notes"], "carried")
    assert (report.linked, report.indexed) == (3, 0)


async def test_a_name_that_is_taken_is_refused(bundle):
    await import_library(bundle.path)
    with pytest.raises(LibraryError, match="exists"):
        await import_library(bundle.path)
    await import_library(bundle.path, "second")
    assert await list_libraries() == ["default", "second"]


def left(home):
    return list((home / "libraries").glob("*"))


def first(data, /, **values):
    rows = [json.loads(line) for line in data.splitlines()]
    rows[0] |= values
    return b"".join(json.dumps(r).encode() + b"\n" for r in rows)


def forged(part, /, **values):
    return lambda p: {part: first(p[part], **values)}


MENTION = json.dumps(
    {"source": "0" * 24, "chunk": "1" * 24, "entity": "2" * 24, "name": "Rome", "kind": "", "description": ""}
    | {"items": []}
).encode()


def packed(*values):
    return base64.b64encode(np.array(values, dtype="<f4").tobytes()).decode()


TAMPERED = {
    "an item": (forged("items.jsonl", text="forged"), False, "was changed"),
    "a vector": (lambda p: {"vectors.jsonl": p["vectors.jsonl"].replace(b"A", b"B", 1)}, False, "was changed"),
    "a part more": (lambda p: {"evil.py": b"print()"}, False, "other parts"),
    "a part more, named": (lambda p: {"evil.py": b"print()"}, True, "other parts"),
    "a path that leads out": (forged("paths.jsonl", path="../../etc/passwd"), True, "leads out"),
    "an absolute path": (forged("paths.jsonl", path="/etc/passwd"), True, "leads out"),
    "a source of an unknown form": (forged("sources.jsonl", extra=1), True, "row"),
    "an item without source": (forged("items.jsonl", source="0" * 24), True, "without its source"),
    "an item twice": (lambda p: {"items.jsonl": p["items.jsonl"] * 2}, True, "row twice"),
    "an unknown corpus": (forged("items.jsonl", corpus="x"), True, "row"),
    "an item with other spans": (forged("items.jsonl", spans=[["a"]]), True, "row"),
    "a vector without item": (forged("vectors.jsonl", item="0" * 24), True, "without its item"),
    "a vector of another corpus": (forged("vectors.jsonl", corpus="video"), True, "without its item"),
    "a vector that is no number": (forged("vectors.jsonl", data=packed(*[np.nan] * 256)), True, "length 1"),
    "a vector cut short": (forged("vectors.jsonl", data=packed(1.0)), True, "another length"),
    "bytes that are no floats": (forged("vectors.jsonl", data="AAAA"), True, "length 1"),
    "a mention without source": (lambda p: {"mentions.jsonl": MENTION}, True, "without its source"),
    "lines that are no JSON": (lambda p: {"items.jsonl": b"{]\n"}, True, "row"),
    "a long line": (lambda p: {"items.jsonl": b" " * 3000 + b"\n"}, True, "line of more"),
    "a bomb": (lambda p: {"items.jsonl": b" " * 10_000_000}, True, "would unpack"),
    "a newer format": (
        lambda p: {MANIFEST: json.dumps({"format": 4, "other": "things"}).encode()},
        False,
        "newer Ragweave",
    ),
    "an earlier format": (
        lambda p: {MANIFEST: json.dumps({"format": 2, "parts": {}}).encode()},
        False,
        "an earlier Ragweave",
    ),
    "another manifest": (lambda p: {MANIFEST: json.dumps({"format": 3, "parts": {}}).encode()}, False, "manifest"),
    "a manifest that is a list": (lambda p: {MANIFEST: b"[[[]]]"}, None, "manifest"),
}


@pytest.mark.parametrize("what", TAMPERED)
async def test_a_bundle_that_was_tampered_with_is_refused_and_leaves_nothing(bundle, tmp_path, monkeypatch, what):
    change, resign, said = TAMPERED[what]
    monkeypatch.setattr(unbundle, "MAX_LINE", 2_000)
    monkeypatch.setattr(unbundle, "RATIO_FROM", 1_000_000)
    changed = change(parts(bundle.path))
    if resign is None:
        with zipfile.ZipFile(bundle.path, "w") as archive:
            archive.writestr(MANIFEST, changed[MANIFEST])
    else:
        rewrite(bundle.path, changed, resign)
    with pytest.raises(InputError, match=said):
        await import_library(bundle.path)
    assert await list_libraries() == []
    assert left(tmp_path / "elsewhere") == []


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.99])
async def test_a_bundle_that_is_cut_short_is_refused(bundle, share):
    data = bundle.path.read_bytes()
    bundle.path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(InputError):
        await import_library(bundle.path)


async def test_a_flipped_byte_anywhere_is_noticed_or_harmless(bundle):
    data = bundle.path.read_bytes()
    for at in range(0, len(data), max(1, len(data) // 20)):
        bundle.path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        try:
            opened = await import_library(bundle.path, f"try {at}")
        except InputError:
            continue
        assert opened.sha256 == bundle.sha256


async def test_a_failure_half_way_leaves_nothing(bundle, tmp_path, monkeypatch):
    monkeypatch.setattr(unbundle, "terms_of", lambda rows: (_ for _ in ()).throw(LibraryError("full", "")))
    with pytest.raises(LibraryError):
        await import_library(bundle.path)
    assert await list_libraries() == []
    assert left(tmp_path / "elsewhere") == []


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
