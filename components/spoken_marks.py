"""Write the title of a document where a sentence uses its number as a word: “According to [1], ...”."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragweave.components.evidence import Strip
from ragweave.models.text import clip

_LONGEST = 80
"""Characters of a title within a sentence."""
_OPENS = re.compile(
    r"(?P<before>\s*(?:[^\W\d_]+\s?)?)(?P<marks>(?:\[\d+\])+)(?=\s+\w)"
    r"|(?P<lead>\s*(?:[^\W\d_]+\s?){1,3})(?P<named>(?:\[\d+\])+)(?=\s?[,，、])"
)
"""Matches a mark that the sentence would miss: after at most one word, or after three and before a comma."""


def with_titles(sentence: str, rows: Sequence[Sequence[Strip]]) -> str:
    """Return a sentence with titles in place of the marks that open it; other marks stay.

    The place of the mark decides, in any language. “The lamp [1], a gift, ...” is taken for an opening, too,
    and reads as an apposition.

    Args:
        sentence: prose with marks in the form `[1]`.
        rows: the strips that the model was shown, by number.
    """
    found = _OPENS.match(sentence)
    if found is None:
        return sentence
    numbers = re.findall(r"\d+", found["marks"] or found["named"])
    titles = []
    for number in map(int, numbers):
        if not 1 <= number <= len(rows) or not rows[number - 1] or not rows[number - 1][0]["title"]:
            return sentence
        titles.append(f"“{clip(rows[number - 1][0]['title'], _LONGEST)}”")
    return (found["before"] or found["lead"] or "") + ", ".join(titles) + sentence[found.end() :]
