from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from ragweave.minds.evidence import Hop
from ragweave.minds.small.answer.sentences import Extract, rank
from ragweave.minds.small.clauses import beyond, splits, standing, value_of
from tests.minds.test_conflict import strip


@pytest.mark.parametrize(
    ("question", "inner", "filled"),
    [
        ("When was the woman who founded the mill born?", "Who founded the mill?", "When was X born?"),
        ("How high is the hill on which the tower stands?", "On which hill the tower stands?", "How high is X?"),
        ("Who led in the year when the mill burned?", "In which year the mill burned?", "Who led in X?"),
        ("What does the dog of the Tarn Choir's conductor weigh?", "Who is the conductor of the Tarn Choir?",
         "What does the dog of X weigh?"),
        ("What did the woman teach whose axe hangs in the mill?", "Whose axe hangs in the mill?",
         "What did X teach?"),
        ("Where must the key of the hut be fetched that has a bell?", "Which hut has a bell?",
         "Where must the key of X be fetched?"),
        ("What is the number of Ada's cello teacher?", "Who is the cello teacher of Ada?", "What is the number of X?"),
        ("In which year did the woman who built the mill die?", "Who built the mill?", "In which year did X die?"),
        ("How many days does the firm need to deliver whose leather smells?", "Which firm leather smells?",
         "How many days does X need to deliver?"),
        ("Who did we buy the press from that was mended?", "Which press was mended?", "Who did we buy X from?"),
        ("What is our treasurer's locker number?", "Who is our treasurer?", "What is X's locker number?"),
        ("Who wrote the song that opens the film that Ilse Marwen made?", "Which film Ilse Marwen made?",
         "Who wrote the song that opens X?"),
    ],
)  # fmt: skip
def test_innermost_description_is_asked_by_itself(question: str, inner: str, filled: str) -> None:
    first = splits(question)[0]
    assert (first.inner, first.filled("X")) == (inner, filled)


@pytest.mark.parametrize(
    "question",
    [
        "When was the Tarn Mill built?",
        "What is Wren's hourly wage?",
        # A word is never cut up: the ways to cut this one would take hours to try.
        f"When was the {'Donau' * 20} opened?",
        "Where else is the elsewhere in question?",
        "Which costs more a month, the room of Pell & Sons or the barn of Ada Marwen?",
    ],
)
def test_a_plain_question_is_not_taken_apart(question: str) -> None:
    assert splits(question) == []


def test_an_offer_is_nobody() -> None:
    assert splits("What does the offer of Pell & Sons cost?")[0].kind == "thing"


def test_what_is_asked_of_what_is_described_is_open_until_a_sentence_holds_it() -> None:
    assert beyond("Where did the woman after whom the fund is called work?") == {"work"}
    assert not beyond("Where does Ada work?")


def test_a_description_that_is_all_that_is_asked_asks_nothing_more() -> None:
    assert not splits("What is the name of the man who built the mill?")[0].asks
    assert splits("How old is the man who built the mill?")[0].asks


@pytest.mark.parametrize(
    ("question", "text", "title", "value"),
    [
        ("How old is the man who built the Tarn Mill?", "The Tarn Mill was built by Ilse Marwen for Ada Pell.", "Tarn",
         "Ilse Marwen"),
        ("Who led the club in the year when the mill burned?", "The mill burned in 1871.", "Mill", "1871"),
        ("Who led the club in the year when the mill burned?", "The mill burned in 1871 and 1890.", "Mill", ""),
        ("What is the rent for the flat of Ilse Marwen?", "Ilse Marwen, flat 22, has the key.", "Rules", "flat 22"),
        ("What do we pay for the thing that Admiral has done in spring?", "beak trimmed every spring", "Pets · Admiral",
         "beak trimmed every"),
        ("How high is the hill on which Ada worked?", "Ada worked with the Hooker glass on Mount Hill.", "Ada",
         "Mount Hill"),
        ("Where is the key of the hut that has a bell?", "The bell was cast in 1911.", "Marmot Hut · Bell",
         "Marmot Hut"),
        ("How old is the teacher of Ada?", "Plays the cello; his teacher is Mrs Quist.", "Family · Ada", "Mrs Quist"),
        ("How old is the mother of Ada Pell?", "Ada Pell's mother, a baker.", "Family · Ilse Marwen", "Ilse Marwen"),
        ("How old is the boat that was damaged?", "The Grebe was damaged; Quist thinks two weeks.", "Race", "Grebe"),
        ("How old is the man who taught Ada?", "Soak it overnight.", "glue · Glue, as Ada taught it", ""),
        ("What does the clock that gets 96 turns weigh?", "96 turns, slowly", "Winding · The Hesper", "The Hesper"),
    ],
)  # fmt: skip
def test_a_sentence_gives_what_is_described(question: str, text: str, title: str, value: str) -> None:
    split = splits(question)[0]
    assert value_of(split, said(text, title)) == value


@pytest.mark.parametrize("kind", ["time", "image"])
def test_words_of_a_talk_or_a_caption_are_not_what_a_thing_is_called(kind: Literal["time", "image"]) -> None:
    split = splits("What do we pay for the thing that Admiral has done in spring?")[0]
    e = said("beak trimmed every spring", "Pets · Admiral")
    assert value_of(split, replace(e, strip={**e.strip, "locator": {"kind": kind}})) == ""


def said(text: str, title: str) -> Extract:
    (found,) = rank("anything", [strip("library", text, title)], lambda term: 1.0)
    return found


def hop(then: str, lead: str) -> Hop:
    return {"n": 1, "query": "q", "corpora": [], "evidence": [], "action": "", "learnt": "", "missing": "",
            "next": then, "lead": lead, "by": "small"}  # fmt: skip


def test_the_question_stands_as_it_was_last_filled() -> None:
    hops = [hop("Who built the mill?", ""), hop("How old is Ilse Marwen?", "e1"), hop("Ilse Marwen old", "e2")]
    assert standing("How old is the man who built the mill?", hops) == "How old is Ilse Marwen?"
    assert standing("How old is the mill?", hops[:1]) == "How old is the mill?"
