"""The rule that joins names is measured on pairs of our own."""

from __future__ import annotations

from ragweave.evals.entities import figures, pairs


def test_a_hundred_pairs_half_of_them_of_one_entity() -> None:
    given = pairs()
    assert len({(one, other) for _, one, other in given}) == 100 and sum(alike for alike, _, _ in given) == 50


def test_figures_count_what_was_joined_and_what_should_have_been() -> None:
    made = [(True, "ViT", "Vision Transformer"), (True, "Tamm", "Kask"), (False, "Rook", "rook"), (False, "a", "b")]
    assert figures(made) == {"pairs": 4, "joined": 2, "precision": 0.5, "recall": 0.5}
