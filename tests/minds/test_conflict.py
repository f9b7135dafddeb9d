from __future__ import annotations

from typing import Any

import pytest

from ragweave.minds.evidence import Evidence, Origin, Strip
from ragweave.minds.llm.write import by_origin, labelled
from ragweave.minds.small.answer.conflict import conflict
from ragweave.minds.small.answer.sentences import rank


def strip(origin: Origin, text: str, title: str = "Corvane Observatory and Ostrander Works", name: str = "") -> Strip:
    key = name or origin
    return {
        "id": f"{key}#0-{len(text)}",
        "evidence": key,
        "text": text,
        "title": title,
        "locator": {},
        "origin": origin,
        "query": "q",
        "hop": 1,
        "score": 0.5,
    }


def found(question: str, own: str, web: str) -> tuple[str, str] | None:
    sides = conflict(question, rank(question, [strip("library", own), strip("web", web)], lambda term: 1.0))
    told = {e.strip["origin"]: e.text for e in (sides.first, sides.other)} if sides else {}
    return (told["library"], told["web"]) if told else None


OPENED = "When was the Corvane Observatory opened?"
FOUNDED = "Who founded the Ostrander Works?"


@pytest.mark.parametrize(
    ("question", "own", "web"),
    [
        (OPENED, "It was opened in 1931.", "The Corvane Observatory opened its doors in 1932."),
        (OPENED, "It was opened on 3 May 1931.", "The Corvane Observatory was opened in June 1931."),
        ("In what year did the mill close?", "The mill closed in 1987.", "In 1990 the mill had to close."),
        ("How many rollers does the dome have?", "The dome has forty bronze rollers.", "The dome has 42 rollers."),
        ("How high does the tower stand?", "The tower stands 30 metres high.", "It stands 32 m high, the tower."),
        ("How long does a tour take?", "A tour takes ninety minutes.", "Every tour takes 2,000 seconds or 75 minutes."),
        (FOUNDED, "They were founded by Ada Marsh.", "The Ostrander Works were founded by Jo Halden."),
        ("What does the tour cost?", "The tour costs £2.15.", "For the tour it costs £2.48 now."),
        ("For how long does the mash stand?", "The mash stands for four hours.", "The mash stands 6 h, trust me."),
        ("What's the deposit for the hall?", "Deposit for the hall: 350 euros.", "Hall: deposit 500 euros a day"),
    ],
)
def test_different_values_for_the_same_question_are_a_conflict(question: str, own: str, web: str) -> None:
    assert found(question, own, web) == (own, web)


@pytest.mark.parametrize(
    ("question", "own", "web"),
    [
        (OPENED, "It was opened in 1931.", "The Corvane Observatory was opened on 3 May 1931."),
        (OPENED, "It was opened in 1931.", "The Corvane Observatory was repaired in 1960."),
        (OPENED, "It was opened in 1931.", "The Corvane Observatory has been open to visitors for long."),
        (OPENED, "It was opened in 1931.", "It was opened in 1931, and its dome has 40 rollers."),
        ("How many rollers does the dome have?", "The dome has forty rollers.", "The dome has 12 windows and rollers."),
        ("How high does the tower stand?", "The tower stands 30 metres high.", "It stands 98 feet high, the tower."),
        (FOUNDED, "They were founded by Ada Marsh.", "The Works were founded by Marsh in Pell."),
        ("Is the dome made of bronze?", "The dome is made of bronze.", "The dome is made of steel from 1931."),
        (
            "What's the deposit for the hall?",
            "Deposit for the hall: 350 euros.",
            "The hall's new chairs cost 500 euros.",
        ),
        ("", "It was opened in 1931.", "It was opened in 1932."),
    ],
)
def test_values_that_agree_or_cannot_be_compared_are_no_conflict(question: str, own: str, web: str) -> None:
    assert found(question, own, web) is None


def test_a_value_that_the_question_names_does_not_count() -> None:
    asked = "When was the crane that was repaired in 1967 opened?"
    own = "The crane that was repaired in 1967 was opened in 1950."
    assert found(asked, own, "The crane that was repaired in 1967 was opened in 1950 by her.") is None


def test_another_subject_is_no_conflict() -> None:
    question = "When was the Corvane Observatory opened?"
    strips = [strip("library", "It was opened in 1931."), strip("web", "It was opened in 1999.", title="Pell harbour")]
    assert conflict(question, rank(question, strips, lambda term: 1.0)) is None


def filed(text: str, file: str, title: str = "Corvane Observatory") -> Strip:
    return {**strip("library", text, title, file), "locator": {"file": f"/notes/{file}"}}


def dated(strips: list[Strip], *dates: str) -> dict[str, Evidence]:
    keys = ("text", "title", "locator", "origin", "query", "hop", "score")
    rows: Any = {
        s["evidence"]: {**{k: s[k] for k in keys}, "id": s["evidence"], "date": d}  # type: ignore[literal-required]
        for s, d in zip(strips, dates, strict=True)
    }
    return dict(rows)


def test_two_sentences_of_one_file_are_no_conflict() -> None:
    strips = [filed("It was opened in 1931.", "a.md"), filed("In 1932 it was opened.", "a.md")]
    assert conflict(OPENED, rank(OPENED, strips, lambda term: 1.0)) is None


def test_two_mails_of_one_file_are_two_documents_and_the_newer_leads() -> None:
    strips = [
        {**filed(f"The rent is {n} euros.", "box.mbox", "box"), "evidence": str(n), "id": f"{n}#0-22"}
        for n in (900, 950)
    ]
    question = "What is the rent?"
    ranked = rank(question, strips, lambda term: 1.0)  # type: ignore[arg-type]
    told = conflict(question, ranked, dated(strips, "2025-03-03", "2026-03-04"))  # type: ignore[arg-type]
    assert told is not None
    assert (told.first.text, told.other.text) == ("The rent is 950 euros.", "The rent is 900 euros.")
    assert conflict(question, ranked, dated(strips, "2025-03-03", "2025-03-03")) is None  # type: ignore[arg-type]


def test_the_newer_of_two_versions_leads_and_the_older_stands_behind_it() -> None:
    strips = [
        filed("A ticket costs 7 euros.", "old.md", "Tickets"),
        filed("A ticket costs 9 euros.", "new.md", "Tickets"),
    ]
    question = "What does a ticket cost?"
    told = conflict(question, rank(question, strips, lambda term: 1.0), dated(strips, "2023-02-01", "2025-02-01"))
    assert told is not None
    assert (told.first.text, told.other.text, told.how) == (
        "A ticket costs 9 euros.",
        "A ticket costs 7 euros.",
        "before",
    )


def test_versions_of_one_list_may_differ_by_a_month_in_their_titles() -> None:
    strips = [
        filed("Gold lettering: 9 euros a line", "old.md", "What we charge, from January 2025"),
        filed("Gold lettering: 11 euros a line", "new.md", "What we charge, from February 2026"),
    ]
    question = "what do we take per line of gold lettering"
    told = conflict(question, rank(question, strips, lambda term: 1.0), dated(strips, "2025-01-06", "2026-02-02"))
    assert told is not None
    assert (told.first.text, told.how) == ("Gold lettering: 11 euros a line", "before")


def test_who_says_what_is_asked_in_another_word_may_differ() -> None:
    strips = [filed("Founded 1888 by Ambrose Tull.", "a.txt", "Wren Society"),
              filed("The Wren Society was founded in 1891.", "b.eml", "our volumes")]  # fmt: skip
    question = "In what year did the Wren Society start?"
    assert conflict(question, rank(question, strips, lambda term: 1.0)) is not None


def test_sources_of_which_neither_replaces_the_other_differ() -> None:
    strips = [
        filed("It was opened in 1931.", "a.md"),
        filed("It was opened in 1932.", "b.md", "The Corvane Observatory plaque"),
    ]
    told = conflict(OPENED, rank(OPENED, strips, lambda term: 1.0), dated(strips, "2024-01-01", ""))
    assert told is not None
    assert told.how == "differs"


def test_evidence_stands_under_the_heading_of_its_origin_numbered_through() -> None:
    rows = [[strip("web", "w1")], [strip("library", "l1")], [strip("model", "m1")], [strip("library", "l2", name="x")]]
    told = [line for line in labelled(by_origin(rows), {}).splitlines() if line[:1] in {*"[KWlwm"}]
    assert told == [
        "Knowledge from your library:",
        *("[1]", "l1", "[2]", "l2"),
        "Knowledge from the web, written by strangers:",
        *("[3]", "w1"),
        "Written down from a model's memory, without a source:",
        *("[4]", "m1"),
    ]


def of_two(question: str, one: tuple[str, str], two: tuple[str, ...]) -> tuple[str, str] | None:
    strips = [
        strip("library", one[1], one[0], "a"),
        *(strip("library", t, two[0], f"b{n}") for n, t in enumerate(two[1:])),
    ]
    for s in strips:
        s["locator"] = {"file": s["title"]}
    told = conflict(question, rank(question, strips, lambda term: 1.0))
    return (told.first.text, told.other.text) if told else None


def test_a_value_in_another_language_differs_where_the_names_meet() -> None:
    own, other = "The concert in Tarnfeld is on 23 May.", "Das gemeinsame Konzert in Tarnfeld findet am 24. Mai statt."
    asked = "On which date is the concert in Tarnfeld?"
    assert of_two(asked, ("Booking", own), ("Reise", other)) == (own, other)
    assert of_two(asked, ("Booking", own), ("Reise", "Das Konzert in Lindau ist am 24. Mai, und wir singen.")) is None


def test_what_says_less_of_the_question_tells_of_something_else() -> None:
    own = "The tenant of the kiosk pays a deposit of 900 pounds."
    asked = "How much deposit did the tenant of the kiosk have to pay?"
    assert of_two(asked, ("Lease", own), ("Hire", "Deposit 250 pounds, given back if the lawn is clean.")) is None
    other = "Dear Petra, as tenant of the kiosk you pay a deposit of 850 pounds."
    assert of_two(asked, ("Lease", own), ("Mail", other)) == (own, other)


def test_a_document_that_names_the_subject_elsewhere_speaks_of_it() -> None:
    own, other = "Ilse pays 410 a month and 500 deposit.", "The deposit is 450 euros and is given back."
    asked = "How much deposit does Ilse pay?"
    assert of_two(asked, ("Mail", own), ("Agreement", other, "It is made between Ada Pell and Ilse Marwen.")) == (
        own,
        other,
    )
    assert of_two(asked, ("Mail", own), ("Agreement", other, "It is made between Ada Pell and Jo Halden.")) is None


def test_of_several_that_differ_the_newest_leads() -> None:
    question = "What does the Drowned Bell pay for a litre?"
    texts = {"2023": "£2.15", "2025": "£2.70", "2026": "£2.48"}
    strips = [strip("library", f"The Drowned Bell pays {v} a litre.", "Contract", year) for year, v in texts.items()]
    rows: Any = {year: {"date": f"{year}-04-01"} for year in texts}
    told = conflict(question, rank(question, strips, lambda term: 1.0), rows)
    assert told is not None and "2.48" in told.first.text


def test_a_newer_sentence_that_hardly_answers_neither_leads_nor_differs() -> None:
    question = "What does the microchip for a dog cost?"
    listed = strip("library", "Microchip for a dog: £18", "Prices", "list")
    machine = strip("library", "The new X-ray machine costs £21,500.", "Minutes", "minutes")
    others = strip("library", "Every dog gets a microchip of the new kind.", "Minutes", "minutes")
    rows: Any = {"list": {"date": "2025-01-01"}, "minutes": {"date": "2025-06-01"}}
    ranked = rank(question, [listed, machine, others], lambda term: 1.0)
    assert ranked[0].text == "Microchip for a dog: £18"
    assert conflict(question, ranked, rows) is None


@pytest.mark.parametrize(
    "plan", ["Dilip proposed a rent of £55 for a full plot.", "The rent of a full plot would rise to £55."]
)
def test_what_was_only_proposed_is_no_older_value(plan: str) -> None:
    question, own = "What is the rent of a full plot?", "The rent of a full plot is £52."
    strips = [strip("library", own, "April", "new"), strip("library", plan, "March", "old")]
    rows: Any = {"new": {"date": "2025-04-01"}, "old": {"date": "2025-03-01"}}
    assert conflict(question, rank(question, strips, lambda term: 1.0), rows) is None
    fact = strip("library", "The rent of a full plot is £48.", "March", "old")
    told = conflict(question, rank(question, [strips[0], fact], lambda term: 1.0), rows)
    assert told is not None and (told.first.text, told.how) == (own, "differs")


def test_a_number_of_any_length_differs_from_a_year_and_breaks_nothing() -> None:
    assert found(OPENED, "It was opened in 1931.", f"The Corvane Observatory was opened as no. {'7' * 5_000}.") is None
