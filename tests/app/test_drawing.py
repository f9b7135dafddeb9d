"""The layered drawing of a graph."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from ragweave.app.drawing import Edge, back_edges, layered, page, svg

LOOP = [
    Edge("__start__", "route"),
    Edge("route", "retrieve"),
    Edge("retrieve", "reason"),
    Edge("reason", "route", True),
    Edge("reason", "generate", True),
    Edge("generate", "__end__"),
]
NODES = ["__start__", "route", "retrieve", "reason", "generate", "__end__"]


def test_only_the_arrow_that_leads_up_again_closes_a_loop() -> None:
    assert back_edges(NODES, LOOP) == [Edge("reason", "route", True)]


def test_layers_follow_the_longest_path() -> None:
    edges = [Edge("a", "b"), Edge("b", "c"), Edge("a", "c")]
    assert layered(["a", "b", "c"], edges).layers == [["a"], ["b"], ["c"]]


def test_a_drawing_names_every_node_and_dashes_every_decision() -> None:
    root = ET.fromstring(svg(NODES, LOOP))
    space = "{http://www.w3.org/2000/svg}"
    assert {t.text for t in root.iter(f"{space}text")} == {"start", "route", "retrieve", "reason", "generate", "end"}
    arrows = [p.get("class") for p in root.iter(f"{space}path") if p.get("marker-end")]
    assert len(arrows) == len(LOOP)
    assert arrows.count("edge maybe") == 2


def test_a_page_reaches_for_nothing_outside_itself() -> None:
    text = page("Ragweave: agent", NODES, LOOP, {"route": "Chooses <where> to look."})
    assert "Chooses &lt;where&gt; to look." in text
    assert "<script" not in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[str], list[Edge]]:
    names = [f"n{i}" for i in range(draw(st.integers(1, 8)))]
    pairs = draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=20, unique=True))
    return names, [Edge(a, b) for a, b in pairs]


@given(graphs())
def test_every_graph_can_be_laid_out_without_overlaps(drawn: tuple[list[str], list[Edge]]) -> None:
    nodes, edges = drawn
    layout = layered(nodes, edges)
    assert sorted(n for layer in layout.layers for n in layer) == sorted(nodes)
    assert {*layout.routes, *layout.back} == set(edges)
    for e in layout.routes:
        assert layout.centres[e.source][1] < layout.centres[e.target][1]
    for a, b in combinations(nodes, 2):
        (ax, ay), (bx, by) = layout.centres[a], layout.centres[b]
        assert abs(ax - bx) > 100 or abs(ay - by) > 30
    ET.fromstring(svg(nodes, edges))
