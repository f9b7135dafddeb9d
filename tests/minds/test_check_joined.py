import pytest

from ragweave.minds.small.check import support
from ragweave.models.relevance import Passage

LAMP, FERRY, YARDS, COUNCIL, BOOKS, PEOPLE, BIRDS, NOW, THEN = LIBRARY = [
    Passage(
        "The lighthouse of Skerry Holm",
        "The harbour office ordered the tower after two herring boats were lost in 1871. The lamp was first lit on "
        "3 October 1874 and burned colza oil until 1909. The tower is 31 metres tall and has 148 steps.",
    ),
    Passage(
        "The ferry Marten",
        "The Marten was built in 1961 by the Ravnholt shipyard. She is 42 metres long and carries 18 cars. "
        "Her master is Tobias Lund.",
    ),
    Passage(
        "Shipyards of the sound",
        "The Ravnholt shipyard was founded in 1902 in the town of Ostvik. It employed 340 people at its height and "
        "closed in 1987.",
    ),
    Passage(
        "Council of 12 March 2024",
        "Pupils above the age of thirteen go on travelling to the mainland with the first ferry of the day. Item 1: "
        "The bread shop asks for 6 chairs. Petra Lind, who keeps the school library, was thanked.",
    ),
    Passage("Weather books", "The books of the lighthouse lie in the school library. They are complete from 1883."),
    Passage("People", "Tobias Lund was born in Sandhavn in 1970. Petra Lind grew up in Ostvik and plays the viola."),
    Passage("Birds", "The cliffs hold 2,310 nests of kittiwakes. Razorbills were not seen in 1958 by Edda Rask."),
    Passage("Prices from 2025", "Annual pass: 36 euros. A child pays 4 euros."),
    Passage("Prices from 2023", "Annual pass: 28 euros. A child pays 3 euros."),
]


@pytest.mark.parametrize(
    ("sentence", "both"),
    [
        ("The Marten comes from the Ravnholt shipyard, founded in 1902 in Ostvik.", (FERRY, YARDS)),
        ("The Ravnholt shipyard, which built the Marten in 1961, closed in 1987.", (FERRY, YARDS)),
        ("The yard that built the Marten, Ravnholt, employed 340 people.", (FERRY, YARDS)),
        ("The Ravnholt shipyard closed in 1987 and had built the Marten, which carries 18 cars.", (FERRY, YARDS)),
        ("The Marten, 42 metres long, comes from a shipyard of 340 people, Ravnholt.", (FERRY, YARDS)),
        ("Tobias Lund, master of the Marten, was born in Sandhavn in 1970.", (FERRY, PEOPLE)),
        ("The Marten, 42 metres long, has a master born in 1970, Tobias Lund.", (FERRY, PEOPLE)),
        ("Tobias Lund, born in 1970, is master of a ferry built in 1961.", (FERRY, PEOPLE)),
        ("The master of the Marten, Tobias Lund, comes from Sandhavn.", (FERRY, PEOPLE)),
        ("Petra Lind, who plays the viola, keeps the school library.", (COUNCIL, PEOPLE)),
        ("The council of 2024 thanked Petra Lind, a viola player who grew up in Ostvik.", (COUNCIL, PEOPLE)),
        ("Petra Lind grew up in Ostvik, where the Ravnholt shipyard was founded in 1902.", (YARDS, PEOPLE)),
        ("Ostvik is the town of the Ravnholt shipyard and of Petra Lind, who plays the viola.", (YARDS, PEOPLE)),
        ("The annual pass is 36 euros in 2025, against 28 euros in 2023.", (NOW, THEN)),
        ("A child pays 4 euros in 2025 and paid 3 euros in 2023.", (NOW, THEN)),
        ("The annual pass went up from 28 to 36 euros.", (NOW, THEN)),
        ("A child paid 3 euros before it became 4 euros.", (NOW, THEN)),
        ("The annual pass of 36 euros cost 28 euros in 2023.", (NOW, THEN)),
        ("The lighthouse was lit in 1874, and its books are complete from 1883.", (LAMP, BOOKS)),
        ("The books of the lighthouse are complete from 1883, its lamp burned colza oil until 1909.", (LAMP, BOOKS)),
    ],
)
def test_two_passages_about_the_same_thing_support_a_sentence_together(
    sentence: str, both: tuple[Passage, ...]
) -> None:
    found = support(sentence, LIBRARY)
    assert found.supported
    assert {LIBRARY[i].title for i in found.by} == {p.title for p in both}


@pytest.mark.parametrize(
    ("sentence", "strange"),
    [
        ("Pupils say the lamp was first lit on 3 October 1874.", "name Pupils"),
        ("alert(1) The lamp was first lit on 3 October 1874.", "number 1"),
        ("<b>alert(1)</b> The lamp was first lit on 3 October 1874.", "number 1"),
        ("alert(6) x link) The lamp was first lit on 3 October 1874.", "number 6"),
        ("<b>alert(12)</b> The tower is 31 metres tall and has 148 steps.", "number 12"),
        ("Razorbills tell that the tower is 31 metres tall and has 148 steps.", "name Razorbills"),
        ("Edda Rask says that the lamp was first lit on 3 October 1874.", "name Edda Rask"),
        ("The lamp was first lit on 3 October 1874, as Edda Rask reported.", "name Edda Rask"),
        ("The lamp was first lit on 3 October 1874, as Petra Lind reported.", "name Petra Lind"),
        ("The lamp was first lit on 3 October 1874 in Sandhavn.", "name Sandhavn"),
        ("The lamp of Ostvik was first lit on 3 October 1874.", "name Ostvik"),
        ("The lamp was first lit on 3 October 1958.", "number 1958"),
        ("The lamp was first lit on 12 October 1874.", "number 12"),
        ("The tower has 36 steps and is 31 metres tall.", "number 36"),
        ("The tower is 18 metres tall and has 148 steps.", "number 18 metres"),
        ("The Ravnholt shipyard of Ostvik was founded in 1883.", "number 1883"),
        ("The cliffs hold 2,310 nests, Tobias Lund says.", "name Tobias Lund"),
        ("The Marten carries 340 cars and is 42 metres long.", "number 340"),
        ("The Marten carries 18 cars to Sandhavn.", "name Sandhavn"),
        ("The Marten was built by the Ravnholt shipyard in 1958.", "number 1958"),
    ],
)
def test_a_word_that_an_unrelated_passage_happens_to_hold_supports_nothing(sentence: str, strange: str) -> None:
    found = support(sentence, LIBRARY)
    assert not found.supported
    assert found.why == f"The {strange} is not in the evidence."


def test_a_passage_that_is_alone_with_a_word_of_a_sentence_is_not_cited_beside_what_supports_it() -> None:
    sentence = "Travelling folk hear that the lamp was first lit on 3 October 1874, burning colza oil."
    found = support(sentence, [LAMP, COUNCIL])
    assert (found.by, found.adds) == ((0,), ())
