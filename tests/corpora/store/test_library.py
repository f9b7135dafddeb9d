import asyncio
import math
import shutil

import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.commit import Committer
from ragweave.corpora.store.library import (
    create_library,
    open_library,
)

pytestmark = pytest.mark.both


@pytest.fixture
async def library(notes):
    return await open_library()


def names(hits, items):
    return [items[h.id].locator["file"].rpartition("/")[2] for h in hits]


async def test_each_query_gets_its_own_two_lists_best_first(library):
    queries = ["Where was the lighthouse built?", "大雁塔建于哪个朝代", "zzzz"]
    lists = await library.search("paragraph", queries)
    items = await library.items([h.id for one in lists for h in (*one.dense, *one.lexical)])
    assert names(lists[0].lexical, items) == ["alexandria.md"]
    assert names(lists[0].dense, items)[0] == "alexandria.md"
    assert names(lists[1].lexical, items) == ["长安.md"]
    assert lists[2].lexical == ()
    for one in lists:
        for hits in (one.dense, one.lexical):
            assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)


async def test_k_and_sources_narrow_both_lists(library):
    rome = next(s for s in await library.sources() if s.path.endswith("rome.md"))
    [lists] = await library.search("paragraph", ["water of the lighthouse"], 1)
    assert len(lists.dense) == len(lists.lexical) == 1
    [lists] = await library.search("paragraph", ["water of the lighthouse"], sources=[rome.id])
    found = await library.items([h.id for h in (*lists.dense, *lists.lexical)])
    assert {i.source for i in found.values()} == {rome.id}
    [lists] = await library.search("document", ["water"], sources=["no such source"])
    assert lists.dense == lists.lexical == ()


async def test_documents_of_one_paragraph_and_of_many_are_found_in_one_order(library, tmp_path):
    long = tmp_path / "long.md"
    parts = (f"## Part {n}\n\nA cistern holds rain number {n}.\n" for n in range(9))
    long.write_text("# Cisterns\n\n" + "\n".join(parts), encoding="utf-8")
    await index([long])
    [lists] = await library.search("document", ["the lighthouse of Alexandria"])
    items = await library.items([h.id for h in lists.dense])
    assert names(lists.dense, items)[0] == "alexandria.md" and len(lists.dense) == 4
    assert {i.corpus for i in items.values()} == {"document"}
    [lists] = await library.search("document", ["a cistern holds rain"], 1)
    assert names(lists.dense, await library.items([h.id for h in lists.dense])) == ["long.md"]


async def test_items_come_whole_and_unknown_or_foreign_ids_are_left_out(library):
    await create_library("other")
    [lists] = await library.search("paragraph", ["lighthouse"], 1)
    id_ = lists.lexical[0].id
    found = await library.items(["nobody", id_])
    assert list(found) == [id_]
    assert found[id_].text == "The lighthouse of Alexandria was built on Pharos."
    assert found[id_].heading == ("Alexandria",)
    assert await (await open_library("other")).items([id_]) == {}


@pytest.mark.sqlite
async def test_a_folder_copied_into_another_home_is_a_library_there(library, home, tmp_path, monkeypatch):
    shutil.copytree(home / "libraries", tmp_path / "elsewhere" / "libraries")
    monkeypatch.setenv("RAGWEAVE_HOME", str(tmp_path / "elsewhere"))
    corpora_settings.cache_clear()
    copy = await open_library()
    [lists] = await copy.search("paragraph", ["lighthouse"], 1)
    assert [i.text for i in (await copy.items([lists.lexical[0].id])).values()] == [
        "The lighthouse of Alexandria was built on Pharos."
    ]


async def test_idf_follows_its_formula(library):
    found = await library.idf(["of", "aqueduct", "nowher"])
    assert found == {
        "of": pytest.approx(math.log(54 / 3.5)),
        "aqueduct": pytest.approx(math.log(54 / 2.5)),
        "nowher": pytest.approx(math.log(54 / 1.5)),
    }


async def test_many_searches_run_beside_a_run_of_index(library, tmp_path):
    for n in range(30):
        (tmp_path / "notes" / f"{n}.md").write_text(f"# Note {n}\n\nObelisk number {n} stood in Karnak.\n")

    async def asking():
        for _ in range(10):
            [lists] = await library.search("paragraph", ["lighthouse of Alexandria"])
            items = await library.items([h.id for h in (*lists.dense, *lists.lexical)])
            assert names(lists.dense, items)[0] == names(lists.lexical, items)[0] == "alexandria.md"

    await asyncio.gather(index([tmp_path / "notes"]), *(asking() for _ in range(4)))
    [lists] = await library.search("paragraph", ["obelisk"])
    assert len(lists.lexical) == 30


async def test_a_search_sees_one_state_though_a_writer_commits_in_the_middle(library, monkeypatch):
    query = library.held.vectors.query
    source = next(s for s in await library.sources() if s.path.endswith("alexandria.md"))

    def meanwhile(*asked):
        found = query(*asked)
        assert Committer(library.held.catalog, library.held.catalog.row(library.id)).remove_source(source.id)
        return found

    monkeypatch.setattr(library.held.vectors, "query", meanwhile)
    [lists] = await library.search("paragraph", ["lighthouse of Alexandria"])
    assert {h.id for h in lists.lexical} <= {h.id for h in lists.dense} and lists.lexical
    monkeypatch.undo()
    [after] = await library.search("paragraph", ["lighthouse of Alexandria"])
    assert lists.lexical[0].id not in {h.id for h in (*after.dense, *after.lexical)}
