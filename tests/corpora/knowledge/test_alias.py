from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.knowledge.alias import Known, by_rule, forms, others
from ragweave.corpora.knowledge.facts import key_of
from ragweave.corpora.knowledge.search import ngrams

ONE = """
ViT = Vision Transformer
ViT = the vision transformers
LoRA = Low-Rank Adaptation
BERT = Bidirectional Encoder Representations from Transformers
MIT = Massachusetts Institute of Technology
DoJ = Department of Justice
USA = United States of America
U.S.A. = United States of America
LLMs = large language model
GAN = generative adversarial network
RAG = Retrieval-Augmented Generation
ASR = automatic speech recognition
CMU = Carnegie Mellon University
NLP = natural language processing
BBC = British Broadcasting Corporation
Vision Transformer (ViT) = ViT
Vision Transformer (ViT) = Vision Transformer
World Wide Web (WWW) = WWW
The Ostrander Works (OW) = Ostrander Works
neural networks = the neural network
"""
APART = """
ViT = Vision Encoder Transformer
VT = Vision
MIT = Massachusetts
BERT = Bert Osk
USA = United Kingdom
It = information technology
IT = its
GAN = graph attention
RAG = raga
ASR = automatic text recognition
LoRA = Adaptation of Low Rank
CMU = Carnegie University
NLP = language processing
Ada = American Dental Association
Vision Transformer (ViT) = Vision
WWW = web
Paris = Paris Agreement
BBC = British Corporation
CNN = convolutional network
of = Office
"""


def pairs(text: str) -> list[tuple[str, ...]]:
    return [tuple(line.split(" = ")) for line in text.strip().splitlines()]


def joined(one: str, other: str) -> bool:
    return bool(by_rule([("1", one), ("2", other)])[0])


@pytest.mark.parametrize(("one", "other"), pairs(ONE))
def test_names_of_one_thing_are_one(one: str, other: str) -> None:
    assert joined(one, other) and joined(other, one)


@pytest.mark.parametrize(("one", "other"), pairs(APART))
def test_names_of_two_things_stay_apart(one: str, other: str) -> None:
    assert not joined(one, other) and not joined(other, one)


def test_a_name_that_is_part_of_a_few_others_is_asked_about() -> None:
    known = [(name, name) for name in ("TVM", "Apache TVM", "Ada", "Ada Or", "Ada Li", "Ada Tamm", "Ada Ruus")]
    assert by_rule(known) == ([], [("TVM", "Apache TVM")])


def found(text: str, *entities: tuple[str, str]) -> set[str]:
    known: list[Known] = [(key_of(name), name, kind) for name, kind in entities]
    return {name for key, name, _ in known if key in others(text, ngrams(text), known)}


def test_either_name_leads_to_both() -> None:
    known = (("ViT", ""), ("vision transformer", "phrase"), ("bread", "phrase"))
    both = {"ViT", "vision transformer"}
    assert found("how does ViT work", *known) == found("how do vision transformers work", *known) == both
    assert found("how does bread rise", *known) == set()


def test_a_short_form_that_may_stand_for_two_names_stands_for_none() -> None:
    known = (("convolutional neural network", "phrase"), ("Cable News Network", "organization"), ("CNN", ""))
    assert found("who works at CNN", *known) == set()


def test_homonyms_of_another_type_are_kept_apart() -> None:
    assert found("what is the GAN", ("GAN", "person"), ("generative adversarial network", "method")) == set()
    assert len(found("what is the GAN", ("GAN", "method"), ("generative adversarial network", "method"))) == 2


@pytest.mark.parametrize("name", ["Ostrander Works (OW)", "Ostrander Works (OW"])
def test_an_alias_in_parentheses_is_a_name(name: str) -> None:
    assert found("what did OW sell?", (name, "")) == found("the Ostrander Works", (name, "")) == {name}
    assert found("the works", (name, "")) == set()


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_two_names_are_compared_the_same_both_ways(one: str, other: str) -> None:
    assert joined(one, other) == joined(other, one)
    assert 1 <= len(forms(one)) <= 2
