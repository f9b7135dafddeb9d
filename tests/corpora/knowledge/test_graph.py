"""The entity graph in memory: what stands beside an entity, its communities, its drawing, its export."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from ragweave.app.cli import app
from ragweave.corpora.ingest.run import index
from ragweave.corpora.knowledge.alias import by_rule, forms, others
from ragweave.corpora.knowledge.facts import Entity, Relation, clean, facts_of, key_of, normal
from ragweave.corpora.knowledge.graph import around, overview
from ragweave.corpora.knowledge.records import read_records
from ragweave.corpora.knowledge.search import ngrams
from ragweave.corpora.knowledge.store import put
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import InputError
from tests.corpora.knowledge.conftest import graph, write


@pytest.fixture
async def said(talks: Path) -> None:
    write(talks, a="Otto mended the crane.")
    await index([talks])
    otto = [Entity("Otto", "person", "A builder.", (("i1", 1),)), Entity("Crane", "thing", "", (("i1", 1),))]
    again = [Entity("OTTO", "", "He came from the\x01 north.", (("i2", 3),)), Entity("Otto", "person")]
    say("c1", otto, [Relation("Otto", "Crane", "He mended it.", 1)])
    say(
        "c2",
        again,
        [Relation("Pier", "Otto", "", 1.5), Relation("Crane", "Otto", "", 1), Relation("Crane", "Pier")],
    )


def say(chunk: str, entities: list[Entity], relations: list[Relation]) -> None:
    catalog = stores().catalog
    row = catalog.library("default")
    put(catalog, row.id, catalog.sources(row.id)[0].id, chunk, facts_of(entities, relations), "")


async def test_neighbours_come_by_how_strongly_they_are_joined_over_all_chunks(said: None) -> None:
    found = around(graph(), key_of("Otto"))
    assert found is not None
    assert (found.middle.kind, found.middle.description) == (
        "person",
        "A builder. He came from the\x01 north.",
    )
    assert [(n.name, n.weight, n.description) for n in found.beside] == [
        ("Crane", 2.0, "He mended it."),
        ("Pier", 1.5, ""),
    ]
    assert found.items == ["i2", "i1"]
    assert {frozenset(line[:2]) for line in found.lines} == {
        frozenset(map(key_of, pair)) for pair in combinations(("Otto", "Crane", "Pier"), 2)
    }
    few = around(graph(), key_of("Otto"), k=1)
    assert few is not None and [n.name for n in few.beside] == ["Crane"]
    assert around(graph(), key_of("nobody")) is None


async def test_what_is_joined_among_itself_is_a_community_led_by_whoever_is_joined_most(said: None) -> None:
    say(
        "c3",
        [Entity("Nobody")],
        [Relation(a, b) for a, b in combinations(("Rye", "Oven", "Flour", "Salt"), 2)],
    )
    first, second = overview(graph())
    assert {n.name for n in first} == {"Rye", "Oven", "Flour", "Salt"} and {n.weight for n in first} == {3.0}
    assert {n.name for n in second} == {"Otto", "Crane", "Pier"}


async def test_the_export_opens_with_networkx_and_nothing_is_overwritten(said: None, tmp_path: Path) -> None:
    run, to = CliRunner(), tmp_path / "out.graphml"
    done = run.invoke(app, ["graph", "--entities", str(to)])
    assert done.exit_code == 0 and "3 nodes, 3 edges" in done.output
    read = nx.read_graphml(to)
    otto = read.nodes[key_of("Otto")]
    assert (otto["label"], otto["kind"], otto["mentions"], otto["sources"]) == ("Otto", "person", 2, 1)
    assert otto["description"] == "A builder. He came from the north."
    assert read.edges[key_of("Otto"), key_of("Crane")] == {"weight": 2.0, "description": "He mended it."}
    for why, where in (("exists", to), ("cannot be written", tmp_path / "no" / "out.graphml")):
        failed = run.invoke(app, ["graph", "--entities", str(where)])
        assert isinstance(failed.exception, InputError) and why in str(failed.exception)
    assert not [n for n in os.listdir(tmp_path) if n.startswith(".")]


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
