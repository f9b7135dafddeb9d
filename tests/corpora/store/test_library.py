"""Tests of which documents a query names."""

from __future__ import annotations

import asyncio
import math
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from ragweave.app.api import aindex
from ragweave.corpora.ingest.run import index
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.commit import Committer
from ragweave.corpora.store.document_names import LEADING
from ragweave.corpora.store.library import (
    Library,
    create_library,
    open_library,
)


@pytest.fixture
async def library(notes):
    return await open_library()


def names(hits, items):
    return [items[h.id].locator["file"].rpartition("/")[2] for h in hits]


@pytest.mark.both
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


@pytest.mark.both
async def test_k_and_sources_narrow_both_lists(library):
    rome = next(s for s in await library.sources() if s.path.endswith("rome.md"))
    [lists] = await library.search("paragraph", ["water of the lighthouse"], 1)
    assert len(lists.dense) == len(lists.lexical) == 1
    [lists] = await library.search("paragraph", ["water of the lighthouse"], sources=[rome.id])
    found = await library.items([h.id for h in (*lists.dense, *lists.lexical)])
    assert {i.source for i in found.values()} == {rome.id}
    [lists] = await library.search("document", ["water"], sources=["no such source"])
    assert lists.dense == lists.lexical == ()


@pytest.mark.both
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


@pytest.mark.both
async def test_items_come_whole_and_unknown_or_foreign_ids_are_left_out(library):
    await create_library("other")
    [lists] = await library.search("paragraph", ["lighthouse"], 1)
    id_ = lists.lexical[0].id
    found = await library.items(["nobody", id_])
    assert list(found) == [id_]
    assert found[id_].text == "The lighthouse of Alexandria was built on Pharos."
    assert found[id_].heading == ("Alexandria",)
    assert await (await open_library("other")).items([id_]) == {}


@pytest.mark.both
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


@pytest.mark.both
async def test_idf_follows_its_formula(library):
    found = await library.idf(["of", "aqueduct", "nowher"])
    assert found == {
        "of": pytest.approx(math.log(54 / 3.5)),
        "aqueduct": pytest.approx(math.log(54 / 2.5)),
        "nowher": pytest.approx(math.log(54 / 1.5)),
    }


@pytest.mark.both
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


@pytest.mark.both
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


LONG = [
    "Rows of the statement were checked by two people in the office.",
    "Prices of freight fell while wages rose in each of the regions.",
    "Goods are stated at cost, and debts are written off when they are lost.",
    "Plant is written down in equal amounts over the years of its use.",
]


def report(title: str, opening: str) -> str:
    """Return a document of several passages."""
    parts = [f"# {title}", opening, *(f"## Note {n}\n\n{text * 6}" for n, text in enumerate(LONG))]
    return "\n\n".join(parts)


async def library_of(folder: Path, files: dict[str, str]) -> Library:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    await aindex([folder])
    return await open_library()


def best(library: Library, query: str) -> Sequence[str]:
    """Return the titles of the documents that a query names, the clearest first."""
    found = library.leads(query)
    return [d.title for d in sorted(found, key=lambda d: -found[d])]


@pytest.fixture
def filed(tmp_path: Path) -> dict[str, str]:
    """Return four reports of two companies."""
    return {
        f"{year}/r{n}.md": report(f"{company} {quarter} {year}", f"Statement of {company}.")
        for n, (company, quarter, year) in enumerate(
            [
                ("Avenmoor", "Q1", 2023),
                ("Avenmoor", "Q2", 2023),
                ("Tellsby", "Q1", 2023),
                ("Ostrel", "Q1", 2023),
            ]
        )
    }


async def test_a_rare_name_outweighs_a_period_that_many_documents_share(
    home: Path, tmp_path: Path, filed: dict[str, str]
) -> None:
    library = await library_of(tmp_path / "files", filed)
    first, second, *others = best(library, "What did Avenmoor earn in Q1 2023?")
    assert (first, second) == ("Avenmoor Q1 2023", "Avenmoor Q2 2023")
    leads = {d.title: lead for d, lead in library.leads("What did Avenmoor earn in Q1 2023?").items()}
    assert all(leads[title] < 0.3 * leads[first] for title in others)


async def test_a_period_alone_names_no_document_clearly(
    home: Path, tmp_path: Path, filed: dict[str, str]
) -> None:
    library = await library_of(tmp_path / "files", filed)
    assert max(library.leads("What was earned in 2023?").values(), default=0.0) < LEADING


async def test_a_file_is_named_by_its_name_with_the_ending(
    home: Path, tmp_path: Path, filed: dict[str, str]
) -> None:
    library = await library_of(tmp_path / "files", filed)
    found = library.leads("What is the debt in r2.md?")
    assert {d.title for d, lead in found.items() if lead == 1.0} == {"Tellsby Q1 2023"}


async def test_the_first_lines_name_a_long_document(home: Path, tmp_path: Path) -> None:
    files = {f"{n}.md": report("Interim statement", f"Published by {name} works.") for n, name in
             enumerate(["Quillfen", "Brandhurst", "Maristow"])}  # fmt: skip
    library = await library_of(tmp_path / "files", files)
    (named,) = library.leads("Debt of Brandhurst?")
    (source,) = [s for s in await library.sources() if s.id == named.source]
    assert source.path.endswith("1.md")


async def test_files_of_one_name_are_parted_by_their_folders(home: Path, tmp_path: Path) -> None:
    files = {f"{town}/lease.md": report("Lease", f"Copy {n}.") for n, town in enumerate(["Holme", "Penrow"])}
    library = await library_of(tmp_path / "files", files)
    found = {next(s.path for s in await library.sources() if s.id == d.source): lead
             for d, lead in library.leads("the lease in Penrow").items()}  # fmt: skip
    assert max(found, key=lambda path: found[path]).endswith("Penrow/lease.md")


async def test_a_renamed_file_is_known_by_its_new_name(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    await library_of(folder, {"a.md": report("Terms", "One."), "b.md": report("Fares", "Two.")})
    (folder / "a.md").rename(folder / "harbour-dues.md")
    await aindex([folder])
    library = await open_library()
    assert best(library, "what do the dues of the harbour come to")[:1] == ["Terms"]


async def test_a_short_document_is_left_to_the_search_by_words(home: Path, tmp_path: Path) -> None:
    files = {f"{n}.md": f"# {name}\n\nA town." for n, name in enumerate(["Lindal", "Askerby", "Holme"])}
    library = await library_of(tmp_path / "files", files)
    assert not library.leads("Where is Askerby?")


async def test_passages_of_a_named_document_are_found_however_many_others_fit_better(
    home: Path, tmp_path: Path
) -> None:
    files = {f"other{n}.md": report(f"Report {n}", "Rows of the statement.") for n in range(30)}
    library = await library_of(tmp_path / "files", files | {"x.md": report("Zephyrine", "Nothing else.")})
    (lists,) = await library.search("paragraph", ["rows of the statement at Zephyrine"], 5)
    items = await library.items([h.id for h in lists.lexical])
    assert sum(i.title == "Zephyrine" for i in items.values()) > 2
