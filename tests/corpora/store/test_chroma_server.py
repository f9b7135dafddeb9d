"""A Chroma server that is away, silent, emptied or shared: the catalog is the truth, and answers say what they lack."""

import socket
import threading

import httpx
import numpy as np
import pytest

from ragweave.corpora.settings import CorporaSettings, corpora_settings
from ragweave.corpora.store import chroma_server
from ragweave.corpora.store import vectors as module
from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.schema import indexes
from ragweave.corpora.store.stores import close_stores, stores
from ragweave.corpora.store.vectors import Vectors
from ragweave.graphs.run import astream
from ragweave.tests.support.chroma import chroma_server as running

pytestmark = pytest.mark.cluster

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def served(notes, chroma_url, monkeypatch):
    """The library of notes with its indexes in the server."""
    at(monkeypatch, chroma_url)
    held = stores()
    lib = held.catalog.library("default").id
    assert held.vectors.tidy(lib) == ""
    yield held.vectors, lib
    stores().vectors.drop(lib)


def at(monkeypatch, url):
    monkeypatch.setenv("RAGWEAVE_CHROMA_URL", url)
    close_stores()
    corpora_settings.cache_clear()


async def search(question="the lighthouse of Alexandria"):
    [lists] = await (await open_library()).search("paragraph", [question])
    return lists


def name_of(lib, corpus="paragraph"):
    with stores().catalog.reading(lib) as connection:
        return connection.execute(indexes.select().where(indexes.c.corpus == corpus)).mappings().one()["name"]


def delete(url, name):
    base = f"{url}/api/v2/tenants/default_tenant/databases/default_database/collections"
    assert httpx.delete(f"{base}/{name}").is_success


async def test_a_large_index_on_a_server_that_is_away_leaves_the_words_and_says_so(served, monkeypatch):
    with_it = await search()
    assert len(with_it.dense) == 3 and not with_it.note
    at(monkeypatch, NOWHERE)
    monkeypatch.setattr(module, "INDEX_FROM", 0)
    without = await search()
    assert without.lexical == with_it.lexical and without.dense == ()
    assert without.note.startswith(
        "the Chroma server at 127.0.0.1:9 cannot be reached (ConnectError), so it was searched"
    )


async def test_a_small_index_on_a_server_that_is_away_is_answered_exactly_and_says_so(served, monkeypatch):
    before = await search()
    at(monkeypatch, NOWHERE)
    after = await search()
    assert [h.id for h in after.dense] == [h.id for h in before.dense]
    assert "one by one" in after.note


async def test_an_answer_without_the_server_tells_it_in_its_notes(served, monkeypatch):
    at(monkeypatch, NOWHERE)
    monkeypatch.setattr(module, "INDEX_FROM", 0)
    *_, last = [event async for event in astream("Where was the lighthouse of Alexandria built?")]
    assert "Pharos" in last["state"]["answer"].text
    assert any("cannot be reached" in note and "its words alone" in note for note in last["state"]["notes"])


async def test_an_index_that_a_server_lost_is_made_anew_while_questions_are_answered(served, chroma_url, monkeypatch):
    vectors, lib = served
    before, lost = await search(), name_of(lib)
    delete(chroma_url, lost)
    during = await search()
    assert [h.id for h in during.dense] == [h.id for h in before.dense] and "lost" in during.note
    for thread in threading.enumerate():
        if thread.name == "ragweave-mend":
            thread.join(60)
    assert name_of(lib) != lost and name_of(lib) in vectors._indexes.names(lib)
    after = await search()
    assert [h.id for h in after.dense] == [h.id for h in before.dense] and not after.note


async def test_the_next_run_makes_what_a_server_lost(served, chroma_url):
    vectors, lib = served
    lost = name_of(lib)
    delete(chroma_url, lost)
    assert vectors.tidy(lib) == "" and name_of(lib) != lost
    assert not (await search()).note


async def test_a_reader_asks_the_new_index_at_once(served, home, chroma_url):
    """Another process puts a new index in place of the old one and removes that."""
    _, lib = served
    await search()
    other = Vectors(Catalog(home), home, CorporaSettings(chroma_url=chroma_url))
    assert other.tidy(lib, anew=True) == ""
    found = await search()
    assert len(found.dense) == 3 and not found.note
    other.close()


def test_an_index_is_made_in_the_tenant_and_database_that_are_named(catalog_of_one, home, chroma_url):
    catalog, lib = catalog_of_one
    named = CorporaSettings(chroma_url=chroma_url, chroma_tenant="a team", chroma_database="lectures")
    vectors = Vectors(catalog, home, named)
    assert vectors.tidy(lib) == ""
    assert len(vectors._indexes.names(lib)) == 1
    elsewhere = Vectors(catalog, home, CorporaSettings(chroma_url=chroma_url))
    assert elsewhere._indexes.names(lib) == set()


def test_a_server_that_is_started_empty_is_filled_by_the_next_run(catalog_of_one, home, tmp_path):
    catalog, lib = catalog_of_one
    with running(tmp_path / "one") as url:
        port = int(url.rpartition(":")[2])
        vectors = Vectors(catalog, home, CorporaSettings(chroma_url=url))
        assert vectors.tidy(lib) == ""
    assert "RAGWEAVE_CHROMA_URL" in vectors.tidy(lib)
    assert ask(vectors, lib) == ["a"], "compared one by one"
    with running(tmp_path / "two", port):
        assert vectors.tidy(lib) == "" and len(vectors._indexes.names(lib)) == 1
        assert ask(vectors, lib) == ["a"] and not vectors.note()


def test_a_server_that_is_silent_holds_nobody_up_and_is_left_alone_for_a_while(catalog_of_one, home, monkeypatch):
    catalog, lib = catalog_of_one
    with catalog.writing(lib) as connection:
        row = {"space": "enc", "corpus": "paragraph", "upto": 1, "count": 1, "name": "x", "digest": ""}
        connection.execute(indexes.insert(), row)
    monkeypatch.setattr(chroma_server, "_ASK", httpx.Timeout(0.05))
    monkeypatch.setattr(chroma_server, "_WRITE", httpx.Timeout(0.05))
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        vectors = Vectors(catalog, home, CorporaSettings(chroma_url=f"http://127.0.0.1:{silent.getsockname()[1]}"))
        assert ask(vectors, lib) == ["a"]
        assert "(ReadTimeout)" in vectors.note()
    assert ask(vectors, lib) == ["a"]
    assert "(ReadTimeout)" in vectors.note(), "it was asked again at once, and refused"


@pytest.mark.parametrize("said", ["<html>hello</html>", '{"hello": 1}', '"hello"', "[1]", "[]", ""])
def test_what_is_no_chroma_server_is_told_and_holds_no_index(catalog_of_one, home, said):
    catalog, lib = catalog_of_one
    vectors = Vectors(catalog, home, CorporaSettings(chroma_url="http://db.example:8000"))
    vectors._indexes._http = httpx.Client(
        base_url="http://db.example", transport=httpx.MockTransport(lambda _: httpx.Response(200, text=said))
    )
    assert "what answers at db.example:8000 is no Chroma server" in vectors.tidy(lib)
    assert ask(vectors, lib) == ["a"]


def test_the_token_is_sent_and_never_shown(catalog_of_one, home, monkeypatch):
    catalog, lib = catalog_of_one
    seen = []

    def refuses(request):
        seen.append(request.headers)
        return httpx.Response(401, text="no")

    vectors = Vectors(
        catalog, home, CorporaSettings(chroma_url="https://me:pass@db.example:8443", chroma_token="s3cret")
    )
    vectors._indexes._http = httpx.Client(
        base_url="https://db.example", headers=vectors._indexes._http.headers, transport=httpx.MockTransport(refuses)
    )
    why = vectors.tidy(lib)
    assert "db.example:8443 refuses (401" in why and "s3cret" not in why and "pass" not in why
    assert seen[0]["x-chroma-token"] == "s3cret" and seen[0]["authorization"] == "Bearer s3cret"


@pytest.fixture
def catalog_of_one(home):
    """A catalog with one vector of one paragraph."""
    found = Catalog(home)
    row = found.create("default", "enc", 4)
    with found.writing(row.id) as connection:
        connection.exec_driver_sql(
            "INSERT INTO sources (id, kind, title, status, reason, bytes, sha256, params_hash, warnings, author,"
            " language, indexed_at, named) VALUES ('s', '', '', 'ok', '', 0, '', '', '[]', '', '', '', '')"
        )
    Vectors(found, home).put(row.id, "paragraph", "enc", ["a~0"], ["s"], np.eye(4, dtype=np.float32)[:1])
    yield found, row.id
    found.close()


def ask(vectors, lib):
    return [i for i, _ in vectors.query(lib, "paragraph", "enc", np.ones((1, 4), dtype=np.float32), 5)[0]]
