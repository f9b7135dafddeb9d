"""What keeps a library in order: another encoder, repair, and removal that leaves nothing to be found again."""

import asyncio
import zlib
from pathlib import Path

import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store import lexical
from ragweave.corpora.store import reembed as module
from ragweave.corpora.store.library import create_library, delete_library, open_library
from ragweave.corpora.store.repair import repair
from ragweave.corpora.store.stores import close_stores, stores
from ragweave.models.errors import LibraryError, LibraryNotFound
from ragweave.tests.support.stored import sound

pytestmark = pytest.mark.both


async def titles(word):
    library = await open_library()
    [lists] = await library.search("paragraph", [word])
    held = await library.items([h.id for h in (*lists.dense, *lists.lexical)])
    return [held[h.id].title for h in lists.dense], [held[h.id].title for h in lists.lexical]


async def test_another_encoder_takes_over_and_nothing_is_read_again(notes, turned, monkeypatch):
    told, opened = [], await open_library()
    before = stores().catalog.library("default").encoder
    report = await index([], encoder="turned", on_event=told.append)
    assert "the encoder turned now, and 3 vectors" in report.notes[0]
    await asyncio.sleep(0)
    assert [(e.done, e.total) for e in told if e.kind == "reembedded"][-1] == (6, 6)
    with pytest.raises(LibraryError, match="RAGWEAVE_EMBED=turned"):
        await opened.search("paragraph", ["lighthouse"])
    close_stores()
    with pytest.raises(LibraryError, match="RAGWEAVE_EMBED=turned"):
        await open_library()
    monkeypatch.setenv("RAGWEAVE_EMBED", "turned")
    dense, words = await titles("the lighthouse of Alexandria")
    assert dense[0] == words[0] == "Alexandria"
    row = stores().catalog.library("default")
    assert row.dim == 200 and not stores().vectors.has(row.id, "paragraph", before), (
        "the old vectors are gone"
    )
    report = await index([notes], encoder="turned")
    assert (report.unchanged, report.indexed, report.notes) == (3, 0, [])
    with pytest.raises(LibraryNotFound):
        await index([], "nobody", encoder="turned")


async def test_an_interrupted_run_leaves_the_old_vectors_and_is_continued(notes, turned, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(module, "bump", lambda *a: (_ for _ in ()).throw(KeyError))
        with pytest.raises(KeyError):
            await index([], encoder="turned")
    assert (await titles("the lighthouse of Alexandria"))[0][0] == "Alexandria"
    (notes / "rome.md").unlink()
    (notes / "petra.md").write_text("# Petra\n\nPetra was carved from sandstone.\n")
    await index([notes])
    before = turned.calls
    await index([], encoder="turned")
    assert turned.calls == before + 1, "one call for the paragraph"
    monkeypatch.setenv("RAGWEAVE_EMBED", "turned")
    close_stores()
    assert sorted((await titles("carved from sandstone"))[0]) == ["Alexandria", "Petra", "长安"]


def library():
    [row] = stores().catalog.libraries()
    return row


def run(statement, *values):
    with stores().catalog.writing(library().id) as connection:
        return connection.exec_driver_sql(statement, values)


LOST = "DELETE FROM vectors WHERE n IN (SELECT n FROM vectors WHERE corpus = 'paragraph' LIMIT 2)"
WORDS = lexical.table("paragraph")
HARM = {
    "lost vectors": (LOST, {"vectors": 2}),
    "vectors of nothing": (
        "UPDATE vectors SET item = 'ghost' WHERE n = (SELECT min(n) FROM vectors WHERE corpus = 'paragraph')",
        {"vectors": 1, "stray": 1},
    ),
    "lost words": (f"DELETE FROM {WORDS} WHERE rowid = (SELECT min(n) FROM items)", {}),
    "words of nothing": (
        f"INSERT INTO {WORDS}(rowid, title, heading, text) VALUES (999, '', '', 'ghost')",
        {},
    ),
    "lost items": ("DELETE FROM items WHERE source = (SELECT min(id) FROM sources)", {"empty": 1}),
    "short vectors": (
        "UPDATE vectors SET data = substr(data, 1, 28) WHERE corpus = 'paragraph'",
        {"vectors": 3},
    ),
}


@pytest.mark.parametrize(("statement", "seen"), HARM.values(), ids=HARM)
async def test_what_does_not_agree_is_counted_and_mended(notes, statement, seen):
    run(statement)
    done = await repair()
    counted = {f: n for f in ("vectors", "stray", "empty", "without_media") if (n := getattr(done, f))}
    assert counted == seen and done.sound == (not seen)
    assert done.free > 0
    await sound()
    assert (await repair()).sound
    await index([notes])
    for word, title in (("lighthouse", "Alexandria"), ("aqueducts", "Rome"), ("大雁塔", "长安")):
        dense, words = await titles(word)
        assert len(dense) == 3 and dense[0] == words[0] == title


async def test_words_are_written_again_by_pages(notes, monkeypatch):
    pages, put = [], lexical.put
    monkeypatch.setattr(
        lexical, "put", lambda c, corpus, rows: (pages.append(len(rows)), put(c, corpus, rows))
    )
    done = await repair()
    assert sum(pages) == done.items > len(pages) == 2, "a statement for each corpus, not for each item"
    assert (await titles("lighthouse"))[1]


async def test_lost_vectors_are_made_again_by_the_next_run_of_index(notes):
    run("DELETE FROM vectors")
    assert (await index([notes])).unchanged == 3
    assert (await repair()).sound


async def test_vectors_of_another_encoder_are_left_alone_and_that_is_said(notes, turned, monkeypatch):
    run(LOST)
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


SECRET = "# Diary\n\nXanthippe hid the zyzzyva brooch under the quincunx.\n"


def on_disk(home, *needles):
    """Return which of the needles any file below `home` holds, as it is or in a text that lies there compressed."""
    held = set()
    for path in filter(Path.is_file, home.rglob("*")):
        data = path.read_bytes()
        for kept in (data, *inflated(data)):
            held |= {n for n in needles if (n if isinstance(n, bytes) else n.encode()) in kept}
    return held


def inflated(data):
    """Yield what begins in a file as zlib's bytes do, as far as it can be read."""
    at = data.find(b"\x78\x9c")
    while at >= 0:
        try:
            yield zlib.decompressobj().decompress(data[at : at + 100_000])
        except zlib.error:
            pass
        at = data.find(b"\x78\x9c", at + 1)


async def diary(notes):
    (notes / "diary.md").write_text(SECRET)
    await index([notes])
    library = await open_library()
    [source] = [s for s in await library.sources() if s.title == "Diary"]
    row = stores().catalog.row(library.id)
    [item] = await library.items_of(source.id, "paragraph")
    [vector] = stores().vectors.of_items(row.id, "paragraph", row.encoder, [item.id])[item.id]
    return library, source, ("zyzzyva", "Xanthippe", "quincunx", "diary.md", source.id, vector.tobytes())


async def test_a_deleted_library_leaves_the_disk(notes, home):
    _, _, needles = await diary(notes)
    await create_library("other")
    await delete_library("default")
    close_stores()
    assert on_disk(home, *needles) == set()


@pytest.mark.chroma
async def test_the_text_of_a_removed_source_leaves_the_disk_at_once_and_its_vectors_with_the_next_index(
    notes, home
):
    library, source, needles = await diary(notes)
    close_stores()
    assert list(home.glob("libraries/*/indexes/*"))
    library = await open_library()
    await library.remove(source.id)
    close_stores()
    *texts, _, _ = needles
    assert on_disk(home, *texts) == set()
    library = await open_library()
    [lists] = await library.search("paragraph", ["zyzzyva brooch"])
    found = await library.items([hit.id for hit in lists.dense])
    assert source.id not in {item.source for item in found.values()}
    await repair()
    close_stores()
    assert on_disk(home, *needles) == set()
    [lists] = await (await open_library()).search("paragraph", ["lighthouse"])
    assert len(lists.dense) == 3


LONG = " ".join(f"The keeper wrote page {n} of the log by lamp light." for n in range(60))
PAGES = {
    "short": "# Log\n\nXanthippe hid the zyzzyva brooch.\n",
    "long": f"# Log\n\nXanthippe hid the zyzzyva brooch. {LONG}\n",
}


@pytest.mark.sqlite
@pytest.mark.parametrize("text", PAGES.values(), ids=PAGES)
@pytest.mark.parametrize("change", ["remove", "delete", "replace"])
async def test_removed_words_are_in_no_file_of_the_home_after_a_run_though_the_library_stays_open(
    notes, home, text, change
):
    log = notes / "log.md"
    log.write_text(text)
    await index([notes])
    needles = ("Xanthippe", "xanthipp", "zyzzyva")
    assert {"Xanthippe", "zyzzyva"} <= on_disk(home, *needles)
    library = await open_library()
    await library.search("paragraph", ["zyzzyva"])
    if change == "remove":
        [source] = [s for s in await library.sources() if s.title == "Log"]
        await library.remove(source.id)
    else:
        log.unlink() if change == "delete" else log.write_text("# Log\n\nNothing.\n")
        await index([notes])
    assert on_disk(home, *needles) == set()


@pytest.mark.sqlite
async def test_what_a_killed_run_removed_leaves_the_disk_with_the_next_run(notes, home, monkeypatch):
    (notes / "log.md").write_text(PAGES["long"])
    await index([notes])
    (notes / "log.md").unlink()
    with monkeypatch.context() as killed:
        killed.setattr(type(stores().catalog.kept), "erase", lambda *a: (_ for _ in ()).throw(KeyError))
        with pytest.raises(KeyError):
            await index([notes])
    assert on_disk(home, "zyzzyva") == {"zyzzyva"}
    await index([notes])
    assert on_disk(home, "Xanthippe", "zyzzyva") == set()


@pytest.mark.sqlite
async def test_the_log_of_a_catalog_is_empty_after_a_run(notes, home):
    (notes / "log.md").write_text(PAGES["long"])
    await index([notes])
    [log] = home.glob("libraries/*/catalog.sqlite-wal")
    assert log.stat().st_size == 0
