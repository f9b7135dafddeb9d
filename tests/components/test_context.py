from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ragweave.components.context import Context
from ragweave.components.stand_ins import stand_ins, told
from ragweave.models.chat import override
from ragweave.tests.support import ScriptedChat


def of(given: Any, **begun: Any) -> Context:
    return Context.of(SimpleNamespace(context=given), Context(**begun).set_knobs())


@pytest.mark.parametrize("given", [None, {}, Context()])
def test_what_a_run_leaves_out_is_as_its_turn_began(given: Any) -> None:
    begun = {"library": "house", "corpora": ("clip",), "preset": "crag-paper", "method": {"pool": 9}}
    assert of(given, **begun) == Context(**begun)


def test_what_a_run_says_holds_also_where_it_is_the_default_and_within_the_method() -> None:
    found = of(
        {"library": "default", "method": {"pool": 50}}, library="house", top_k=2, method={"pool": 9, "strips": 3}
    )
    assert (found.library, found.top_k, found.method.pool, found.method.strips) == ("default", 2, 50, 3)


def test_a_preset_says_what_stands_in_for_what_its_authors_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_EVALUATOR", "models/crag-t5-large")
    with override(writer=ScriptedChat(replies=[])):
        rows = {row.part: row.here for row in stand_ins(Context(preset="crag-paper"))}
        model = rows.pop("chat model")
    assert " at " in model and rows == {"text encoder": "wordllama", "web search": "off"}
    assert told(Context()) == "" and "router DistilBERT: the head that ships" in told(
        Context(preset="universal-rag-paper", mode="extractive")
    )
