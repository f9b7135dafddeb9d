"""Tests of which documents a query names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ragweave.app.api import aindex
from ragweave.corpora.store.document_names import LEADING
from ragweave.corpora.store.library import Library, open_library

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
