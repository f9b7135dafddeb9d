from __future__ import annotations

from typing import Any

import pytest

from ragweave.components.context import Context
from ragweave.components.knowledge import Knowledge
from ragweave.components.method import Method
from ragweave.graphs.agent import decided
from ragweave.models.errors import InputError
from ragweave.nodes.reason import _selected
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


def test_another_hop_asks_route_and_expand_side_by_side() -> None:
    assert decided({"then": "more", "rewrite": True}) == ["route", "expand"]
    assert decided({"then": "more", "rewrite": False}) == ["route"]
    assert decided({"then": "recall"}) == "recall"
    assert decided({"then": "generate"}) == "generate"


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


def test_recall_that_brought_nothing_has_no_evidence_of_an_earlier_one() -> None:
    past = [{"corpora": ["paragraph"]}, {"corpora": ["model"]}]
    rows = [{"id": "model-t-1", "origin": "model", "hop": 1}]
    assert ended(state(recalls=2, hops=past, evidence=rows))["evidence"] == []


@pytest.mark.parametrize(("data", "hops", "passages"), [("nq", 5, 3), ("popqa", 5, 2), ("2wiki", 10, 2)])
def test_presets_set_rounds_passages_and_recalls(data: str, hops: int, passages: int) -> None:
    made = Context.model_validate({"preset": f"auto-rag-paper-{data}"})
    assert (made.max_hops, made.method.turn_passages, made.max_recalls) == (hops, passages, 5)


def test_what_is_set_besides_a_preset_wins_over_it() -> None:
    assert Context(preset="auto-rag-paper-2wiki", max_hops=3).max_hops == 3
    given = Context(preset="auto-rag-paper-2wiki", method=Method(turn_passages=7))
    assert (given.method.turn_passages, given.max_hops) == (7, 10)


def test_unknown_preset_is_refused() -> None:
    with pytest.raises(InputError, match="preset"):
        Context.model_validate({"preset": "mine"})


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


def test_best_items_that_refinement_left_nothing_of_are_taken_whole() -> None:
    rows = [evidence(f"e{n}") for n in range(8)]
    kept: Any = [{"evidence": "e1"}, {"evidence": "e7"}]
    assert [s["evidence"] for s in _selected(rows, kept)] == ["e0", "e2", "e3", "e4"]
