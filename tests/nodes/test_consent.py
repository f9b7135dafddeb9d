"""A reply to the question for consent is read in whatever form a client or a person gives it."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.nodes.consent import agreed

YES: list[Any] = [
    True,
    "yes",
    "Yes.",
    "approve",
    "ja",
    "oui",
    "да",
    "好的",
    "はい",
    1,
    {"granted": True},
    {"approved": "yes"},
    {"type": "accept"},
    [{"type": "accept", "args": None}],
    {"decisions": [{"type": "approve"}]},
    {"consent": True},
]
NO: list[Any] = [
    False,
    None,
    "no",
    "nein",
    "Deny",
    "нет",
    {"granted": False},
    [{"type": "ignore"}],
    0,
    {"decisions": [{"type": "approve"}, {"type": "reject"}]},
]
NEITHER: list[Any] = ["perhaps", "", {}, [], {"type": "edit"}, "yes, but not today"]


@pytest.mark.parametrize(
    ("reply", "said"), [*((r, True) for r in YES), *((r, False) for r in NO), *((r, None) for r in NEITHER)]
)
def test_a_reply_says_yes_or_no_or_neither(reply: Any, said: bool | None) -> None:
    assert agreed(reply) is said
