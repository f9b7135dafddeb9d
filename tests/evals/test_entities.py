"""What indexing does with names is measured on pairs of our own."""

from __future__ import annotations

import pytest

from ragweave.evals.entities import Decided, Pair, decided, figures
from ragweave.models.embed import encoder


@pytest.mark.parametrize(
    ("pair", "how"),
    [
        (Pair(True, "ViT", "Vision Transformer"), "joined"),
        (Pair(True, "ISS", "International Space Station", ("object", "technology")), "joined"),
        (Pair(False, "Rook", "Rook", ("place", "person")), "apart"),
        (Pair(True, "neural nets", "neural networks"), "asked"),
        (Pair(False, "Rook", "the price of eggs"), "apart"),
    ],
)
def test_the_rule_joins_types_part_and_what_is_near_is_asked(pair: Pair, how: Decided) -> None:
    assert decided(pair, encoder()) == how


def test_figures_count_what_was_joined_and_what_a_model_could_join() -> None:
    found = figures([(True, "joined"), (True, "asked"), (True, "apart"), (False, "joined"), (False, "asked")])
    assert (found["precision"], found["recall"]) == (0.5, 0.333)
    assert found["recall with a model that is always right"] == 0.667 and found["asked of a model"] == 2
