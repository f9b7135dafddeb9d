from __future__ import annotations

from typing import Any

import pytest

from ragweave.components.knowledge import Knowledge


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
