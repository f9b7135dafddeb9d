"""Cut a prompt to a size: the least relevant passages go first, the question stays.

`prompts.quote` writes a passage between a line `<<<` and a line `>>>`. The passages of a message are in the
order of their relevance, the best first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ragweave.models.text import clip

OPENS, CLOSES = "<<<\n", "\n>>>"
LEFT_OUT = "(left out: the prompt is full)"
"""Replaces a passage that is left out, so that the other passages keep their numbers."""
_QUOTED = re.compile(re.escape(OPENS) + r"(.*?)" + re.escape(CLOSES), re.S)
_SHORTEST = 200
"""Least characters of a shortened passage."""

Messages = Sequence[tuple[str, str]]


class Fitted(NamedTuple):
    """A prompt that was cut, and the numbers of passages left out, shortened, and in all."""

    messages: Messages
    left: int
    shortened: int
    passages: int


class _Passage:
    """A passage of a prompt.

    Attributes:
        message: index of its message.
        rank: number of passages before it in that message.
        text: the text that the prompt shows.
    """

    def __init__(self, message: int, rank: int, text: str) -> None:
        self.message, self.rank, self.text, self.whole = message, rank, text, len(text)


def fitted(messages: Messages, most: int) -> Fitted:
    """Cut messages to at most `most` bytes in UTF-8, as far as their passages allow.

    The least relevant passages are left out first, those of the oldest message before others. The best
    passage of each message stays. If these are still too long, the longest ones are shortened.
    """
    found: list[_Passage] = []
    over = -most
    for index, (_, text) in enumerate(messages):
        over += _bytes(text)
        for rank, match in enumerate(_QUOTED.finditer(text)):
            found.append(_Passage(index, rank, match[1]))
    left = 0
    for passage in sorted(found, key=lambda p: (-p.rank, p.message)):
        saved = _bytes(passage.text) - _bytes(LEFT_OUT)
        if over > 0 and passage.rank and saved > 0:
            over -= saved
            passage.text = LEFT_OUT
            left += 1
    kept: list[_Passage] = []
    for passage in found:
        if passage.text != LEFT_OUT:
            kept.append(passage)
    shortened = _shorten(kept, over)
    return Fitted(_with(messages, found), left, shortened, len(found))


def _shorten(kept: Sequence[_Passage], over: int) -> int:
    """Shorten the longest passages until `over` bytes are saved; return how many were shortened."""
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
    """Return the messages with the texts of the passages."""
    texts = iter(found)

    def text_of(_: re.Match[str]) -> str:
        return f"{OPENS}{next(texts).text}{CLOSES}"

    return [(role, _QUOTED.sub(text_of, text)) for role, text in messages]


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
