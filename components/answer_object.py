"""Take the answer out of a reply that is one JSON object, in which some models always write."""

from __future__ import annotations

from collections.abc import AsyncIterator

from pydantic import AliasChoices, BaseModel, Field

from ragweave.models.chat_json import read_json

_BEGINNING = 30
"""Characters of a reply that decide whether it is an object."""


class _Answered(BaseModel):
    answer: str = Field(
        min_length=1, validation_alias=AliasChoices("answer", "final_answer", "response", "final", "text")
    )


async def without_object(parts: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yield the parts of a reply; of a JSON object with an answer in it, which is read whole, the answer."""
    held = ""
    holds = True
    async for part in parts:
        if not holds:
            yield part
            continue
        held += part
        holds = _may_be_object(held)
        if not holds:
            yield held
    if holds and held:
        read = read_json(held, _Answered)
        yield held if read is None else read.answer


def _may_be_object(held: str) -> bool:
    """Return whether a reply may be a JSON object alone, bare or in a fence."""
    head = held.lstrip()[:_BEGINNING].lower()
    if not head:
        return True
    bare = head.removeprefix("```json").removeprefix("```").lstrip()
    return "```json".startswith(head) or (not bare and len(head) < 9) or bare[:1] == "{"
