from __future__ import annotations

import pytest

from ragweave.nodes.grade import verdict
from ragweave.nodes.state import Action


@pytest.mark.parametrize(
    ("best", "action"),
    [
        (1.0, "correct"),
        (0.59, "correct"),
        (0.589, "ambiguous"),
        (-0.99, "ambiguous"),
        (-0.991, "incorrect"),
    ],
)
def test_both_thresholds_are_inclusive(best: float, action: Action) -> None:
    assert verdict(best, upper=0.59, lower=-0.99) == action
