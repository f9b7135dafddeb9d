"""Limit how many answers run at once, and queue the questions that wait for a slot.

A question starts at once while few answers are running. Later questions are admitted one by one as long as
the event loop keeps up: a slow model may serve many answers at once, a busy processor only few. First
sentences have priority: while the loop is late, an answer that already has a sentence pauses for answers that
have none. Callers are admitted in turn.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest

from ragweave.serve.counters import RUNNING, WAITED, WAITING
from ragweave.serve.problems import Refused

_AT_ONCE = 8
"""Number of answers without a sentence up to which a question starts without checking the event loop."""
_BACK = 2.0
"""Longest pause of an answer, in seconds."""
_LOOK = 0.01
"""Seconds between two checks of the event loop while a question waits."""
_LATE = 0.005
"""Delay of the event loop, in seconds, up to which it keeps up."""
_REPORT = 1.0
"""Seconds between two reports of places in the queue."""


@dataclass(eq=False)
class _Waiter:
    """A question in the queue; `report` receives its place, from 1, each time that the place has changed."""

    report: Callable[[int], object]
    since: float
    admitted: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    reported: int = 0


def _full() -> Refused:
    """Return the refusal of a question for which there is no place."""
    refused = Refused(429, "too many answers are under way", "try again in a moment", after=2)
    return refused.named("server_full")


class Slots:
    """Slots for running answers, shared by all endpoints of the server.

    An answer may take `seconds`. At most `waiting` questions wait for a slot.
    """

    def __init__(self, total: int, seconds: float, waiting: int = 1000) -> None:
        self._total = self._free = total
        self.seconds = seconds
        self.draining = False
        """The server is about to stop, and no further slot is given."""
        self.ended = False
        """The server stops now, and running answers are cancelled."""
        self._limits: set[asyncio.Timeout] = set()
        self.most_waiting = waiting
        self._queues: dict[str, deque[_Waiter]] = {}
        self._appearing = 0
        self._paused: deque[asyncio.Future[None]] = deque()
        self._check_timer: asyncio.TimerHandle | None = None
        self._reported_at = 0.0

    @property
    def taken(self) -> int:
        """Number of slots in use."""
        return self._total - self._free

    @property
    def waiting(self) -> int:
        """Number of questions that wait."""
        return sum(map(len, self._queues.values()))

    @property
    def silent(self) -> int:
        """Number of running answers without a sentence."""
        return self.taken - self._appearing

    def check(self) -> None:
        """Refuse a question if it could not even wait."""
        if self.draining:
            raise Refused(
                503, "this server is being stopped", "try again in a moment", "draining", after=2
            ).named("server_stopping")
        if self._free < 1 and self.waiting >= self.most_waiting:
            raise _full()

    def take(self) -> None:
        """Take a slot at once, ahead of the queue; return it with `give`."""
        self.check()
        if self._free < 1:
            raise _full()
        self._free -= 1
        RUNNING.inc()

    async def turn(self, who: str, tell: Callable[[int], object] = lambda place: None) -> None:
        """Wait for a slot; return it with `give`. Callers, identified by `who`, are admitted in turn.

        `tell` receives the question's place in the queue when it changes.

        Raises:
            Refused: too many questions wait already, or the server is about to stop.
        """
        self.check()
        if not self._queues and self._free and self.silent < _AT_ONCE:
            self.take()
            return
        waiter = _Waiter(tell, asyncio.get_running_loop().time())
        self._queues.setdefault(who, deque()).append(waiter)
        WAITING.inc()
        self._schedule_check()
        try:
            await waiter.admitted
        except BaseException:
            if waiter.admitted.done() and not waiter.admitted.cancelled():
                self.give()
            else:
                self._leave(who, waiter)
            raise
        finally:
            WAITING.dec()
            WAITED.observe(asyncio.get_running_loop().time() - waiter.since)

    async def appears(self) -> None:
        """Record that an answer has its first sentence, and pause it while others need the event loop.

        After this call, return the slot with `give(appeared=True)`.
        """
        self._appearing += 1
        if not self._others_wait():
            return
        resumed = asyncio.get_running_loop().create_future()
        self._paused.append(resumed)
        self._schedule_check()
        try:
            async with asyncio.timeout(_BACK):
                await resumed
        except TimeoutError:
            return
        finally:
            if resumed in self._paused:
                self._paused.remove(resumed)

    def give(self, appeared: bool = False) -> None:
        """Return a slot; set `appeared` if `appears` was called for its answer."""
        self._free += 1
        self._appearing -= appeared
        RUNNING.dec()
        if self._queues and self.silent < _AT_ONCE:
            self._admit()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Take a slot at once for the duration of the block."""
        self.take()
        try:
            yield
        finally:
            self.give()

    @asynccontextmanager
    async def in_turn(self, who: str) -> AsyncIterator[None]:
        """Wait for a slot and hold it for the duration of the block."""
        await self.turn(who)
        try:
            yield
        finally:
            self.give()

    def _schedule_check(self) -> None:
        """Schedule a check of whether the event loop keeps up."""
        if self._check_timer is None:
            loop = asyncio.get_running_loop()
            due = loop.time() + _LOOK
            self._check_timer = loop.call_at(due, self._check_loop, due)

    def _check_loop(self, due: float) -> None:
        """Admit questions and resume answers according to how late this call is."""
        self._check_timer = None
        now = asyncio.get_running_loop().time()
        if now - due < _LATE:
            self._admit_or_resume()
        elif self.silent < _AT_ONCE:
            self._admit()
        while self._paused and not self._others_wait():
            self._resume()
        if self._queues and now - self._reported_at >= _REPORT:
            self._reported_at = now
            self._report_places(now)
        if self._queues or self._paused:
            self._schedule_check()

    def _others_wait(self) -> bool:
        """Return whether any question or answer still waits for its first sentence."""
        return bool(self._queues) or self.silent > 0

    def _admit_or_resume(self) -> None:
        """Admit the next question, or resume a paused answer if no question can be admitted."""
        if self._queues and self._free:
            self._admit()
        elif self._paused:
            self._resume()

    def _resume(self) -> None:
        resumed = self._paused.popleft()
        if not resumed.done():
            resumed.set_result(None)

    def _admit(self) -> None:
        """Give a free slot to the next question, and move its caller to the end of the queue."""
        if not self._free or not self._queues:
            return
        who, queue = next(iter(self._queues.items()))
        waiter = queue.popleft()
        del self._queues[who]
        if queue:
            self._queues[who] = queue
        self._free -= 1
        RUNNING.inc()
        waiter.admitted.set_result(None)

    def _leave(self, who: str, waiter: _Waiter) -> None:
        queue = self._queues[who]
        queue.remove(waiter)
        if not queue:
            del self._queues[who]

    def _report_places(self, now: float) -> None:
        """Report changed places to the questions that have waited for a while."""
        order: list[_Waiter] = []
        for waiters in zip_longest(*self._queues.values()):
            order += filter(None, waiters)
        for place, waiter in enumerate(order, 1):
            if place != waiter.reported and now - waiter.since >= _REPORT / 2:
                waiter.reported = place
                waiter.report(place)

    @asynccontextmanager
    async def limited(self, until: float) -> AsyncIterator[None]:
        """Raise TimeoutError within the block at a time of the loop, or when the server stops."""
        async with asyncio.timeout_at(0 if self.ended else until) as limit:
            self._limits.add(limit)
            try:
                yield
            finally:
                self._limits.discard(limit)

    def end(self) -> None:
        """Cancel what runs within `limited`."""
        self.ended = True
        for limit in self._limits:
            if not limit.expired():
                limit.reschedule(0)
