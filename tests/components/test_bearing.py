"""Which stretches of a long document a model is shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragweave.components.bearing import LEFT_OUT, chosen, joined, stretches


def test_the_beginning_and_the_best_stretches_stay_in_their_order() -> None:
    spans = [(0, 100), (100, 200), (200, 300), (300, 400)]
    assert chosen(spans, [-1.0, 0.1, -0.5, 0.9], 330) == [(0, 100), (100, 200), (300, 400)]


def test_a_gap_is_marked_and_blanks_are_none() -> None:
    text = "One. Two.\n\nThree. Four."
    assert joined(text, [(0, 4), (5, 9), (18, 23)]) == f"One. Two.{LEFT_OUT}Four."


@given(st.lists(st.tuples(st.integers(1, 400), st.floats(-1, 1)), max_size=30), st.integers(0, 3_000))
def test_what_is_chosen_fits_and_is_in_order(rows: list[tuple[int, float]], most: int) -> None:
    spans, at = [], 0
    for length, _ in rows:
        spans.append((at, at + length))
        at += length
    kept = chosen(spans, [score for _, score in rows], most)
    assert kept == sorted(kept)
    assert len(joined("x" * at, kept)) <= max(most, 0)


def test_three_sentences_or_whole_rows_stand_together() -> None:
    rows = "\n".join(f"Row {n} | {n * 10}" for n in range(200))
    text = f"One is here. Two is here. Three is here. Four is here.\n\n{rows}\n\nFive is here."
    parts = [text[a:b] for a, b in stretches(text)]
    assert parts[:2] == ["One is here. Two is here. Three is here.", "Four is here."]
    assert parts[-1] == "Five is here."
    assert "\n".join(parts[2:-1]) == rows and all(len(part) <= 1_300 for part in parts)
