"""WhatsApp: the text that a chat is exported as, alone or in a zip file.

LangChain's loaders drop the further lines of a message, and messages of people whose names hold more than
letters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path, PurePosixPath

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.decode import decode
from ragweave.corpora.loaders.exports import ChatMessage, chat, entries, latest, names_of
from ragweave.models.errors import SourceError

_MESSAGE = re.compile(
    r"[\u200e\u200f\ufeff]*\[?(\d{1,4})([./-])(\d{1,2})[./-](\d{1,4}),? (\d{1,2})[:.](\d\d)(?:[:.]\d\d)?"
    r"(?:[ \u202f\xa0]?([AaPp])\.? ?[Mm]\.?)?(?:\]| -) (?:([^:\n]{1,100}): )?(.*)"
)
_OF = re.compile(r"^(?:WhatsApp[- ]Cha?t (?:with|mit|-) ?)|^_chat$", re.I)
_NAMED = 5
"""Files of an export that are named where they are not read."""
_Stamp = tuple[int, int, int, int, int]


def parse(path: Path) -> Parsed:
    """Read the messages of a chat, each with all its lines; times are as the phone showed them."""
    blocks: list[Block] = []
    others = dict.fromkeys(names_of(path))
    for name, data in entries(path, r"\.txt$"):
        messages = _messages(decode(data, path))
        if messages:
            others.pop(name, None)
            blocks += chat(_OF.sub("", PurePosixPath(name).stem) or path.stem, messages)
    if not blocks:
        raise SourceError(f"{path.name} is no WhatsApp chat", "export it again, or leave --loader out")
    warnings: list[str] = []
    if others:
        named = ", ".join(list(others)[:_NAMED])
        more = " ..." if len(others) > _NAMED else ""
        warnings.append(f"{len(others)} of its files are no chats, and were not read: {named}{more}")
    return Parsed(blocks=tuple(blocks), date=latest(blocks), warnings=tuple(warnings), parted=True)


def _messages(text: str) -> list[ChatMessage]:
    stamps: list[_Stamp] = []
    rows: list[tuple[int, str, list[str]]] = []
    first, half = True, False
    for number, line in enumerate(text.split("\n"), 1):
        found = _MESSAGE.match(line)
        if found:
            a, mark, b, c, hour, minute, am_pm, speaker, said = found.groups()
            stamps.append((int(a), int(b), int(c), _hour(int(hour), am_pm), int(minute)))
            rows.append((number, (speaker or "").strip(), [said]))
            first, half = first and mark == "/", half or bool(am_pm)
        elif rows:
            rows[-1][2].append(line)
    times = _times(stamps, american=first and half)
    messages: list[ChatMessage] = []
    for at, (number, speaker, lines) in zip(times, rows, strict=True):
        messages.append(ChatMessage(at, speaker, "\n".join(lines).strip(), number))
    return messages


def _hour(hour: int, am_pm: str | None) -> int:
    """Return an hour of 24, given the first letter of `am` or `pm`, or none."""
    if not am_pm:
        return hour
    if hour == 12:
        hour = 0
    return hour + 12 if am_pm in "Pp" else hour


def _times(stamps: Sequence[_Stamp], *, american: bool) -> list[datetime | None]:
    """Return times by the order of day, month and year under which most are dates and fewest go back.

    A phone writes them as its country does, and the export does not say which that is.
    """
    orders = [(2, 1, 0), (2, 0, 1), (0, 1, 2)]  # the places of year, month and day
    if american:
        orders[:2] = orders[1::-1]

    def read(order: tuple[int, int, int]) -> list[datetime | None]:
        year, month, day = order
        return [_time(s[year], s[month], s[day], s[3], s[4]) for s in stamps]

    def odd(order: tuple[int, int, int]) -> int:
        times = read(order)
        count = 2 * times.count(None)
        for before, after in pairwise(filter(None, times)):
            if after < before:
                count += 1
        return count

    return read(min(orders, key=odd))


def _time(year: int, month: int, day: int, hour: int, minute: int) -> datetime | None:
    try:
        return datetime(year + 2000 if year < 100 else year, month, day, hour, minute, tzinfo=UTC)
    except ValueError:
        return None
