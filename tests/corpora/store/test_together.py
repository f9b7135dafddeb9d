import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ragweave.corpora.store.together import together


async def test_what_is_asked_in_one_moment_is_read_in_one_thread_and_fails_alone() -> None:
    entered: list[int] = []

    @contextmanager
    def around() -> Iterator[None]:
        entered.append(threading.get_ident())
        yield

    reads = [threading.get_ident, lambda: 1 // 0, threading.get_ident]
    first, failed, last = await asyncio.gather(*(together("k", r, around) for r in reads), return_exceptions=True)
    assert entered == [first] == [last] and first != threading.get_ident()
    assert isinstance(failed, ZeroDivisionError)


async def test_a_reader_that_leaves_costs_the_others_nothing() -> None:
    @contextmanager
    def around() -> Iterator[None]:
        yield

    kept, left = (asyncio.ensure_future(together("k", lambda: "read", around)) for _ in range(2))
    await asyncio.sleep(0)
    left.cancel()
    assert await kept == "read"
    with pytest.raises(asyncio.CancelledError):
        await left
