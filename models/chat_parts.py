"""Wait for the parts of a streamed reply, and build the errors of a reply that ended early."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from ragweave.models.chat_reply import ChatReply, ModelRequest
from ragweave.models.errors import ModelTransient, ReplyCut
from ragweave.models.text import clip


async def next_part(
    arriving: AsyncGenerator[Any, None],
    reply: ChatReply,
    asked: ModelRequest,
    silence: float,
    *,
    served: bool,
) -> Any:
    """Return the next part of a stream, or None at its end.

    Args:
        arriving: the stream.
        reply: the reply with the parts that arrived before.
        asked: the request.
        silence: most seconds to wait.
        served: whether the model is served, and not injected.

    Raises:
        TimeoutError: after `silence` seconds.
        BudgetSpent: if the time of the run is over.
    """
    left = asked.meter.seconds_left
    try:
        async with asyncio.timeout(silence if left is None else min(silence, left)):
            return await anext(arriving, None)
    except TimeoutError as exc:
        if asked.meter.out_of_time():
            raise asked.meter.cut_off(asked.node) from exc
        raise
    except Exception as exc:
        # OpenAI's client raises at the end of a reply under a schema if the reply was cut off or is missing.
        if reply.cut or (served and isinstance(exc, AssertionError)):
            return None
        if reply.finish and reply.text and isinstance(exc, (TypeError, KeyError, AttributeError)):
            return None  # Only what followed the whole reply, such as its count of tokens, was odd.
        raise


def cut_off(name: str, host: str, tokens: int) -> ReplyCut:
    """Return the error of a reply that was cut off at a limit of tokens."""
    cut = f"the reply of {name} at {host} was cut off after {tokens:,} tokens"
    remedy = "raise RAGWEAVE_CHAT_TOKENS, or the server's own limit"
    error = ReplyCut(cut, remedy)
    error.named("reply_truncated", name=name, host=host, usage=f"{tokens:,}")
    return error


def stopped(name: str, host: str, reason: str) -> ReplyCut:
    """Return the error of a reply that its server stopped early."""
    reason = clip(reason, 40)
    error = ReplyCut(
        f"{name} at {host} was stopped within its reply ({reason})",
        "ask in other words, or use another model",
    )
    error.named("reply_filtered", name=name, host=host, clip=reason)
    return error


def broke_off(name: str, host: str) -> ModelTransient:
    """Return the error of a reply that broke off after a part was shown."""
    error = ModelTransient(f"the reply of {name} at {host} broke off", "ask again")
    error.named("reply_interrupted", name=name, host=host)
    return error
