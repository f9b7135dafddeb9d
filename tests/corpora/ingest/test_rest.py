"""How long a run still takes is told from the speech that is left and the speed so far; the clock is scripted."""

from __future__ import annotations

import pytest

from ragweave.corpora.ingest.eta import Rest
from ragweave.corpora.ingest.events import Event


class Run:
    def __init__(self) -> None:
        self.now, self.told = 100.0, list[Event]()
        self._rest = Rest(self.told.append, lambda: self.now)

    def __call__(self, after: float, *events: Event) -> float:
        """Tell events so many seconds later, and return what is left after them."""
        self.now += after
        for event in events:
            self._rest.event(event)
        return self.told[-1].left


def far(path: str, done: float, total: float = 1000, stage: str = "asr") -> Event:
    return Event("perceived", path, stage, done=done, total=total)


def test_speech_counts_from_the_start_and_by_the_speed_of_what_was_heard_and_not_of_what_had_been() -> None:
    run = Run()
    before = run(0, Event("started", total=3), far("a", 0), far("b", 0), far("c", 0))
    assert before == pytest.approx(3000 * 0.45)
    assert run(50, far("a", 100)) == pytest.approx(0.5 * 2900)
    assert run(25, far("a", 200)) == pytest.approx(0.375 * 2800, rel=0.01)
    assert run(0, Event("done", "a"), Event("failed", "b"), Event("linked", "c")) == 0
    run = Run()
    run(0.1, Event("started", total=1), far("a", 0), far("a", 400))
    assert [run(5, far("a", done)) for done in (410, 420, 430)][-1] == pytest.approx(0.5 * 570, rel=0.01)


def test_the_slower_of_looking_and_hearing_sets_the_time_and_texts_take_as_long_as_those_before_them() -> None:
    run = Run()
    run(0, Event("started", total=1), far("a", 0, stage="look"), far("a", 0))
    run(10, far("a", 10, stage="look"))
    assert run(0, far("a", 100)) == pytest.approx(990)
    run = Run()
    run(0, Event("started", total=12), far("film", 0, 10))
    assert run(6, Event("done", "1"), Event("unchanged", "2"), Event("done", "3")) == pytest.approx(8 * 2)
