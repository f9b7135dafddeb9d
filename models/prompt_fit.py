"""Cutting a prompt to what a model reads: the least relevant of its passages go first, the question stays.

Text from outside stands in a prompt between a line `<<<` and a line `>>>`, as `prompts.quote` writes it.
Passages of one message are in the order of their relevance, the best first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ragweave.models.text import clip

OPENS, CLOSES = "<<<\n", "\n>>>"
LEFT_OUT = "(left out: the prompt is full)"
"""Stands in the place of a passage that is left out, so that the numbers of the others stay."""
_QUOTED = re.compile(re.escape(OPENS) + r"(.*?)" + re.escape(CLOSES), re.S)
_SHORTEST = 200
"""Characters to which a passage is shortened at most."""

Messages = Sequence[tuple[str, str]]


class Fitted(NamedTuple):
    """A prompt that was cut, and what that took: passages left out and shortened, of how many."""

    messages: Messages
    left: int
    shortened: int
    passages: int


class _Passage:
    """A passage of a prompt.

    Attributes:
        message: number of its message.
        rank: how many passages stand before it in that message.
        text: what is shown of it.
    """

    def __init__(self, message: int, rank: int, text: str) -> None:
        self.message, self.rank, self.text, self.whole = message, rank, text, len(text)


def fitted(messages: Messages, most: int) -> Fitted:
    """Return messages of at most so many bytes in UTF-8, or as near to that as leaving passages out brings them.

    First go the passages of the lowest rank, the oldest message first. The best one of each message stays;
    where these alone are too long, the longest are shortened.
    """
    found = [
        _Passage(n, rank, match[1])
        for n, (_, text) in enumerate(messages)
        for rank, match in enumerate(_QUOTED.finditer(text))
    ]
    over = sum(_bytes(text) for _, text in messages) - most
    left = 0
    for passage in sorted(found, key=lambda p: (-p.rank, p.message)):
        saved = _bytes(passage.text) - _bytes(LEFT_OUT)
        if over > 0 and passage.rank and saved > 0:
            over -= saved
            passage.text = LEFT_OUT
            left += 1
    shortened = _shorten([p for p in found if p.text != LEFT_OUT], over)
    return Fitted(_with(messages, found), left, shortened, len(found))


def _shorten(kept: Sequence[_Passage], over: int) -> int:
    """Shorten the longest passages until so many bytes are saved; return how many were shortened."""
    shortened = set[int]()
    while over > 0 and kept:
        longest = max(kept, key=lambda p: _bytes(p.text))
        size = len(longest.text)
        if size <= _SHORTEST:
            break
        before = _bytes(longest.text)
        length = max(_SHORTEST, min(size - 1, size - over * size // before - 1))
        longest.text = clip(longest.text, length)
        over -= before - _bytes(longest.text)
        shortened.add(id(longest))
    return len(shortened)


def _with(messages: Messages, found: Sequence[_Passage]) -> Messages:
    texts = iter(found)

    def text_of(_: re.Match[str]) -> str:
        return f"{OPENS}{next(texts).text}{CLOSES}"

    return [(role, _QUOTED.sub(text_of, text)) for role, text in messages]


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
