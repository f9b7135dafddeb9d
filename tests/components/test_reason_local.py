"""Without a model a turn searches elsewhere if nothing relevant was found (what is open: test_ask_on.py)."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.components.context import Context
from ragweave.components.knowledge import Knowledge
from ragweave.components.reason import locally
from ragweave.components.run_context import RunContext, TurnState
from ragweave.models.meter import Meter

DESK = RunContext("reason", Context(), TurnState(Meter()))
HOP: Any = {"n": 1, "query": "the ferry"}


@pytest.mark.parametrize(
    ("relevance", "unsearched", "query"),
    [
        ([-0.9, -0.8], True, "the ferry"),
        ([-0.9, 0.4], True, ""),
        ([-0.9], False, ""),
        ([], True, "the ferry"),
    ],
)
async def test_the_same_query_goes_to_other_corpora_only_where_nothing_found_is_relevant(
    relevance: list[float], unsearched: bool, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def opened(run: RunContext) -> None:
        return None

    monkeypatch.setattr(RunContext, "library", opened)
    monkeypatch.setattr("ragweave.components.reason.next_queries", lambda library, known: [])
    rows: Any = [{"id": str(n), "relevance": r} for n, r in enumerate(relevance)]
    decision = await locally(DESK, Knowledge("When?", [HOP], rows, unsearched=unsearched, lower=0.0))
    assert (decision.query, decision.again, bool(decision.missing)) == (query, bool(query), bool(query))
