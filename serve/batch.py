"""Answer many questions of one request, within limits on their number and concurrency."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from ragweave.serve.problems import Refused, invalid

LONGEST = 256
"""Maximum number of questions in a batch."""
AT_ONCE = 8
"""Maximum number of slots that a batch takes; the others stay free for other callers."""

T = TypeVar("T")


def check(inputs: Sequence[Any]) -> None:
    """Refuse a batch that is too long."""
    if len(inputs) > LONGEST:
        raise Refused(
            422, f"a batch of {len(inputs)} questions is too long", f"send at most {LONGEST} at once"
        )


def at_once(config: Any) -> int:
    """Return the concurrency that a client's config asks for, limited to `AT_ONCE`."""
    allowed = (config or {}).get("max_concurrency")
    if allowed is None:
        return AT_ONCE
    if type(allowed) is not int or allowed < 1:
        raise invalid(("config", "max_concurrency"), "Input should be a whole number, 1 or more")
    return min(allowed, AT_ONCE)


async def together(
    answers: Sequence[Callable[[], Awaitable[T]]], places: int, return_exceptions: bool
) -> list[T]:
    """Return all answers, computed `places` at a time.

    If one fails, the others are cancelled; with `return_exceptions`, its error is returned in its place.
    """
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
    """Answer as soon as there is a slot, and retry for up to `seconds`.

    A full server therefore does not discard the other answers of a batch.
    """
    clock = asyncio.get_running_loop().time
    until = clock() + seconds
    while True:
        try:
            return await answer()
        except Refused as error:
            if error.status != 429 or clock() > until:
                raise
            await asyncio.sleep(error.after / 2)
