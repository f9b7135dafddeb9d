"""Options of a multiple choice, as a question states them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase

_LETTERED = re.compile(r"(?:(?<=\s)|^)\(?([A-Z])\s?[).:、．](?=\s|\S{2})\s*", re.M)


def options_of(question: str) -> tuple[str, tuple[str, ...]]:
    """Return a question without its options, and the options in the order of their letters.

    Options are lettered from A without a gap, in brackets or before a full stop, colon or bracket, on lines
    of their own or one after the other; there are at least two, and all differ. Otherwise the result
    has the whole question and no options.

    >>> options_of("Which is the largest? A) Mars B) Jupiter")
    ('Which is the largest?', ('Mars', 'Jupiter'))
    """
    found = list(_LETTERED.finditer(question))
    # The last A begins the list, because the question itself may contain "Plan A: ...".
    for start in range(len(found) - 1, -1, -1):
        marks = _from_a(found[start:])
        if len(marks) < 2:
            continue
        stem = _on_one_line(question[: marks[0].start()])
        options = _between(question, marks)
        if stem and _differ(options):
            return stem, tuple(options)
    return question, ()


def _from_a(found: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """Return the first marks as long as their letters are A, B, C and so on."""
    marks = []
    for mark, letter in zip(found, ascii_uppercase, strict=False):
        if mark[1] != letter:
            break
        marks.append(mark)
    return marks


def _between(question: str, marks: Sequence[re.Match[str]]) -> list[str]:
    """Return the text after each mark, up to the next one or the end of the question."""
    options = []
    end = len(question)
    for mark in reversed(marks):
        options.append(_on_one_line(question[mark.end() : end]))
        end = mark.start()
    options.reverse()
    return options


def _differ(options: Sequence[str]) -> bool:
    """Return whether no option is empty or the same as another one."""
    seen = {""}
    for option in options:
        folded = option.casefold()
        if folded in seen:
            return False
        seen.add(folded)
    return True


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
