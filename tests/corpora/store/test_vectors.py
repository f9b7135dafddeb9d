import subprocess
import sys

import numpy as np
import pytest

from ragweave.corpora.store.vectors import Vectors, item_of
from ragweave.models.errors import LibraryError

EYE = np.eye(4, dtype=np.float32)


@pytest.fixture
def vectors(home):
    found = Vectors(home)
    yield found
    found.close()


def put(vectors, rows, corpus="paragraph", generation=0):
    """Write (chunk id, source, vector) rows and begin the next generation."""
    with vectors.changing("lib", generation):
        ids, belongs, values = zip(*rows, strict=True)
        vectors.upsert("lib", corpus, "enc", ids, belongs, np.array(values, dtype=np.float32))
        vectors.reached("lib", generation + 1)


def ask(vectors, query, k=5, corpus="paragraph", generation=1, only=()):
    return vectors.query("lib", corpus, "enc", generation, np.array([query], dtype=np.float32), k, only)[0]


def test_chunks_of_one_item_are_joined_by_their_best(vectors):
    put(vectors, [("a~0", "s", EYE[0]), ("a~1", "s", EYE[1]), ("b~0", "s", (EYE[0] + EYE[1]) / 2**0.5)], "document")
    found = ask(vectors, EYE[1], corpus="document")
    assert [i for i, _ in found] == ["a", "b"]
    assert [s for _, s in found] == pytest.approx([1.0, 0.7071], abs=1e-3)


def test_the_source_filter_leaves_the_others_out(vectors):
    put(vectors, [("a~0", "s1", EYE[0]), ("b~0", "s2", EYE[1])])
    assert [i for i, _ in ask(vectors, EYE[0], only=["s2"])] == ["b"]


def test_a_vector_of_zeros_is_neither_stored_nor_asked(vectors):
    put(vectors, [("a~0", "s", EYE[0]), ("b~0", "s", EYE[0] * 0)])
    assert vectors.ids("lib", "paragraph", "enc", 1) == ["a~0"]
    assert ask(vectors, EYE[0] * 0) == []


def test_a_corpus_without_vectors_finds_nothing(vectors):
    assert ask(vectors, EYE[0], corpus="document") == []


def test_deleting_sources_removes_all_their_vectors_and_no_others(vectors):
    put(vectors, [("a~0", "s1", EYE[0]), ("b~0", "s2", EYE[1]), ("c~0", "s1", EYE[2])])
    with vectors.changing("lib", 1):
        vectors.delete("lib", "enc", ["s1"])
        vectors.reached("lib", 2)
    assert vectors.ids("lib", "paragraph", "enc", 2) == ["b~0"]


def test_encoders_and_libraries_have_collections_of_their_own(vectors):
    put(vectors, [("a~0", "s", EYE[0])])
    assert vectors.query("lib", "paragraph", "other", 1, EYE[:1], 5) == [[]]
    assert vectors.query("lib2", "paragraph", "enc", 1, EYE[:1], 5) == [[]]
    vectors.drop("lib")
    assert ask(vectors, EYE[0]) == []


def test_what_another_process_wrote_is_seen_at_the_next_generation(vectors, home):
    put(vectors, [("a~0", "s", EYE[0])])
    code = (
        "import sys, numpy as np; from pathlib import Path; from ragweave.corpora.store.vectors import Vectors\n"
        "v = Vectors(Path(sys.argv[1]))\n"
        "with v.changing('lib', 1):\n"
        "    v.upsert('lib', 'paragraph', 'enc', ['b~0'], ['t'], np.eye(4, dtype='float32')[1:2])\n"
        "    v.delete('lib', 'enc', ['s'])\n"
    )
    subprocess.run([sys.executable, "-c", code, str(home)], check=True)
    assert [i for i, _ in ask(vectors, EYE[1], generation=2)] == ["b"]


def test_a_change_that_failed_is_not_trusted_afterwards(vectors):
    put(vectors, [("a~0", "s", EYE[0])])
    with vectors._use() as client:
        pass
    with pytest.raises(RuntimeError), vectors.changing("lib", 1):
        raise RuntimeError
    assert [i for i, _ in ask(vectors, EYE[0])] == ["a"]
    with vectors._use() as another:
        assert another is not client


def test_a_server_that_is_away_gets_a_sentence(home):
    away = Vectors(home, "http://127.0.0.1:9")
    with pytest.raises(LibraryError, match="RAGWEAVE_CHROMA_URL"):
        away.query("lib", "paragraph", "enc", 0, EYE[:1], 5)


def test_an_item_id_may_hold_the_mark_of_a_chunk():
    assert item_of("a~b~3") == "a~b"
