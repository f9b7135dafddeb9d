"""An event loop that does not wait: its timers are due at once where nothing else is at work."""

from __future__ import annotations

import asyncio
import io
import math
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

import pytest

_LONGEST = 120
"""Real seconds after which a test fails and prints where its tasks wait."""


class Virtual(asyncio.SelectorEventLoop):
    """The loop; `ahead` are the seconds that it did not wait."""

    def __init__(self) -> None:
        super().__init__()
        self.ahead, self._busy, self._look = 0.0, 0, self._selector.select
        self._selector.select = self._select
        self._ends = time.perf_counter() + _LONGEST

    def _select(self, timeout: float | None = None) -> Any:
        if time.perf_counter() > self._ends:
            self._ends = math.inf
            raise TimeoutError(f"a test in virtual time took {_LONGEST} s\n{self._stacks()}")
        found = self._look(
            min(0.05, 0.05 if timeout is None else timeout) if self._busy or timeout is None else 0
        )
        if not found and timeout and not self._busy:
            self.ahead += timeout
        return found

    def _stacks(self) -> str:
        """Return where each task waits."""
        lines = io.StringIO()
        for task in asyncio.all_tasks(self):
            task.print_stack(file=lines)
        return lines.getvalue()

    def run_in_executor(self, executor: Executor | None, func: Any, *args: Any) -> Any:
        """Run work in a thread; no time passes by itself while it lasts."""
        self._busy += 1
        made = super().run_in_executor(executor, func, *args)
        made.add_done_callback(self._less)
        return made

    def _less(self, _: Any) -> None:
        self._busy -= 1


@contextmanager
def virtual(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[asyncio.Runner, Any]]:
    """Yield a runner over such a loop, and the loop; the clock that programs read goes with it."""
    real = time.monotonic
    with asyncio.Runner(loop_factory=Virtual) as runner:
        loop: Any = runner.get_loop()
        monkeypatch.setattr(time, "monotonic", lambda: real() + loop.ahead)
        yield runner, loop
