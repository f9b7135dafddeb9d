"""`ragweave graph`: every graph, in words and as Mermaid."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.app.api import GRAPHS, build_agent
from ragweave.app.commands.graph import meaning


@pytest.mark.parametrize("name", GRAPHS)
def test_every_step_is_listed_with_what_it_does(main: Any, name: str) -> None:
    code, out, _ = main("graph", name)
    assert code == 0
    for node in build_agent(name).get_graph().nodes:
        if not node.startswith("__"):
            assert f"\n{node} " in out
            assert meaning(node), f"nodes/{node}.py needs a docstring"


def test_the_agent_is_drawn_unless_another_graph_is_named(main: Any) -> None:
    assert main("graph")[1] == main("graph", "agent")[1] != main("graph", "crag")[1]


def test_a_step_that_goes_round_again_is_marked(main: Any) -> None:
    (reason,) = [line for line in main("graph")[1].splitlines() if line.startswith("reason ")]
    assert "↺ route" in reason and "generate" in reason and "↺ generate" not in reason


def test_mermaid_text_is_printed(main: Any) -> None:
    out = main("graph", "--mermaid")[1]
    assert "graph TD" in out and "search_web" in out
