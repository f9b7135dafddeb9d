"""What each checker would show as right, through the product's check: the table of docs/marks.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from unittest.mock import patch

from ragweave.components import verdicts
from ragweave.components.check import CheckSource, Claim, check
from ragweave.components.context import Context
from ragweave.components.exam import Ask, ExamCase, cases, sit
from ragweave.components.run_context import RunContext, TurnState
from ragweave.models.meter import Meter
from ragweave.tests.support import checkers

SET = [ExamCase.model_validate(row) for row in checkers.written_rows()]
KEY = {**checkers.key_of(SET), **checkers.key_of(cases())}
Make = Callable[[int], Ask]
GOOD = ("verified", "follows")
CHECKERS: dict[str, Make] = {
    "honest": lambda seed: checkers.honest(KEY),
    "copies the nearest sentence": lambda seed: checkers.nearest(),
    "copies the whole passage": lambda seed: checkers.whole_passage(),
    "random of three verdicts": checkers.at_random,
    "right on 70 %": lambda seed: checkers.right_on(0.7, KEY, seed),
    "right on 80 %": lambda seed: checkers.right_on(0.8, KEY, seed),
    "right on 90 %": lambda seed: checkers.right_on(0.9, KEY, seed),
    "matches values only": lambda seed: checkers.values_only(),
    "empty words": lambda seed: checkers.empty_words(),
    "not stated": lambda seed: checkers.not_stated(),
    "garbage": lambda seed: checkers.garbage,
    "first sentence only": lambda seed: checkers.first_only(KEY),
}


class Figures(NamedTuple):
    """Shares.

    Attributes:
        planted: of planted sentences, shown as verified or as what follows, if no exam is sat.
        lost: of right sentences, without such a mark.
        void: of answers, not checked.
        passed: of exams, passed.
    """

    planted: float
    lost: float
    void: float
    passed: float

    @property
    def shown(self) -> float:
        """Share of planted sentences that are shown as right: who fails the exam marks none."""
        return self.planted * self.passed


async def figures(make: Make, draws: int = 10, exams: int = 100) -> Figures:
    """Return the figures of a checker over the written answers, with other controls in each draw."""
    planted = lost = void = wrong = right = 0
    for seed in range(draws):
        for case in SET:
            marks, unread = await marked(make(seed), case, seed)
            void += unread
            for mark, item in zip(marks, case.sentences, strict=True):
                wrong, right = wrong + (not item.true), right + item.true
                planted += not item.true and mark in GOOD
                lost += item.true and mark not in GOOD
    passed = sum([(await sit(make(seed))).passed for seed in range(exams)])
    return Figures(planted / wrong, lost / right, void / draws / len(SET), passed / exams)


async def marked(ask: Ask, case: ExamCase, seed: int) -> tuple[list[str], bool]:
    """Return the marks that the product gives the sentences of an answer, and whether none counts."""

    async def asked(run: RunContext, *given: Any) -> Any:
        return await ask(*given)

    said = [Claim(item.text, tuple(item.cites)) for item in case.sentences]
    sources = [CheckSource(str(n), shown.title, shown.text) for n, shown in enumerate(case.passages)]
    run = RunContext("check", Context(), TurnState(Meter()))
    with patch.object(verdicts, "ask", asked):
        found = await check(run, f"{case.question} ({seed})", said, sources)
    return [mark.support for mark in found.marks], bool(found.void)
