"""The entity graph in memory: what stands beside an entity, its communities, its drawing, its export."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path

import networkx as nx
import pytest
from typer.testing import CliRunner

from ragweave.app.cli import app
from ragweave.corpora.ingest.run import index
from ragweave.corpora.knowledge.facts import Entity, Relation, facts_of, key_of
from ragweave.corpora.knowledge.graph import around, overview
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
