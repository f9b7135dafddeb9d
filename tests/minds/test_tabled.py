"""Which table of a library is worked out."""

from __future__ import annotations

from pathlib import Path

from ragweave.app.api import astate
from ragweave.minds.context import Context
from ragweave.tests.support import build_library


async def test_of_two_tables_that_answer_alike_the_corrected_one_counts(home: Path, tmp_path: Path) -> None:
    heads = "Name,Bins,Bunk\n"
    texts = {
        "pickers-2026.csv": heads + "Marisol Vega,101,B2\nRamiro Ochoa,230,B1\n",
        "pickers-2026-v2-corrected.csv": "# by hand, from the cards\n"
        + heads
        + "Marisol Vega,108,B2\nRamiro Ochoa,236,B1\n",
    }
    await build_library(tmp_path / "files", texts)
    state = await astate("How many bins did Marisol Vega pick?", context=Context(mind="small"))
    assert "108" in state["answer"].text and "101" not in state["answer"].text


BILLS = "No,Client,Amount EUR,Due,Paid on\nB-12,Volt,80,2025-03-12,2025-03-10\nB-15,Ash,240,2025-05-15,\n"


async def test_a_blank_cell_is_not_filled_by_what_does_not_name_its_row(home: Path, tmp_path: Path) -> None:
    notes = "# Meeting with Volt\n\nOutstanding invoices: Vera says that both will be paid by the end of May.\n"
    await build_library(tmp_path / "files", {"invoices.csv": BILLS, "volt.md": notes})
    answer = (await astate("When was invoice B-15 paid?", context=Context(mind="small")))["answer"]
    assert answer.abstained and answer.text == (
        "“invoices” has a place for this and leaves it blank: “B-15: Paid on –” [1]"
    )
    assert answer.citations[0].quote.startswith("B-15")
    paid = (await astate("When was invoice B-12 paid?", context=Context(mind="small")))["answer"]
    assert "B-12: Paid on 2025-03-10." in paid.text


async def test_a_blank_cell_is_filled_by_a_sentence_that_names_its_row(home: Path, tmp_path: Path) -> None:
    notes = "# Bank\n\nAsh has called. Invoice B-15 was paid on 20 May 2025.\n"
    await build_library(tmp_path / "files", {"invoices.csv": BILLS, "bank.md": notes})
    answer = (await astate("When was invoice B-15 paid?", context=Context(mind="small")))["answer"]
    assert "20 May 2025" in answer.text and not answer.abstained


async def test_the_difference_of_two_rows_is_that_of_the_column_asked_for(home: Path, tmp_path: Path) -> None:
    wines = "Wine,Year,Bottles,Price (EUR)\nCava,2021,12,9.90\nRiesling,2022,3,11.00\nBarolo,2015,0,38.00\n"
    await build_library(tmp_path / "files", {"wines.csv": wines})
    for question, told in (
        ("What's the difference between Barolo and Riesling in price?", "Price: 38.00 − 11.00 = 27.00 EUR"),
        ("How many fewer bottles of Riesling than Cava are there?", "Bottles: 12 − 3 = 9"),
    ):
        answer = (await astate(question, context=Context(mind="small")))["answer"]
        assert answer.text.startswith(told), question


async def test_what_is_added_up_of_several_that_are_described_is_not_told_of_one(home: Path, tmp_path: Path) -> None:
    dunned = BILLS.replace("Paid on", "Reminder sent") + "B-19,Volt,31,2025-05-02,2025-05-20\n"
    notes = "# Volt\n\nA reminder went out to Volt for the bills of spring.\n"
    await build_library(tmp_path / "files", {"bills.csv": dunned, "volt.md": notes})
    for question, told in (
        ("What do the bills for which a reminder went out add up to?", "Amount EUR: 80 + 31 = 111"),
        ("What do the bills that Volt has contested add up to?", ""),
    ):
        answer = (await astate(question, context=Context(mind="small")))["answer"]
        assert answer.text.startswith(told) and answer.abstained == (not told), question
