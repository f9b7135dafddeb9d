"""What somebody earns or is paid, asked of tables that hold prices, pay, or amounts."""

from __future__ import annotations

import pytest

from ragweave.tests.support.tables import said

THINGS = "Item | Bought | Price | With\nlaptop | 2022-03-04 | 1,199 € | Jon\ncamera | 2021-06-30 | 2,150 € | shelf\n"
STAFF = "Name | Job | {}\nJon Ash | design | 3,350 €\nIda Lund | founder | 4,200 €\n"
SHOP = "Item | Shop | Price\nlamp | Volt | 40 €\ndesk | Volt | 140 €\ncup | Habit | 9 €\n"
BILLS = "Date | Client | Amount\n2025-03-04 | Volt | 80 €\n2025-03-09 | Ash | 900 €\n2025-04-09 | Ash | 90 €\n"
WORKS = "Date | What | Cost (EUR)\n2025-03-04 | gardener | 80\n2025-03-09 | roofer | 900\n"


@pytest.mark.parametrize(
    "question",
    [
        "What does Jon earn?",
        "How much does Jon earn?",
        "how much does Jon make",
        "How much do we pay Jon?",
        "what do we pay our Jon",
        "How much is Jon paid?",
    ],
)
def test_the_price_of_a_thing_is_nobodys_pay(question: str) -> None:
    assert said(question, THINGS, "list") == ""


@pytest.mark.parametrize("head", ["Salary", "EUR a month", "Wage per month"])
@pytest.mark.parametrize(
    "question", ["What does Jon Ash earn?", "How much do we pay Jon Ash?", "How much is Jon paid?"]
)
def test_a_column_of_pay_tells_what_somebody_earns(question: str, head: str) -> None:
    assert said(question, STAFF.format(head), "list").endswith(f"{head} 3,350 €.")


@pytest.mark.parametrize(
    ("question", "table", "answer"),
    [
        ("How much did the laptop cost?", THINGS, "laptop: Price 1,199 €."),
        ("How much did we pay for the camera?", THINGS, "camera: Price 2,150 €."),
        ("How much did we pay Volt?", SHOP, "Price: 40 + 140 = 180 € (rows 1, 2; Volt)."),
        ("How much did we pay the gardener?", WORKS, "gardener: Cost 80 EUR."),
        ("How much did we earn in March 2025?", BILLS, "Amount: 80 + 900 = 980 € (rows 1, 2)."),
        ("How much did we earn from Ash?", BILLS, "Amount: 900 + 90 = 990 € (rows 2, 3; Ash)."),
        # A client is billed, and earns nothing by it.
        ("How much does Ash earn?", BILLS, ""),
        ("Who earns the most?", BILLS, ""),
        ("Who earns the most?", STAFF.format("EUR a month"), "Ida Lund: EUR a month 4,200 €, the highest of 2 rows."),
    ],
)
def test_who_gets_the_money_is_told_from_who_pays_it(question: str, table: str, answer: str) -> None:
    assert said(question, table, "list") == answer


GIGS = "Venue | Fee | Paid?\nGlobe | 400 € | yes\nRose | 150 € | no\nSwan | 300 € | yes\n"
LESSONS = "Pupil | Fee\nAnna | 30 €\nBo | 35 €\n"


@pytest.mark.parametrize(
    ("question", "table", "about", "answer"),
    [
        ("Which gig pays the least?", GIGS, "gigs", "Rose: Fee 150 €, the lowest of 3 rows."),
        ("Which venue pays the least?", GIGS, "", "Rose: Fee 150 €, the lowest of 3 rows."),
        ("Which gigs are paid?", GIGS, "gigs", "Globe: Fee 400 €; Swan: Fee 300 €."),
        ("Which gigs did they pay?", GIGS, "gigs", "Globe: Fee 400 €; Swan: Fee 300 €."),
        ("Which show pays the least?", GIGS, "gigs", ""),
        ("Which show pays the least?", LESSONS, "lessons", ""),
        ("Which show pays the least?", LESSONS, "shows", "Anna: Fee 30 €, the lowest of 2 rows."),
    ],
)
def test_what_pays_is_not_what_is_paid_and_is_told_by_a_table_of_it_alone(
    question: str, table: str, about: str, answer: str
) -> None:
    assert said(question, table, about) == answer
