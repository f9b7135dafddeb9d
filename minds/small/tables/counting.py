"""Whether a question asks how many there are: “how many”, and “the number of”, where that is no label of one thing."""

from __future__ import annotations

import re

from ragweave.models.text import STOP, plural, verb_form

_HOW_MANY = re.compile(r"\b(?:(?<!within )(?<!after )(?<!every )how many|wie viele|combien de)\b", re.I)
_NUMBER = re.compile(r"(?P<before>\w+ |['’]s )?\b(?P<words>number of)\b\s*(?P<thing>.*)", re.I)
_SIZE = frozenset(
    "the a an and what which with total exact full overall average mean maximum minimum max min highest lowest largest "
    "smallest greatest biggest great current is".split()
)
"""What may stand before a number of things: “the policy number of” is a label."""


def counting(question: str) -> list[str]:
    """Return the words of a question that ask how many there are."""
    return [m[0] for m in _HOW_MANY.finditer(question)] + [
        m["words"] for m in _NUMBER.finditer(question) if _of_many(m)
    ]


def _of_many(m: re.Match[str]) -> bool:
    """Tell whether there is a number of things, and not that of one: “the number of Lena's passport”, “of flat 3”."""
    before, said = (m["before"] or "").strip().lower().lstrip("'’"), [w.strip("?!.,;:") for w in m["thing"].split()]
    ends = (n for n, w in enumerate(said) if n and (w.lower() in STOP or verb_form(w) or not w[:1].isalpha()))
    end = next(ends, len(said))
    if (before and before not in _SIZE | {"s"}) or not said or (said[end : end + 1] and said[end][:1].isdigit()):
        return False
    bare = end == 1 and said[0].islower() and said[0] not in STOP
    return bare or plural(said[end - 1])
