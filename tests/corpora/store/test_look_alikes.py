"""Tests of which documents look alike, and of what their names lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.corpora.store.document_names import clear
from ragweave.corpora.store.library import Library
from ragweave.tests.corpora.store.test_library import library_of, report

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
