import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store import lexical
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.repair import repair
from ragweave.corpora.store.stores import close_stores, stores
from ragweave.models.errors import LibraryError
from ragweave.tests.support.stored import sound

pytestmark = pytest.mark.both


def library():
    [row] = stores().catalog.libraries()
    return row


def run(statement, *values):
    with stores().catalog.writing(library().id) as connection:
        return connection.exec_driver_sql(statement, values)


def lose_vectors(row):
    run("DELETE FROM vectors WHERE n IN (SELECT n FROM vectors WHERE corpus = 'paragraph' LIMIT 2)")


def add_ghosts(row):
    run("UPDATE vectors SET item = 'ghost' WHERE n = (SELECT min(n) FROM vectors WHERE corpus = 'paragraph')")


def lose_words(row):
    run(f"DELETE FROM {lexical.table('paragraph')} WHERE rowid = (SELECT min(n) FROM items)")


def add_words(row):
    run(f"INSERT INTO {lexical.table('paragraph')}(rowid, title, heading, text) VALUES (999, '', '', 'ghost')")


def lose_items(row):
    run("DELETE FROM items WHERE source = (SELECT min(id) FROM sources)")


def change_dimension(row):
    run("UPDATE vectors SET data = substr(data, 1, 28) WHERE corpus = 'paragraph'")


HARM = [
    (lose_vectors, {"vectors": 2}),
    (add_ghosts, {"vectors": 1, "stray": 1}),
    (lose_words, {}),
    (add_words, {}),
    (lose_items, {"empty": 1}),
    (change_dimension, {"vectors": 3}),
]


@pytest.mark.parametrize(("harm", "seen"), HARM, ids=lambda x: getattr(x, "__name__", ""))
async def test_what_does_not_agree_is_counted_and_mended(notes, harm, seen):
    harm(library())
    done = await repair()
    counted = {f: n for f in ("vectors", "stray", "empty", "without_media") if (n := getattr(done, f))}
    assert counted == seen and done.sound == (not seen)
    assert done.free > 0
    await sound()
    assert (await repair()).sound
    await index([notes])
    found = await open_library()
    for word, title in (("lighthouse", "Alexandria"), ("aqueducts", "Rome"), ("大雁塔", "长安")):
        [lists] = await found.search("paragraph", [word])
        items = await found.items([h.id for h in (*lists.dense, *lists.lexical)])
        assert len(lists.dense) == 3
        assert items[lists.dense[0].id].title == items[lists.lexical[0].id].title == title


async def test_lost_vectors_are_made_again_by_the_next_run_of_index(notes):
    run("DELETE FROM vectors")
    assert (await index([notes])).unchanged == 3
    assert (await repair()).sound


async def test_vectors_of_another_encoder_are_left_alone_and_that_is_said(notes, turned, monkeypatch):
    lose_vectors(library())
    monkeypatch.setenv("RAGWEAVE_EMBED", "turned")
    done = await repair()
    assert "wordllama" in done.notes[0]
    row = library()
    assert len(stores().vectors.ids(row.id, "paragraph", row.encoder)) == 1


@pytest.mark.sqlite
async def test_a_damaged_catalog_is_a_sentence(notes, home):
    close_stores()
    [path] = home.glob("libraries/*/catalog.sqlite")
    data = bytearray(path.read_bytes())
    for page in range(20, len(data) // 4096):
        data[page * 4096 + 8 : page * 4096 + 400] = b"\xff" * 392
    path.write_bytes(data)
    with pytest.raises(LibraryError, match="catalog"):
        await repair()
