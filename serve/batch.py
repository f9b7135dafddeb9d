"""Many questions in one request: how many they may be, and how many of the answers are under way at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from ragweave.serve.problems import Refused, invalid

LONGEST = 256
"""Questions that one batch may hold."""
AT_ONCE = 8
"""Places that one batch may take; the others are left to whoever else asks."""

T = TypeVar("T")


def check(inputs: Sequence[Any]) -> None:
    """Refuse a batch that is too long."""
    if len(inputs) > LONGEST:
        raise Refused(
            422, f"a batch of {len(inputs)} questions is too long", f"send at most {LONGEST} at once"
        )


def at_once(config: Any) -> int:
    """Return how many answers may be under way: as many as the config of a client allows, within the bound."""
    allowed = (config or {}).get("max_concurrency")
    if allowed is None:
        return AT_ONCE
    if type(allowed) is not int or allowed < 1:
        raise invalid(("config", "max_concurrency"), "Input should be a whole number, 1 or more")
    return min(allowed, AT_ONCE)


async def together(
    answers: Sequence[Callable[[], Awaitable[T]]], places: int, return_exceptions: bool
) -> list[T]:
    """Return all answers, of which some are under way at once; where one fails, the others are given up."""
    gate = asyncio.Semaphore(places)

    async def one(answer: Callable[[], Awaitable[T]]) -> Any:
        async with gate:
            try:
                return await answer()
            except Exception as error:
                if return_exceptions:
                    return error
                raise

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(answer)) for answer in answers]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]


async def when_free(answer: Callable[[], Awaitable[T]], seconds: float) -> T:
    """Answer as soon as there is a place: what a batch has answered is not thrown away for one that is missing."""
    clock = asyncio.get_running_loop().time
    until = clock() + seconds
    while True:
        try:
            return await answer()
        except Refused as error:
            if error.status != 429 or clock() > until:
                raise
            await asyncio.sleep(error.after / 2)
