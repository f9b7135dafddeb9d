"""Indexes of Chroma that a kill left half-written."""

import shutil
import threading

import numpy as np
import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store import spaces as module
from ragweave.corpora.store import torn as torn_module
from ragweave.corpora.store.library import close_all, open_library
from ragweave.corpora.store.repair import repair
from ragweave.corpora.store.stores import stores
from ragweave.corpora.store.torn import places, torn
from ragweave.models.errors import LibraryError

SMALL = {"space": "cosine", "max_neighbors": 4, "sync_threshold": 20, "batch_size": 10}


@pytest.fixture
async def synced(tmp_path, home, read_here, monkeypatch):
    """Notes whose index Chroma has written to disk, several times over."""
    monkeypatch.setattr(module, "HNSW", SMALL)
    monkeypatch.setattr(torn_module, "REST", 0.0)
    notes = tmp_path / "notes"
    notes.mkdir()
    for n in range(60):
        (notes / f"{n}.md").write_text(
            f"# Note {n}\n\nObelisk number {n} stood in {'Karnak Luxor Thebes'.split()[n % 3]}.\n"
        )
    await index([notes])
    close_all()
    return notes


def indexes(home):
    found = sorted(p.parent for p in (home / "chroma").rglob("header.bin"))
    assert all((p / "link_lists.bin").stat().st_size for p in found)
    return found


def cut(name, share):
    def harm(path):
        data = (path / name).read_bytes()
        (path / name).write_bytes(data[: int(len(data) * share)])

    return harm


def older(name):
    def harm(path):
        data = (path / name).read_bytes()
        (path / name).write_bytes(data[:-4] + b"\xf0\xff\xff\x7f" if name == "link_lists.bin" else data[:-4])

    return harm


def gone(name):
    return lambda path: (path / name).unlink()


FILES = ("header.bin", "data_level0.bin", "length.bin", "link_lists.bin")
HARM = [cut(n, share) for n in FILES for share in (0, 0.5)] + [older(n) for n in FILES] + [gone(n) for n in FILES[1:]]


async def test_sound_indexes_are_not_called_torn(synced, home):
    assert len(indexes(home)) == 2
    assert torn(home / "chroma") == []
    assert torn(home / "nothing") == []


async def test_every_kind_of_half_written_file_is_recognised(synced, home, tmp_path):
    for n, harm in enumerate(HARM):
        shutil.copytree(home / "chroma", tmp_path / str(n) / "chroma")
        first, _ = indexes(tmp_path / str(n))
        harm(first)
        assert torn(tmp_path / str(n) / "chroma") == [first], n


async def test_a_question_is_refused_before_chroma_opens_a_torn_index(synced, home):
    cut("link_lists.bin", 0.5)(indexes(home)[0])
    library = await open_library()
    with pytest.raises(LibraryError, match=r"half-written by a process that was killed.*--repair"):
        await library.search("paragraph", ["obelisk"])


async def sound():
    [row] = stores().catalog.libraries()
    for corpus in ("paragraph", "document"):
        ids = stores().vectors.ids(row.id, corpus, row.space, row.generation)
        assert len(ids) == 60
        vectors = stores().vectors.fetch(row.id, corpus, row.space, row.generation, ids)[2]
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    [lists] = await (await open_library()).search("paragraph", ["obelisk in Karnak"], 60)
    assert len(lists.lexical) == 60 and lists.dense


@pytest.mark.parametrize("both", [False, True])
async def test_the_next_run_of_index_makes_the_vectors_again(synced, home, both):
    for path in indexes(home)[: 2 if both else 1]:
        cut("link_lists.bin", 0.5)(path)
    report = await index([synced])
    assert report.unchanged == 60
    await sound()


async def test_the_repair_makes_the_vectors_again_and_counts_them(synced, home):
    cut("length.bin", 0.5)(indexes(home)[0])
    done = await repair()
    assert (done.before.items_without_vectors, done.after.sound) == (60, True)
    await sound()


async def test_between_the_loss_and_the_new_vectors_no_question_is_answered_with_nothing(synced, home, monkeypatch):
    for path in indexes(home):
        cut("length.bin", 0.5)(path)
    with monkeypatch.context() as broken:
        broken.setattr("ragweave.corpora.store.rebuild.missing", lambda *a: (_ for _ in ()).throw(KeyError))
        with pytest.raises(KeyError):
            await index([synced])
    close_all()
    with pytest.raises(LibraryError, match="--repair"):
        await (await open_library()).search("paragraph", ["obelisk"])
    await index([synced])
    await sound()


async def test_an_index_that_is_being_written_is_waited_for_and_not_called_torn(synced, home, monkeypatch):
    monkeypatch.setattr(torn_module, "REST", 60.0)
    header = indexes(home)[0] / "header.bin"
    whole = header.read_bytes()
    header.write_bytes(b"")
    assert places(home / "chroma")[header.parent.name] == 0
    threading.Timer(0.3, header.write_bytes, [whole]).start()
    assert torn(home / "chroma") == []
    assert min(places(home / "chroma").values()) > 0
