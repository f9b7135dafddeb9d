"""What docs/papers.md names is there."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from ragweave.components.method import PRESETS, graph_of
from ragweave.graphs.run import GRAPHS, build_agent
from ragweave.graphs.video_rag import build_retrieval

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip().strip("`") for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if "::test_" in line
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_says_how_far_it_is_built_and_names_a_file_and_a_test_that_are_there(row: list[str]) -> None:
    _, built, file, test = row
    assert built == "whole" or re.match(r"(?:partly|form): \w", built)
    assert (ROOT / file).is_file()
    path, name = test.split("::")
    assert re.search(rf"^(?:async )?def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.M)


def test_every_graph_of_a_paper_has_a_preset_and_is_on_the_page() -> None:
    own = {*map(graph_of, PRESETS)}
    assert own == {*GRAPHS} - {"agent"}
    assert all(f"`{name}`:" in PAGE for name in own)


@pytest.mark.parametrize("name", [*dict.fromkeys(map(graph_of, PRESETS)), "retrieve_video"])
def test_the_ways_through_a_graph_are_those_of_its_code(name: str) -> None:
    (block,) = re.findall(rf"^<!-- flow: {name} -->\n```\n(.*?)^```$", PAGE, re.M | re.S)
    ways = [line.replace("END", "__end__").split(" -> ") for line in block.splitlines()]
    said = {edge for way in ways for edge in pairwise(way)}
    # The first begins; what nothing follows ends.
    begun = {a for a, _ in said} | {"__end__"}
    said |= {("__start__", ways[0][0]), *((last, "__end__") for _, last in said if last not in begun)}
    drawn = (build_retrieval().compile() if name == "retrieve_video" else build_agent(name)).get_graph()
    assert said == {(e.source, e.target) for e in drawn.edges}
