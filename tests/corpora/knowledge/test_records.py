"""Reading what a language model extracted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.knowledge.facts import Entity, Relation, clean, facts_of, key_of, normal
from ragweave.corpora.knowledge.records import read_records

PIPES = """entity | Ada Ostrander | person | She found the comet.
entity | Pell | place | A harbour town.
relation | Ada Ostrander | Pell | She lived there. | 7
"""
GRAPHRAG = (
    '("entity"<|>"ADA OSTRANDER"<|>"person"<|>"She found the comet.")##'
    '("entity"<|>"PELL"<|>"geo"<|>"A harbour town.")##'
    '("relationship"<|>"ADA OSTRANDER"<|>"PELL"<|>"She lived there."<|>7)<|COMPLETE|>'
)
TABLE = """Here is what I found:
| entity | Ada Ostrander | person | She found the comet. |
| entity | Pell | place | A harbour town. |
| relation | Ada Ostrander | Pell | She lived there. | 7 |
"""


@pytest.mark.parametrize("reply", [PIPES, GRAPHRAG, TABLE], ids=["pipes", "graphrag", "table"])
def test_every_usual_spelling_is_read(reply: str) -> None:
    entities, relations = read_records(reply)
    assert [normal(e.name) for e in entities] == ["ada ostrand", "pell"]
    assert entities[0].kind == "person" and "comet" in entities[0].description
    assert len(relations) == 1 and relations[0].weight == 7 and "lived" in relations[0].description


@pytest.mark.parametrize(
    "reply", ["", "NONE", "I cannot do that.", "entity", "entity | |", "{", '{"entities": 5}', "[[[[", "| | | |"]
)
def test_what_cannot_be_read_gives_nothing(reply: str) -> None:
    assert read_records(reply) == ([], [])


@given(st.text(max_size=400))
def test_any_reply_is_read_without_an_error(reply: str) -> None:
    entities, relations = read_records(reply)
    facts_of(entities, relations)


@given(
    st.lists(st.sampled_from(["entity", "relation", "|", "<|>", "##", "Ada", "7", "\n", '"', "{", "["]), max_size=60)
)
def test_any_mixture_of_marks_is_read_without_an_error(parts: list[str]) -> None:
    entities, relations = read_records(" ".join(parts))
    facts_of(entities, relations)


def test_a_strength_is_kept_between_zero_and_ten() -> None:
    _, relations = read_records("relation | A1 | B1 | x | 900\nrelation | A1 | C1 | x | -4\nrelation | A1 | D1 | x")
    assert [r.weight for r in relations] == [10.0, 0.0, 5.0]


def test_names_that_differ_in_article_case_and_number_are_one() -> None:
    assert key_of("The Neural Networks") == key_of("neural network")
    assert key_of("GPT-2") != key_of("GPT-3")
    assert key_of("…") == ""
    assert clean("  “Ada&amp;Co” ") == "Ada&Co"


def test_facts_join_equal_names_and_know_both_ends_of_a_relation() -> None:
    facts = facts_of(
        [Entity("Comet", "", "It is bright."), Entity("the comet", "object", "It returns.")],
        [Relation("Comet", "Pell", "seen from", 2.0), Relation("Pell", "the comet", "seen", 3.0), Relation("A", "A")],
    )
    comet = facts.entities[key_of("comet")]
    assert (comet.kind, comet.description) == ("object", "It is bright. It returns.")
    assert key_of("Pell") in facts.entities
    assert [r.weight for r in facts.relations.values()] == [5.0]
