from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ragweave.components.context import Context
from ragweave.components.evidence import Hop
from ragweave.models.chat import override
from ragweave.nodes.recall import TITLE, recall
from ragweave.nodes.state import State, ended
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.states import a_turn

ONE: Hop = {**ended(State(hop=1, query="q", then="recall")), "corpora": ["model"]}
STATE: State = {"question": "Who founded it?", "query": "founder", "hop": 2, "hops": [ONE]}
STATE["turn"] = a_turn("0123456789ab")


async def recalled(reply: Any, context: Context | None = None) -> dict[str, Any]:
    runtime: Any = SimpleNamespace(context=context or Context(), stream_writer=lambda event: None)
    with override(writer=ScriptedChat(react=lambda messages: reply)):
        return await recall(STATE, runtime)


async def test_passage_is_flagged_as_the_models_own_and_numbered() -> None:
    update = await recalled("Ada Ostrander founded the works.")
    (row,) = update["evidence"]
    assert (row["origin"], row["corpus"], row["title"], row["locator"]) == (
        "model",
        "model",
        TITLE,
        {"kind": "model"},
    )
    assert row["id"].endswith("-2")
    assert row["score"] == row["relevance"] == 0.0
    assert update["knowledge"][0]["origin"] == "model"


@pytest.mark.parametrize("reply", ["", "UNKNOWN", "Unknown.", ConnectionError("gone"), ValueError("broken")])
async def test_nothing_known_leaves_no_passage(reply: Any) -> None:
    update = await recalled(reply)
    assert "evidence" not in update
