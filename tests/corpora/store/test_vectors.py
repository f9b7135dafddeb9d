"""Vectors: exact where they are few or new, through an index where they are many, and right with any index.

The same over both indexes there are: folders of Chroma under the home, and collections of a Chroma server.
"""

import subprocess
import sys

import numpy as np
import pytest

from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.store import blobs
from ragweave.corpora.store import exact as module
from ragweave.corpora.store.blobs import item_of
from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.schema import bump, indexes, sources
from ragweave.corpora.store.vectors import Vectors

pytestmark = pytest.mark.both

EYE = np.eye(4, dtype=np.float32)


@pytest.fixture
def catalog(home):
    found = Catalog(home)
    row = found.create("default", "enc", 4)
    with found.writing(row.id) as connection:
        blank = {"kind": "", "title": "", "status": "ok", "reason": "", "bytes": 0, "sha256": "", "params_hash": ""}
        blank |= {"warnings": [], "author": "", "language": "", "indexed_at": "", "named": ""}
        connection.execute(sources.insert(), [{**blank, "id": id_} for id_ in ("s", "s1", "s2", "t")])
    yield found
    found.close()


@pytest.fixture
def lib(catalog):
    return catalog.library("default").id


@pytest.fixture(params=["folder", pytest.param("server", marks=pytest.mark.cluster)])
def vectors(catalog, home, request):
    server = None
    if request.param == "server":
        server = CorporaSettings(chroma_url=request.getfixturevalue("chroma_url"))
    found = Vectors(catalog, home, server)
    yield found
    found.close()


def put(catalog, rows, corpus="paragraph", space="enc"):
    """Write (chunk id, source, vector) rows and begin the next generation."""
    lib = catalog.library("default").id
    ids, belongs, values = zip(*rows, strict=True)
    with catalog.writing(lib) as connection:
        blobs.put(connection, corpus, space, ids, belongs, np.array(values, dtype=np.float32))
        bump(connection)


def ask(vectors, lib, query, k=5, corpus="paragraph", only=()):
    return vectors.query(lib, corpus, "enc", np.array([query], dtype=np.float32), k, only)[0]


def indexes_of(vectors, lib):
    return vectors._indexes.names(lib)


def names(hits):
    return [i for i, _ in hits]


def test_chunks_of_one_item_are_joined_by_their_best(catalog, vectors, lib):
    put(catalog, [("a~0", "s", EYE[0]), ("a~1", "s", EYE[1]), ("b~0", "s", EYE[0] + EYE[1])], "document")
    assert vectors.tidy(lib) == ""
    found = ask(vectors, lib, 3 * EYE[1], corpus="document")
    assert names(found) == ["a", "b"]
    assert [s for _, s in found] == pytest.approx([1.0, 0.7071], abs=1e-3)


def test_the_source_filter_leaves_the_others_out(catalog, vectors, lib):
    put(catalog, [("a~0", "s1", EYE[0]), ("b~0", "s2", EYE[1])])
    assert vectors.tidy(lib) == ""
    assert names(ask(vectors, lib, EYE[0], only=["s2"])) == ["b"]
    assert ask(vectors, lib, EYE[0], only=["nothing"]) == []


def test_a_vector_of_zeros_is_neither_stored_nor_asked(catalog, vectors, lib):
    put(catalog, [("a~0", "s", EYE[0]), ("b~0", "s", EYE[0] * 0), ("c~0", "s", EYE[0] * np.nan)])
    assert vectors.ids(lib, "paragraph", "enc") == ["a~0"]
    assert ask(vectors, lib, EYE[0] * 0) == []


def test_a_corpus_or_an_encoder_without_vectors_finds_nothing(catalog, vectors, lib):
    put(catalog, [("a~0", "s", EYE[0])])
    assert vectors.tidy(lib) == ""
    assert ask(vectors, lib, EYE[0], corpus="document") == []
    assert vectors.query(lib, "paragraph", "other", EYE[:1], 5) == [[]]


def test_vectors_go_with_their_source_and_are_replaced_by_their_id(catalog, vectors, lib):
    put(catalog, [("a~0", "s1", EYE[0]), ("b~0", "s2", EYE[1]), ("c~0", "s1", EYE[2])])
    assert vectors.tidy(lib) == ""
    with catalog.writing(lib) as connection:
        connection.exec_driver_sql("DELETE FROM sources WHERE id = 's1'")
        bump(connection)
    put(catalog, [("b~0", "s2", EYE[3])])
    assert vectors.ids(lib, "paragraph", "enc") == ["b~0"]
    assert ask(vectors, lib, EYE[3]) == [("b", pytest.approx(1.0))]


def test_what_another_process_wrote_is_seen_at_once(catalog, vectors, lib, home):
    put(catalog, [("a~0", "s", EYE[0])])
    assert vectors.tidy(lib) == ""
    assert names(ask(vectors, lib, EYE[0])) == ["a"]
    code = (
        "import sys, numpy as np; from pathlib import Path\n"
        "from ragweave.corpora.store import blobs\n"
        "from ragweave.corpora.store.catalog import Catalog\n"
        "from ragweave.corpora.store.schema import bump\n"
        "catalog = Catalog(Path(sys.argv[1])); lib = catalog.library('default').id\n"
        "with catalog.writing(lib) as connection:\n"
        "    connection.exec_driver_sql(\"DELETE FROM sources WHERE id = 's'\")\n"
        "    eye = np.eye(4, dtype='float32')[1:2]\n"
        "    blobs.put(connection, 'paragraph', 'enc', ['b~0'], ['t'], eye)\n"
        "    bump(connection)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(home)], check=True)
    assert names(ask(vectors, lib, EYE[1])) == ["b"]


def test_an_item_id_may_hold_the_mark_of_a_chunk():
    assert item_of("a~b~3") == "a~b"


SPREAD = np.random.default_rng(5).standard_normal((60, 4)).astype(np.float32)


@pytest.fixture
def indexed(catalog, vectors, lib, monkeypatch):
    """Sixty vectors with an index, and ten that came later."""
    monkeypatch.setattr(vectors, "_least", 20)
    put(catalog, [(f"i{n}~0", "s1" if n % 2 else "s2", v) for n, v in enumerate(SPREAD[:50])])
    assert vectors.tidy(lib) == ""
    put(catalog, [(f"i{n}~0", "s1" if n % 2 else "s2", v) for n, v in enumerate(SPREAD[50:], 50)])
    assert vectors.tidy(lib) == ""


def index_of(catalog, lib):
    with catalog.reading(lib) as connection:
        return connection.execute(indexes.select()).mappings().first()


def exact(query, alive=range(60), k=5):
    unit = SPREAD / np.linalg.norm(SPREAD, axis=1, keepdims=True)
    return [f"i{n}" for n in sorted(alive, key=lambda n: -float(unit[n] @ query))[:k]]


def test_vectors_that_are_read_in_parts_lie_in_the_order_of_their_rows(catalog, vectors, lib, monkeypatch):
    monkeypatch.setattr(module, "in_parts", lambda values: [values[i : i + 7] for i in range(0, len(values), 7)])
    for some in (range(30), range(30, 60)):  # at once, and behind what is held
        put(catalog, [(f"i{n}~0", "s", SPREAD[n]) for n in some])
        for query in SPREAD[::7]:
            assert names(ask(vectors, lib, query)) == exact(query, range(some.stop))


def test_an_index_answers_with_what_came_after_it_and_without_what_has_gone(catalog, vectors, lib, indexed, home):
    index = index_of(catalog, lib)
    assert index["count"] == 50 and indexes_of(vectors, lib) == {index["name"]}
    for query in SPREAD[::7]:
        assert names(ask(vectors, lib, query)) == exact(query)
    assert vectors._held._rows[lib, "paragraph", "enc"].n.size == 10, "what the index holds was compared one by one"
    odd = [n for n in range(60) if n % 2]
    assert names(ask(vectors, lib, SPREAD[3], only=["s1"])) == exact(SPREAD[3], odd)
    with catalog.writing(lib) as connection:
        connection.exec_driver_sql("DELETE FROM sources WHERE id = 's1'")
        bump(connection)
    even = [n for n in range(60) if not n % 2]
    for query in SPREAD[::7]:
        assert names(ask(vectors, lib, query, k=20)) == exact(query, even, 20)


def test_an_index_is_made_anew_when_much_has_changed_and_the_old_one_goes(catalog, vectors, lib, indexed, home):
    before = index_of(catalog, lib)["name"]
    put(catalog, [(f"j{n}~0", "t", v) for n, v in enumerate(SPREAD)])
    assert vectors.tidy(lib) == ""
    after = index_of(catalog, lib)
    assert (after["count"], after["name"] != before) == (120, True)
    assert indexes_of(vectors, lib) == {after["name"]}


def garbage(path):
    for file in path.rglob("*"):
        if file.is_file():
            file.write_bytes(b"\xff" * file.stat().st_size)


def cut(path):
    for file in path.rglob("*.bin"):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def no_database(path):
    (path / "chroma.sqlite3").write_bytes(b"no database" * 100)


def gone(path):
    for file in path.rglob("*"):
        if file.is_file():
            file.unlink()


in_a_folder = pytest.mark.parametrize("vectors", ["folder"], indirect=True)


@in_a_folder
@pytest.mark.parametrize("harm", [garbage, cut, no_database, gone])
def test_a_damaged_index_is_answered_without_and_made_anew(catalog, vectors, lib, indexed, home, harm):
    [path] = home.glob("libraries/*/chroma/*")
    harm(path)
    for query in SPREAD[::7]:
        assert names(ask(vectors, lib, query)) == exact(query)
    assert index_of(catalog, lib) is None
    assert vectors.tidy(lib) == ""
    assert index_of(catalog, lib)["count"] == 60
    assert names(ask(vectors, lib, SPREAD[3])) == exact(SPREAD[3])


@in_a_folder
def test_a_panic_of_chroma_is_a_broken_index(catalog, vectors, lib, indexed, monkeypatch):
    class Panic(BaseException):
        pass

    def panics(*args):
        raise Panic("called `Option::unwrap()` on a `None` value")

    monkeypatch.setattr("ragweave.corpora.store.chroma.client_of", panics)
    assert names(ask(vectors, lib, SPREAD[3])) == exact(SPREAD[3])
    assert index_of(catalog, lib) is None


@in_a_folder
def test_an_index_that_cannot_be_made_is_said_and_leaves_nothing(catalog, vectors, lib, home, monkeypatch):
    monkeypatch.setattr(vectors, "_least", 20)
    monkeypatch.setattr("ragweave.corpora.store.chroma.sys.executable", "/bin/false")
    put(catalog, [(f"i{n}~0", "s", v) for n, v in enumerate(SPREAD)])
    assert "cannot be made" in vectors.tidy(lib)
    assert list(home.glob("libraries/*/chroma/*")) == []
    assert names(ask(vectors, lib, SPREAD[3])) == exact(SPREAD[3])


def test_what_was_deleted_leaves_the_index_when_it_has_to(catalog, vectors, lib, indexed):
    before = index_of(catalog, lib)["name"]
    with catalog.writing(lib) as connection:
        connection.exec_driver_sql("DELETE FROM sources WHERE id = 's1'")
        bump(connection)
    vectors.forget_indexes(lib)
    assert before not in indexes_of(vectors, lib) and (index_of(catalog, lib) or {}).get("name") != before
    assert names(ask(vectors, lib, SPREAD[4])) == exact(SPREAD[4], range(0, 60, 2))


def test_a_library_that_is_deleted_takes_its_indexes_with_it(vectors, lib, indexed):
    vectors.drop(lib)
    assert indexes_of(vectors, lib) == set()


def test_the_memory_that_vectors_take_is_bounded(catalog, vectors, lib, monkeypatch):
    monkeypatch.setattr(module, "_HELD", 1)
    for corpus in ("paragraph", "document"):
        put(catalog, [("a~0", "s", EYE[0])], corpus)
        assert names(ask(vectors, lib, EYE[0], corpus=corpus)) == ["a"]
    assert len(vectors._held._rows) == 1
