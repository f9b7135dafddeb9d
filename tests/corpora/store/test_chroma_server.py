"""A Chroma server that is away, silent, emptied or shared: the catalog is the truth, and answers say what they lack."""

from __future__ import annotations

import socket
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import httpx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.settings import CorporaSettings, corpora_settings
from ragweave.corpora.store import chroma_rows, chroma_server
from ragweave.corpora.store import vectors as module
from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.packed import LONG, packed, teach, unpacked
from ragweave.corpora.store.schema import indexes
from ragweave.corpora.store.stores import close_stores, stores
from ragweave.corpora.store.vectors import Vectors
from ragweave.graphs.run import astream
from ragweave.tests.support.chroma import chroma_server as running

NOWHERE = "http://127.0.0.1:9"
DATABASE = "/api/v2/tenants/default_tenant/databases/default_database/collections"


@pytest.fixture
def served(notes, chroma_url, monkeypatch):
    """The library of notes with its index in the server."""
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


def lose(url, name, id_=""):
    at = f"{url}{DATABASE}/{name}"
    if not id_:
        httpx.delete(at).raise_for_status()
        return
    of = httpx.get(at).json()["id"]
    httpx.post(f"{url}{DATABASE}/{of}/delete", json={"ids": [id_]}).raise_for_status()


def ids(lists):
    return [hit.id for hit in lists.dense]


@pytest.mark.cluster
@pytest.mark.chroma
@pytest.mark.parametrize(("many", "how"), [(0, "so it was searched by its words alone"), (100, "one by one")])
async def test_without_the_server_few_vectors_are_compared_and_the_answer_says_what_it_lacks(
    served, monkeypatch, many, how
):
    before = await search()
    assert len(before.dense) == 3 and not before.note
    at(monkeypatch, NOWHERE)
    monkeypatch.setattr(module, "MANY", many)
    after = await search()
    assert after.lexical == before.lexical and ids(after) == (ids(before) if many else [])
    assert "127.0.0.1:9 cannot be reached (ConnectError)" in after.note and how in after.note
    *_, last = [event async for event in astream("Where was the lighthouse of Alexandria built?")]
    assert "Pharos" in last["state"]["answer"].text
    assert any("cannot be reached" in note and how in note for note in last["state"]["notes"])


@pytest.mark.cluster
@pytest.mark.chroma
async def test_what_a_server_lost_is_made_anew_while_questions_are_answered_or_by_the_next_run(
    served, chroma_url
):
    vectors, lib = served
    before, name = await search(), f"{lib}-paragraph"
    lose(chroma_url, name)
    during = await search()
    assert ids(during) == ids(before) and "lost" in during.note
    for thread in threading.enumerate():
        if thread.name == "ragweave-mend":
            thread.join(60)
    assert name in vectors._indexes.there(lib)
    assert ids(await search()) == ids(before) and not (await search()).note
    lose(chroma_url, name, f"{ids(before)[0]}~0")
    with stores().catalog.writing(lib) as connection:  # a change, with which the next run looks
        connection.execute(indexes.update().values(upto=indexes.c.upto - 1))
    assert vectors.tidy(lib) == "" and ids(await search()) == ids(before)


@pytest.mark.cluster
@pytest.mark.chroma
async def test_a_reader_asks_the_new_index_at_once(served, home, chroma_url):
    _, lib = served
    before = await search()
    other = Vectors(Catalog(home), home, CorporaSettings(chroma_url=chroma_url))
    assert other.tidy(lib, rebuild=True) == ""
    assert await search() == before


@pytest.mark.cluster
@pytest.mark.chroma
def test_a_server_that_was_away_or_emptied_gets_its_index_with_the_next_run(one, home, tmp_path):
    catalog, lib = one
    with running(tmp_path / "one") as url:
        port = int(url.rpartition(":")[2])
        vectors = Vectors(catalog, home, CorporaSettings(chroma_url=url))
        assert vectors.tidy(lib) == ""
    assert "RAGWEAVE_CHROMA_URL" in vectors.tidy(lib)
    assert ask(vectors, lib) == ["a"], "compared one by one"
    with running(tmp_path / "two", port):
        assert vectors.tidy(lib) == "" and len(vectors._indexes.there(lib)) == 1
        assert ask(vectors, lib) == ["a"] and not vectors.note()


@pytest.mark.cluster
@pytest.mark.chroma
def test_a_server_that_is_silent_holds_nobody_up_and_is_left_alone_for_a_while(one, home, monkeypatch):
    catalog, lib = one
    with catalog.writing(lib) as connection:
        row = {
            "space": "enc",
            "corpus": "paragraph",
            "upto": 1,
            "count": 1,
            "name": f"{lib}-paragraph",
            "digest": "",
        }
        connection.execute(indexes.insert(), row)
    monkeypatch.setattr(chroma_server, "_ASK", httpx.Timeout(0.05))
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        vectors = Vectors(
            catalog, home, CorporaSettings(chroma_url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        )
        assert ask(vectors, lib) == ["a"]
        assert "(ReadTimeout)" in vectors.note()
    assert ask(vectors, lib) == ["a"]
    assert "(ReadTimeout)" in vectors.note(), "it was asked again at once, and refused"


@pytest.mark.cluster
@pytest.mark.chroma
@pytest.mark.parametrize(
    ("status", "said", "told"),
    [
        *(
            (200, said, "is no Chroma server")
            for said in ("<html>hello</html>", '{"hello": 1}', '"hello"', "[1]", "")
        ),
        (401, "no", "db.example:8443 refuses (401"),
    ],
)
def test_what_answers_otherwise_is_told_without_the_token_and_holds_no_index(one, home, status, said, told):
    catalog, lib = one
    seen = []

    def answers(request):
        seen.append(request.headers)
        return httpx.Response(status, text=said)

    settings = CorporaSettings(chroma_url="https://me:pass@db.example:8443", chroma_token="s3cret")
    vectors = Vectors(catalog, home, settings)
    headers = vectors._indexes._http.headers
    vectors._indexes._http = httpx.Client(
        base_url="https://db.example", headers=headers, transport=httpx.MockTransport(answers)
    )
    why = vectors.tidy(lib)
    assert told in why and "s3cret" not in why and "pass" not in why
    assert ask(vectors, lib) == ["a"]
    assert seen[0]["x-chroma-token"] == "s3cret" and seen[0]["authorization"] == "Bearer s3cret"


@pytest.fixture
def one(home):
    """A catalog with one vector of one paragraph."""
    found = Catalog(home)
    row = found.create("default", "enc", 4)
    with found.writing(row.id) as connection:
        connection.exec_driver_sql(
            "INSERT INTO sources (id, kind, title, status, reason, bytes, sha256, params_hash, warnings,"
            " author, language, indexed_at, named) VALUES ('s', '', '', 'ok', '', 0, '', '', '[]', '', '',"
            " '', '')"
        )
    Vectors(found, home).put(row.id, "paragraph", "enc", ["a~0"], ["s"], np.eye(4, dtype=np.float32)[:1])
    yield found, row.id
    found.close()


def ask(vectors, lib):
    return [i for i, _ in vectors.query(lib, "paragraph", "enc", np.ones((1, 4), dtype=np.float32), 5)[0]]


@pytest.mark.chroma
@pytest.mark.parametrize("count", [1, 2, 7, 40, 43])
def test_no_call_is_left_in_the_log_of_an_index(
    home: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(chroma_rows, "BATCH", 10)
    catalog, vectors = stores().catalog, stores().vectors
    row = catalog.create("notes", "enc", 8)
    given = np.random.default_rng(0).standard_normal((count, 8)).astype(np.float32)
    with catalog.writing(row.id) as connection:
        columns = (
            "id kind title named status reason sha256 params_hash author language indexed_at bytes warnings"
        )
        blanks = ", ".join("'s'" if c == "id" else "0" if c == "bytes" else "'[]'" for c in columns.split())
        connection.exec_driver_sql(f"INSERT INTO sources ({', '.join(columns.split())}) VALUES ({blanks})")
    vectors.put(row.id, "paragraph", "enc", [f"i{n}~0" for n in range(count)], ["s"] * count, given)
    assert vectors.tidy(row.id) == ""
    [index] = (home / "libraries" / row.id / "indexes").iterdir()
    with closing(sqlite3.connect(index / "chroma.sqlite3")) as db:
        assert db.execute("SELECT count(*) FROM embeddings").fetchone() == (count,)
        assert db.execute("SELECT count(*) FROM embeddings_queue").fetchone()[0] <= 1


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=3 * LONG), st.integers(1, 40))
def test_a_text_comes_back_as_it_was_and_never_takes_more_than_it_did(text: str, times: int) -> None:
    kept = packed(text * times)
    assert unpacked(kept) == text * times
    size = len(kept if isinstance(kept, bytes) else kept.encode())
    assert size <= len((text * times).encode())


def test_a_short_text_stays_as_it_is_and_a_long_one_takes_a_part_of_it() -> None:
    assert packed("The ferry sails.") == "The ferry sails."
    assert len(packed("The ferry sails four times a day. " * 50)) < 200


def test_sql_packs_and_unpacks_as_well() -> None:
    connection = sqlite3.connect(":memory:")
    teach(connection)
    text = "The lamp of the lighthouse. " * 40
    row = connection.execute(
        "SELECT typeof(k), ragweave_unpacked(k) FROM (SELECT ragweave_packed(?) AS k)", [text]
    )
    assert row.fetchone() == ("blob", text)
    connection.close()
