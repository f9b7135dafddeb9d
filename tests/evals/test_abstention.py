from __future__ import annotations

from typing import Any

import pytest

from ragweave.corpora.store.library import open_library
from ragweave.evals.abstention import Told, shares, tell
from ragweave.evals.answers import Question
from ragweave.evals.corpus import Prepared

TOLD = [Told(0.9, True, False), Told(0.1, True, False), Told(0.2, False, False), Told(-0.9, False, True)]


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [(-1.0, (0.5, 0.25, 0.25)), (0.2, (0.25, 0.25, 0.5)), (0.5, (0.25, 0.0, 0.75)), (1.0, (0.0, 0.0, 1.0))],
)
def test_a_higher_threshold_declines_more_of_right_and_wrong(threshold: float, expected: Any) -> None:
    assert shares(TOLD, threshold) == expected


def test_no_questions_give_zeros() -> None:
    assert shares([], 0.0) == (0.0, 0.0, 0.0)


async def test_questions_are_answered_whatever_was_found(stock: Any) -> None:
    stock({"mill.md": "# Tarn Mill\n\nThe Tarn Mill made paper and was set up by Ilse Marwen in 1871.\n"})
    questions = [
        Question("1", "Who set up the Tarn Mill?", ("Ilse Marwen",)),
        Question("2", "Which paper did the pilots of Corvane read in 1990?", ("none",)),
    ]
    right, wrong = await tell(Prepared(await open_library(), {}), questions, "agent")
    assert right.right and not wrong.right
    assert right.best > wrong.best
