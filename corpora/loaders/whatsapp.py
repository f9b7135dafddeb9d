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
        if messages := _messages(decode(data, path)):
            others.pop(name, None)
            blocks += chat(_OF.sub("", PurePosixPath(name).stem) or path.stem, messages)
    if not blocks:
        raise SourceError(f"{path.name} is no WhatsApp chat", "export it again, or leave --loader out")
    named = ", ".join([*others][:_NAMED]) + (" ..." if len(others) > _NAMED else "")
    warnings = (f"{len(others)} of its files are no chats, and were not read: {named}",) if others else ()
    return Parsed(blocks=tuple(blocks), date=latest(blocks), warnings=warnings, parted=True)


def _messages(text: str) -> list[ChatMessage]:
    stamps: list[_Stamp] = []
    rows: list[tuple[int, str, list[str]]] = []
    first, half = True, False
    for number, line in enumerate(text.split("\n"), 1):
        if found := _MESSAGE.match(line):
            a, mark, b, c, hour, minute, am_pm, speaker, said = found.groups()
            late = 0 if not am_pm else (12 if am_pm in "Pp" else 0) - (12 if int(hour) == 12 else 0)
            stamps.append((int(a), int(b), int(c), int(hour) + late, int(minute)))
            rows.append((number, (speaker or "").strip(), [said]))
            first, half = first and mark == "/", half or bool(am_pm)
        elif rows:
            rows[-1][2].append(line)
    times = _times(stamps, american=first and half)
    return [
        ChatMessage(at, speaker, "\n".join(lines).strip(), line)
        for at, (line, speaker, lines) in zip(times, rows, strict=True)
    ]


def _times(stamps: Sequence[_Stamp], *, american: bool) -> list[datetime | None]:
    """Return times by the order of day, month and year under which most are dates and fewest go back.

    A phone writes them as its country does, and the export does not say which that is.
    """
    orders = [(2, 1, 0), (2, 0, 1), (0, 1, 2)]  # where year, month and day stand
    if american:
        orders[:2] = orders[1::-1]

    def read(order: tuple[int, int, int]) -> list[datetime | None]:
        year, month, day = order
        return [_time(s[year], s[month], s[day], s[3], s[4]) for s in stamps]

    def odd(order: tuple[int, int, int]) -> int:
        times = read(order)
        dated = [t for t in times if t]
        return 2 * times.count(None) + sum(b < a for a, b in pairwise(dated))

    return read(min(orders, key=odd))


def _time(year: int, month: int, day: int, hour: int, minute: int) -> datetime | None:
    try:
        return datetime(year + 2000 if year < 100 else year, month, day, hour, minute, tzinfo=UTC)
    except ValueError:
        return None
