"""Show letters of PDF fonts whose letters are pictures: ticked boxes, signs, arrows."""

from __future__ import annotations

import re

from ragweave.corpora.formats.symbols import UNKNOWN, is_symbolic, symbol

_SUBSET = re.compile(r"\A[A-Z]{6}\+")
_STYLE = re.compile(r"[-,]?(?:regular|normal|mt)\Z", re.I)
_PRIVATE = 0xF000


def pictured(font: str, text: str) -> str:
    """Return a text as a font shows it; a picture without a character in Unicode stays a letter.

    >>> pictured("ABCDEF+Wingdings-Regular", "þ"), pictured("Wingdings 2", "R"), pictured("Times", "þ")
    ('☑', '☑', 'þ')
    """
    name = re.sub(r"(?<=dings)(?=\d)", " ", _STYLE.sub("", _SUBSET.sub("", font.strip("'\" "))))
    if not is_symbolic(name):
        return text
    return "".join([_shown(name, character) for character in text])


def _shown(font: str, character: str) -> str:
    number = ord(character)
    if not _PRIVATE <= number < _PRIVATE + 0x100:
        held = character.encode("cp1252", "ignore")
        # Of Symbol the letters come as what they are already: a Greek one is in no Western encoding.
        if len(held) != 1 or character.isspace() or (font.casefold() == "symbol" and held < b"\x80"):
            return character
        number = held[0]
    found = symbol(font, number)
    return character if found == UNKNOWN else found
