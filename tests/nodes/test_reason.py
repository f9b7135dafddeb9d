from __future__ import annotations

from typing import Any

import pytest

from ragweave.components.knowledge import Knowledge
from ragweave.nodes.state import State, ended


@pytest.mark.parametrize(
    ("query", "same"),
    [
        ("When was the tower built?", True),
        ("the tower was built when", True),
        ("tower builder", False),
        ("", False),
    ],
)
def test_repetition_is_seen_through_the_wording(query: str, same: bool) -> None:
    hop: Any = {"query": "tower of the island"}
    assert Knowledge("When was the tower built?", [hop]).asked(query) is same
    assert not Knowledge("When was the tower built?").asked(query), "before the first search nothing was asked"


def state(**keys: Any) -> State:
    task = {"queries": ["asked", "rewritten"], "corpus": "paragraph"}
    made: Any = {
        "query": "next",
        "hop": 1,
        "recalls": 0,
        "tasks": [task],
        "hops": [],
        "candidates": ["a"],
        "evidence": [],
    }
    made.update(keys)
    found: State = made
    return found


def test_round_of_search_is_told_from_a_round_of_recall() -> None:
    rows = [{"id": "model-t-1", "origin": "model", "hop": 1}, {"id": "web-1", "origin": "web", "hop": 1}]
    searched = ended(state(evidence=rows[1:]))
    assert (searched["corpora"], searched["query"], searched["evidence"]) == (["paragraph"], "asked", ["a", "web-1"])
    recalled = ended(state(recalls=1, evidence=rows))
    assert (recalled["corpora"], recalled["query"], recalled["evidence"]) == (["model"], "next", ["model-t-1"])


def evidence(name: str) -> Any:
    return {
        "id": name,
        "text": f"text of {name}",
        "title": name,
        "locator": {},
        "origin": "library",
        "query": "q",
        "hop": 2,
        "relevance": -0.4,
    }
