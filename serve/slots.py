"""Places for answers under way, and the queue before them.

A question takes a place at once while few are under way. Others wait, and are let in one after the other while the
event loop keeps up: a slow model has many questions at once, a busy processor few. First sentences come first: while
the loop is late, an answer that has begun to appear stands back for those that have not. Callers take turns.
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
"""Answers without a sentence yet, beside which another one begins without a look at the loop."""
_BACK = 2.0
"""Seconds for which an answer stands back at most."""
_LOOK = 0.01
"""Seconds between two looks at the loop while somebody waits."""
_LATE = 0.005
"""Seconds that the loop may be late, and still keeps up."""
_TELL = 1.0
"""Seconds between two tellings of the places."""


@dataclass(eq=False)
class _Waiter:
    """One who waits; `tell` hears of its place in the queue, from 1, when that has changed."""

    tell: Callable[[int], object]
    since: float
    come: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    told: int = 0


def _full() -> Refused:
    """Return the refusal of a question for which there is no place."""
    refused = Refused(429, "too many answers are under way", "try again in a moment", after=2)
    return refused.named("too_many_answers_under")


class Slots:
    """Places for answers under way, and the `seconds` that one may take; all doors of the server share them.

    At most `waiting` questions wait for one.
    """

    def __init__(self, total: int, seconds: float, waiting: int = 1000) -> None:
        self._total = self._free = total
        self.seconds = seconds
        self.draining = False
        """The server is about to stop: none is given any more."""
        self.ended = False
        """The server stops now: the answers of requests under way are broken off."""
        self._limits: set[asyncio.Timeout] = set()
        self.most_waiting = waiting
        self._queues: dict[str, deque[_Waiter]] = {}
        self._appearing = 0
        self._back: deque[asyncio.Future[None]] = deque()
        self._look: asyncio.TimerHandle | None = None
        self._told_at = 0.0

    @property
    def taken(self) -> int:
        """How many are taken."""
        return self._total - self._free

    @property
    def waiting(self) -> int:
        """How many questions wait."""
        return sum(map(len, self._queues.values()))

    @property
    def silent(self) -> int:
        """How many of those under way have no sentence yet."""
        return self.taken - self._appearing

    def check(self) -> None:
        """Refuse a question for which there is no place to wait, either."""
        if self.draining:
            raise Refused(
                503, "this server is being stopped", "try again in a moment", "draining", after=2
            ).named("server_being_stopped")
        if self._free < 1 and self.waiting >= self.most_waiting:
            raise _full()

    def take(self) -> None:
        """Take a place at once, to be given back with `give`; who waits is not asked."""
        self.check()
        if self._free < 1:
            raise _full()
        self._free -= 1
        RUNNING.inc()

    async def turn(self, who: str, tell: Callable[[int], object] = lambda place: None) -> None:
        """Wait for a place, to be given back with `give`; callers, of whom `who` is one, take turns.

        Raises:
            Refused: too many wait already, or the server is about to stop.
        """
        self.check()
        if not self._queues and self._free and self.silent < _AT_ONCE:
            self.take()
            return
        waiter = _Waiter(tell, asyncio.get_running_loop().time())
        self._queues.setdefault(who, deque()).append(waiter)
        WAITING.inc()
        self._look_soon()
        try:
            await waiter.come
        except BaseException:
            if waiter.come.done() and not waiter.come.cancelled():
                self.give()
            else:
                self._leave(who, waiter)
            raise
        finally:
            WAITING.dec()
            WAITED.observe(asyncio.get_running_loop().time() - waiter.since)

    async def appears(self) -> None:
        """Note that an answer under way has its first sentence, and stand back while others have none and it is busy.

        Whoever calls this gives the place back with `give(appeared=True)`.
        """
        self._appearing += 1
        if not self._others_wait():
            return
        back = asyncio.get_running_loop().create_future()
        self._back.append(back)
        self._look_soon()
        try:
            async with asyncio.timeout(_BACK):
                await back
        except TimeoutError:
            return
        finally:
            if back in self._back:
                self._back.remove(back)

    def give(self, appeared: bool = False) -> None:
        """Give a place back; `appeared` says that it was noted that its answer appears."""
        self._free += 1
        self._appearing -= appeared
        RUNNING.dec()
        if self._queues and self.silent < _AT_ONCE:
            self._admit()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold a place."""
        self.take()
        try:
            yield
        finally:
            self.give()

    @asynccontextmanager
    async def in_turn(self, who: str) -> AsyncIterator[None]:
        """Wait for a place and hold it."""
        await self.turn(who)
        try:
            yield
        finally:
            self.give()

    def _look_soon(self) -> None:
        """Look in a moment whether the loop keeps up."""
        if self._look is None:
            loop = asyncio.get_running_loop()
            due = loop.time() + _LOOK
            self._look = loop.call_at(due, self._looked, due)

    def _looked(self, due: float) -> None:
        self._look = None
        now = asyncio.get_running_loop().time()
        if now - due < _LATE:
            self._go_on()
        elif self.silent < _AT_ONCE:
            self._admit()
        while self._back and not self._others_wait():
            self._release()
        if self._queues and now - self._told_at >= _TELL:
            self._told_at = now
            self._tell_places(now)
        if self._queues or self._back:
            self._look_soon()

    def _others_wait(self) -> bool:
        """Return whether anybody waits for a first sentence."""
        return bool(self._queues) or self.silent > 0

    def _go_on(self) -> None:
        """Let in whoever waits, else let an answer go on that stands back."""
        if self._queues and self._free:
            self._admit()
        elif self._back:
            self._release()

    def _release(self) -> None:
        back = self._back.popleft()
        if not back.done():
            back.set_result(None)

    def _admit(self) -> None:
        """Give a free place to the next who waits, whose caller then goes to the end."""
        if not self._free or not self._queues:
            return
        who, queue = next(iter(self._queues.items()))
        waiter = queue.popleft()
        del self._queues[who]
        if queue:
            self._queues[who] = queue
        self._free -= 1
        RUNNING.inc()
        waiter.come.set_result(None)

    def _leave(self, who: str, waiter: _Waiter) -> None:
        queue = self._queues[who]
        queue.remove(waiter)
        if not queue:
            del self._queues[who]

    def _tell_places(self, now: float) -> None:
        """Tell those who have waited for a while where they are in the queue, if that has changed."""
        rounds = zip_longest(*self._queues.values())
        order = [waiter for each in rounds for waiter in each if waiter is not None]
        for place, waiter in enumerate(order, 1):
            if place != waiter.told and now - waiter.since >= _TELL / 2:
                waiter.told = place
                waiter.tell(place)

    @asynccontextmanager
    async def limited(self, until: float) -> AsyncIterator[None]:
        """Wait until a time of the loop, or until the server stops; a TimeoutError says that it is past."""
        async with asyncio.timeout_at(0 if self.ended else until) as limit:
            self._limits.add(limit)
            try:
                yield
            finally:
                self._limits.discard(limit)

    def end(self) -> None:
        """Break off what waits within `limited`."""
        self.ended = True
        for limit in self._limits:
            if not limit.expired():
                limit.reschedule(0)
