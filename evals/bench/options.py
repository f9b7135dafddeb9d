"""Options of a multiple choice, as a question states them."""

from __future__ import annotations

import re
from itertools import takewhile
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
    for start in reversed([n for n, m in enumerate(found) if m[1] == "A"]):
        pairs = zip(found[start:], ascii_uppercase, strict=False)
        marks = [m for m, letter in takewhile(lambda pair: pair[0][1] == pair[1], pairs)]
        if len(marks) < 2:
            continue
        ends = [*(m.start() for m in marks[1:]), len(question)]
        options = tuple(" ".join(question[m.end() : end].split()) for m, end in zip(marks, ends, strict=True))
        stem = " ".join(question[: marks[0].start()].split())
        if stem and all(options) and len({o.casefold() for o in options}) == len(options):
            return stem, options
    return question, ()
