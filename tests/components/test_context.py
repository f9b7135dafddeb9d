from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from ragweave.components.context import Context
from ragweave.components.stand_ins import stand_ins, told
from ragweave.models.chat import override
from ragweave.models.errors import InputError
from ragweave.tests.support import ScriptedChat


def of(given: Any, **begun: Any) -> Context:
    return Context.of(SimpleNamespace(context=given), Context(**begun).set_knobs())


@pytest.mark.parametrize("given", [None, {}, Context()])
def test_what_a_run_leaves_out_is_as_its_turn_began(given: Any) -> None:
    begun = {"library": "house", "corpora": ("clip",), "preset": "crag-paper", "method": {"recalls": 9}}
    assert of(given, **begun) == Context(**begun)


def test_what_a_run_says_holds_also_where_it_is_the_default_and_within_the_method() -> None:
    found = of(
        {"library": "default", "method": {"recalls": 0}},
        library="house",
        top_k=2,
        method={"recalls": 9, "turn_passages": 3},
    )
    assert (found.library, found.top_k, found.method.recalls, found.method.turn_passages) == (
        "default",
        2,
        0,
        3,
    )


def test_a_preset_says_what_stands_in_for_what_its_authors_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_EVALUATOR", "models/crag-t5-large")
    with override(writer=ScriptedChat(replies=[])):
        rows = {row.part: row.here for row in stand_ins(Context(preset="crag-paper"))}
        model = rows.pop("chat model")
    assert " at " in model and rows == {"text encoder": "wordllama", "web search": "off"}
    assert told(Context()) == "" and "router DistilBERT: the head that ships" in told(
        Context(preset="universal-rag-paper", mode="extractive")
    )


@dataclass
class Outer:
    user: str
    ragweave: Any = None


@pytest.mark.parametrize("outer", [Outer("ann"), {"user": "ann"}, SimpleNamespace(), {}, None])
def test_the_context_of_another_graph_sets_nothing(outer: Any) -> None:
    assert Context.of(SimpleNamespace(context=outer)) == Context()


@pytest.mark.parametrize("ours", [Context(top_k=3), {"top_k": 3}])
def test_the_context_of_another_graph_may_hold_ours(ours: Any) -> None:
    for outer in (Outer("ann", ours), {"user": "ann", "ragweave": ours}):
        assert Context.of(SimpleNamespace(context=outer)).top_k == 3


@pytest.mark.parametrize(
    "outer", [{"top_kk": 3}, Outer("ann", {"top_kk": 3}), Outer("ann", 3), {"ragweave": "x"}]
)
def test_what_is_wrong_in_it_is_told_in_a_sentence(outer: Any) -> None:
    with pytest.raises(InputError):
        Context.of(SimpleNamespace(context=outer))
