from __future__ import annotations

import pytest

from ragweave.nodes.reason import repeated


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
    assert repeated(query, ["When was the tower built?"]) is same
