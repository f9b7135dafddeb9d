"""Which short sentences state something, and which are the head of their paragraph."""

from __future__ import annotations

import pytest

from ragweave.minds.small.answer.reading import sections
from ragweave.minds.small.answer.sentences import rank
from tests.minds.test_sentences import one, strip


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who is the treasurer?", "Tom is our treasurer."),
        ("Who eats no nuts?", "Carla eats no nuts."),
        ("What is the cat called?", "Our cat is called Minka."),
        ("Who is the head nurse?", "Kate Bell, head nurse."),
    ],
)
def test_a_short_sentence_that_states_something_is_told(question: str, answer: str) -> None:
    text = f"{answer} Ben looks after all of the website. Eva chairs the meetings since last spring."
    assert rank(question, [strip(text, "The team")], one)[0].text == answer


@pytest.mark.parametrize("head", ["Quiet hours.", "Opening hours in summer.", "Windows, Pugmill Court."])
def test_a_head_that_states_nothing_is_not_told(head: str) -> None:
    text = f"{head} Nobody practises the trumpet between ten at night and seven in the morning."
    assert [e.text for e in rank(f"What about the {head.lower()}", [strip(text, "Rules")], one)] == [
        text[len(head) + 1 :]
    ]


def test_an_entry_that_opens_with_an_amount_heads_nothing() -> None:
    *_, under = sections(strip("Tarte de Léa\n\n180 g de farine\n\n3 sachets de levure", "Cake"))
    assert (under["title"], under["text"]) == ("Cake · Tarte de Léa", "180 g de farine\n\n3 sachets de levure")


@pytest.mark.parametrize(
    ("question", "answer"),
    [("What does a hoodie cost?", "Hoodie €45"), ("how much is the cassette", "Cassette 8 €")],
)
def test_a_line_of_a_price_list_is_told_by_itself(question: str, answer: str) -> None:
    text = "Merch prices\nT-shirt €20\nHoodie €45\nLP “Wet Matches” €22\nCassette 8 €\nWe took 80 shirts. None left."
    assert rank(question, [strip(text, "merch")], one)[0].text == answer


FAQ = (
    "How do I reset the pump?\n\nHold the red button for five seconds.\n\n"
    "**Who may use the boat?**\n\nMembers with a badge."
)


@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        (FAQ, "How do I reset the pump?", "How do I reset the pump? Hold the red button for five seconds."),
        (FAQ, "who may use the boat?", "**Who may use the boat?** Members with a badge."),
        (
            "Where is the spare key? Under the blue pot by the door.",
            "where is the spare key",
            "Where is the spare key? Under the blue pot by the door.",
        ),
        (
            "The coach leaves at 7:30.\n\nB. Lind: Hi, what time does the coach leave?\n\nThanks, Bo",
            "what time does the coach leave",
            "The coach leaves at 7:30.",
        ),
    ],
)
def test_what_only_asks_is_no_answer_and_what_answers_it_is_told_with_it(text: str, question: str, answer: str) -> None:
    assert rank(question, [strip(text, "Notes")], one)[0].told == answer
