from __future__ import annotations

import pytest

from ragweave.minds.evidence import Strip
from ragweave.minds.small.answer.gather import choose
from ragweave.minds.small.answer.sentences import rank
from ragweave.minds.small.doubt import doubted
from ragweave.minds.small.sibling import of_another, of_it
from tests.minds.test_sentences import one, strip


def doubts(question: str, *strips: Strip) -> bool:
    ranked = rank(question, strips, one)
    return doubted(question, ranked[0], choose(ranked, question, one, 3))


PRICES = "- Booster, dog: £58\n- Booster, cat: £54\n- Neutering, male cat: £92\n- Neutering, female cat: £135"
DOORS = "The doors in Hatch Court are old. Brook Joinery begins in May and needs nine weeks. Cost 900 euros in all."
BIRTHDAYS = (
    "- Oma Ruth (Anna's mother): 3 February 1948\n- Oma Inge (Martin's mother): 17 February 1951, lives in Harrow\n"
    "- Opa Karl (Anna's father): 1 May 1945, died 2020"
)


@pytest.mark.parametrize(
    ("question", "text", "title", "of_another"),
    [
        ("What is the code of the shed?", "The code of the gate is 8820.", "Rules", True),
        ("What is the code of the gate?", "The code of the gate is 8820.", "Rules", False),
        ("What is the code of Gate07?", "The code of Gate07 is 8820.", "Rules", False),
        ("What is the code of Gate07?", "The code of Gate08 is 8820.", "Rules", True),
        ("What was the list of nebulae's first edition?", "The first edition of the list came out.", "Messier", False),
        ("When did the warranty of the camera end?", "The printer's warranty ended in May 2023.", "Things", True),
        ("When did the warranty of the printer end?", "The printer's warranty ended in May 2023.", "Things", False),
        ("When does the lease of the printer end?", "The lease ends on 31 May 2025.", "Lease of the office", True),
        ("When does the lease of the office end?", "The lease ends on 31 May 2025.", "Lease of the office", False),
        ("What is Tomas's salary?", "Rosa's salary is 4,200 euros, Tom's is 3,350.", "Staff", True),
        ("What is Lena's blood group?", "Blood groups: Anna A positive, Martin 0 negative.", "Doctors", True),
        ("What is Anna's blood group?", "Blood groups: Anna A positive, Martin 0 negative.", "Doctors", False),
        ("What does Carla not eat?", "Dora eats no fish and no eggs whatsoever.", "The team", True),
        ("What does Carla not eat?", "She eats no fish and no eggs whatsoever.", "Carla", False),
        (
            "What does Marvell charge for gold caps?",
            "Marvell sends an offer. Gold caps cost 18 pounds a thousand.",
            "Offer",
            False,
        ),
        (
            "How much rent do we pay Wexcombe?",
            "Wexcombe wants more. Dear Mr Tarsk, a rent of 1,490 pounds is too much.",
            "The rent",
            False,
        ),
        ("What is Jonas allergic to?", "Jonas is my son. Martin is allergic to pollen.", "Doctors", True),
        ("What does neutering a male dog cost?", PRICES, "Prices", True),
        ("What does neutering a male cat cost?", PRICES, "Prices", False),
        ("What does a booster for a rabbit cost?", PRICES, "Prices", True),
        ("Where does Oma Ruth live?", BIRTHDAYS, "Family", True),
        ("Where does Oma Inge live?", BIRTHDAYS, "Family", False),
        ("When did Oma Ruth die?", BIRTHDAYS, "Family", True),
        ("When did Opa Karl die?", BIRTHDAYS, "Family", False),
    ],
)
def test_what_is_told_of_another_of_its_kind_is_doubted(question: str, text: str, title: str, of_another: bool) -> None:
    assert doubts(question, strip(text, title)) is of_another


def test_who_does_something_for_a_place_that_was_named_before_is_no_other_place() -> None:
    question = "What do the doors in Hatch Court cost?"
    best = next(e for e in rank(question, [strip(DOORS, "Minutes")], one) if "900" in e.text)
    assert not of_another(question, best)


def test_what_is_told_of_another_does_not_lead_where_this_one_is_told_of_as_well() -> None:
    question = "How many people does the Marmot Hut sleep?"
    falcon = strip("The Falcon Hut sleeps 46 people in four rooms.", "Falcon Hut")
    marmot = strip("The Marmot Hut sleeps 18 people.", "Huts")
    first, second = (rank(question, [s], one)[0] for s in (falcon, marmot))
    assert of_it(question, [first, second]) == [second]
    assert of_it(question, [first]) == [first]
