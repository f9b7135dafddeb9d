"""Which documents a text names by their titles."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.document_names import clear
from ragweave.corpora.store.files import Known, Stat
from ragweave.corpora.store.library import Library, open_library
from ragweave.corpora.store.rows import pack, unpack
from ragweave.corpora.types import Item, Span
from ragweave.tests.corpora.store.test_library import library_of, report

TITLES = ("Orla Venn", "Orla Venn Museum", "Big Gap (film)", "Ely", "青山茶园")


@pytest.fixture
async def library(tmp_path: Path, home: Path) -> Library:
    folder = tmp_path / "texts"
    folder.mkdir()
    for n, title in enumerate(TITLES):
        (folder / f"{n}.md").write_text(f"# {title}\n\nA text of its own, number {n}.\n", encoding="utf-8")
    await index([folder])
    return await open_library()


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("She met ORLA VENN in town.", ["Orla Venn"]),
        ("The Orla Venn Museum shows “Big Gap”.", ["Orla Venn Museum", "Big Gap (film)"]),
        ("Orla was in Ely, with Mr Venn.", []),
        ("", []),
    ],
)
async def test_the_longest_title_that_stands_word_for_word_counts(
    library: Library, text: str, titles: list[str]
) -> None:
    assert library.titles_in(text) == titles


async def test_titles_that_come_later_are_known(library: Library, tmp_path: Path) -> None:
    assert library.titles_in("the Kelder lock") == []
    (tmp_path / "texts" / "new.md").write_text("# Kelder Lock\n\nIt has two gates.\n", encoding="utf-8")
    await index([tmp_path / "texts"])
    assert (await open_library()).titles_in("the Kelder lock") == ["Kelder Lock"]


text = st.text(max_size=30)
numbers = st.floats(allow_nan=False, allow_infinity=False)
spans = st.builds(
    Span,
    start=st.integers(0, 99),
    end=st.integers(0, 99),
    line=st.integers(0, 99),
    page=st.integers(0, 99),
    bbox=st.none() | st.tuples(numbers, numbers, numbers, numbers),
)
items = st.builds(
    Item,
    id=text,
    corpus=st.sampled_from(["paragraph", "document"]),
    source=text,
    title=text,
    text=text,
    locator=st.fixed_dictionaries({"kind": st.just("page"), "file": text}, optional={"page": st.integers()}),
    heading=st.lists(text, max_size=3).map(tuple),
    spans=st.lists(spans, max_size=3).map(tuple),
    ordinal=st.integers(0, 9),
    date=st.none() | st.datetimes(min_value=datetime(1000, 1, 1)),
    language=st.sampled_from(["", "en"]),
    meta=st.dictionaries(text, text, max_size=2),
)


@given(items)
def test_an_item_comes_back_as_it_was(item):
    assert unpack(json.loads(json.dumps(pack(item)))) == item


SETTLED = Stat(size=5, mtime_ns=10**9, ctime_ns=2 * 10**9, inode=7, checked_at=100.0)


@pytest.mark.parametrize(
    "change, status, params, unchanged",
    [
        ({}, "ok", "p", True),
        ({}, "partial", "p", True),
        ({}, "failed", "p", False),
        ({}, "ok", "q", False),
        ({"size": 6}, "ok", "p", False),
        ({"mtime_ns": 1}, "ok", "p", False),
        ({"ctime_ns": 1}, "ok", "p", False),
        ({"inode": 8}, "ok", "p", False),
        ({"checked_at": 200.0}, "ok", "p", True),
    ],
)
def test_a_file_is_hashed_unless_everything_about_it_is_as_it_was(change, status, params, unchanged):
    values = {name: getattr(SETTLED, name) for name in Stat.__slots__}
    assert Known("s", status, "p", SETTLED).unchanged(Stat(**{**values, **change}), params) is unchanged


LEASE = """# {title}

The landlord is {owner}. The tenant is {tenant}.

## Rent

The rent is {rent} euros a month, due on the third working day. Heating is settled once a year. If the
rent is late for two months, the landlord may end the lease at once. The deposit is paid in three parts.

## Notice

Notice is {months} months for the tenant. It is given in writing, by letter and not by mail. The keys are
handed over on the last day, with a record of what was found.

## Repairs

Small repairs up to {limit} euros are paid by the tenant. The walls are painted white in the end.
"""
LETTER = """# Lighthouse walk

We left at dawn, while the fog lay on the marsh.

## Birds

Two curlews and a heron followed us along the dyke, and we counted forty lapwings in the reeds.

## Supper

Soup of nettles, rye bread with dill butter, then plum cake; the cook had studied chemistry in Graz.

## Way back

The bus broke down at the quarry, so a farmer took all six of us in his trailer to the station.
"""


@pytest.fixture
def leases() -> dict[str, str]:
    """Return two copies of a form, and a text that has nothing to do with them."""
    penrow = LEASE.format(title="Lease Penrow", owner="Oduya", tenant="Krol", rent=870, months=3, limit=90)
    holme = LEASE.format(title="Lease Holme", owner="Tanaka", tenant="Ferrer", rent=640, months=4, limit=75)
    return {"a.md": penrow, "b.md": holme, "c.md": LETTER}


def led(library: Library, query: str) -> list[str]:
    return [document.title for document in clear(library.leads(query))]


async def test_a_name_tells_filled_in_copies_of_a_form_apart(
    home: Path, tmp_path: Path, leases: dict[str, str]
) -> None:
    library = await library_of(tmp_path / "files", leases)
    assert led(library, "What is the rent in Penrow?") == ["Lease Penrow"]


async def test_words_of_a_title_lead_nowhere_if_no_document_looks_like_it(
    home: Path, tmp_path: Path, leases: dict[str, str]
) -> None:
    library = await library_of(tmp_path / "files", leases)
    assert led(library, "Who went on the lighthouse walk?") == []


async def test_a_file_that_is_named_with_its_ending_leads_whatever_it_looks_like(
    home: Path, tmp_path: Path, leases: dict[str, str]
) -> None:
    library = await library_of(tmp_path / "files", leases)
    assert led(library, "What was for supper in c.md?") == ["Lighthouse walk"]


async def test_the_same_company_in_another_quarter_does_not_lead(home: Path, tmp_path: Path) -> None:
    files = {}
    for company in ("Avenmoor", "Tellsby"):
        for quarter in ("Q1", "Q2"):
            title = f"{company} {quarter} 2023"
            files[f"{company}{quarter}.md"] = report(title, f"Statement of {company}.")
    library = await library_of(tmp_path / "files", files)
    assert led(library, "What did Avenmoor earn in Q1 2023?") == ["Avenmoor Q1 2023"]
