"""Names: read from a model's reply, brought to one form, and told to be of one thing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.knowledge.alias import by_rule, forms, others
from ragweave.corpora.knowledge.facts import Entity, Relation, clean, facts_of, key_of, normal
from ragweave.corpora.knowledge.records import read_records
from ragweave.corpora.knowledge.search import ngrams

PIPES = """entity | Ada Ostrander | person | She found the comet.
entity | Pell | place | A harbour town.
relation | Ada Ostrander | Pell | She lived there. | 7
"""
GRAPHRAG = (
    '("entity"<|>"ADA OSTRANDER"<|>"person"<|>"She found the comet.")##'
    '("entity"<|>"PELL"<|>"geo"<|>"A harbour town.")##'
    '("relationship"<|>"ADA OSTRANDER"<|>"PELL"<|>"She lived there."<|>7)<|COMPLETE|>'
)
TABLE = "Here is what I found:\n" + "".join(f"| {line} |\n" for line in PIPES.splitlines())


@pytest.mark.parametrize("reply", [PIPES, GRAPHRAG, TABLE], ids=["pipes", "graphrag", "table"])
def test_every_usual_spelling_is_read(reply: str) -> None:
    entities, relations = read_records(reply)
    assert [normal(e.name) for e in entities] == ["ada ostrand", "pell"]
    assert entities[0].kind == "person" and "comet" in entities[0].description
    assert [(r.weight, r.description) for r in relations] == [(7, "She lived there.")]


MARKS = st.lists(
    st.sampled_from(["entity", "relation", "|", "<|>", "##", "Ada", "7", "\n", '"', "{"]), max_size=60
)


@given(st.text(max_size=400) | MARKS.map(" ".join))
def test_any_reply_is_read_without_an_error(reply: str) -> None:
    facts_of(*read_records(reply))


def test_facts_join_equal_names_and_know_both_ends_of_a_relation() -> None:
    facts = facts_of(
        [Entity("Comet", "", "It is bright."), Entity("the comet", "object", "It returns.")],
        [
            Relation("Comet", "Pell", "seen from", 2.0),
            Relation("Pell", "the comet", "seen", 3.0),
            Relation("A", "A"),
        ],
    )
    comet = facts.entities[key_of("comet")]
    assert (comet.kind, comet.description) == ("object", "It is bright. It returns.")
    assert key_of("Pell") in facts.entities and [r.weight for r in facts.relations.values()] == [5.0]
    assert key_of("The Neural Networks") == key_of("neural network") and key_of("GPT-2") != key_of("GPT-3")
    assert key_of("…") == "" and clean("  “Ada&amp;Co” ") == "Ada&Co"


ONE = """
ViT = Vision Transformer
ViT = the vision transformers
BERT = Bidirectional Encoder Representations from Transformers
MIT = Massachusetts Institute of Technology
U.S.A. = United States of America
LLMs = large language model
RAG = Retrieval-Augmented Generation
Vision Transformer (ViT) = ViT
World Wide Web (WWW) = WWW
The Ostrander Works (OW) = Ostrander Works
neural networks = the neural network
"""
APART = """
ViT = Vision Encoder Transformer
VT = Vision
BERT = Bert Osk
USA = United Kingdom
It = information technology
GAN = graph attention
RAG = raga
LoRA = Adaptation of Low Rank
NLP = language processing
Vision Transformer (ViT) = Vision
Paris = Paris Agreement
of = Office
"""


def joined(one: str, other: str) -> bool:
    return bool(by_rule([("1", one), ("2", other)])[0])


@pytest.mark.parametrize(("rows", "one_thing"), [(ONE, True), (APART, False)], ids=["one", "apart"])
def test_an_acronym_and_an_alias_are_names_of_one_thing_and_what_only_looks_so_is_not(
    rows: str, one_thing: bool
) -> None:
    pairs = [line.split(" = ") for line in rows.strip().splitlines()]
    assert [p for p in pairs if not (joined(p[0], p[1]) is joined(p[1], p[0]) is one_thing)] == []


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_two_names_are_compared_the_same_both_ways(one: str, other: str) -> None:
    assert joined(one, other) == joined(other, one)
    assert 1 <= len(forms(one)) <= 2


VIT = (("ViT", ""), ("vision transformer", "phrase"), ("bread", "phrase"))
GAN = "generative adversarial network"


@pytest.mark.parametrize(
    ("question", "known", "found"),
    [
        ("how does ViT work", VIT, {"ViT", "vision transformer"}),
        ("how do vision transformers work", VIT, {"ViT", "vision transformer"}),
        ("how does bread rise", VIT, set()),
        ("at CNN", (("convolutional neural network", ""), ("Cable News Network", ""), ("CNN", "")), set()),
        ("what is the GAN", (("GAN", "person"), (GAN, "method")), set()),
        ("what is the GAN", (("GAN", "method"), (GAN, "method")), {"GAN", GAN}),
        ("what did OW sell?", (("Ostrander Works (OW", ""),), {"Ostrander Works (OW"}),
        ("the Ostrander Works", (("Ostrander Works (OW)", ""),), {"Ostrander Works (OW)"}),
        ("the works", (("Ostrander Works (OW)", ""),), set()),
    ],
)
def test_a_question_by_one_name_means_the_other_unless_that_may_be_another_thing(
    question: str, known: tuple[tuple[str, str], ...], found: set[str]
) -> None:
    rows = [(key_of(name), name, kind) for name, kind in known]
    keys = others(question, ngrams(question), rows)
    assert {name for key, name, _ in rows if key in keys} == found
