"""Write the title of a document where a sentence uses its number as a word: “According to [1], ...”."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragweave.components.evidence import Strip
from ragweave.components.footers import names_of
from ragweave.components.mark_numbers import MENTION
from ragweave.models.text import clip

_LONGEST = 80
"""Characters of a title within a sentence."""
_SHORTEST = 4
"""Characters of a title that may be a mark."""
_OPENS = re.compile(
    r"(\s*(?:[^\W\d_]+\s?)?)((?:\[\d+\])+)(?=\s+\w)"
    r"|(\s*(?:[^\W\d_]{1,30}\s?){1,3})((?:\[\d+\])+)(?=\s?[,，、])"
)
"""Matches a mark that the sentence would miss: after at most one word, or after three and before a comma."""

_ALWAYS = "according to|per|selon|laut|según|согласно"
_BEHIND = f"in|by|from|to|von|dans|par|en|por|em|segundo|secondo|w|в|{_ALWAYS}"
_LEADS = re.compile(
    rf"((?:[,，]\s*(?:[^\W\d_]+\s){{0,2}}(?:{_BEHIND})|\s(?:{_ALWAYS}))\s)((?:\[\d+\])+)(?=\s*[.,;!?])"
)
"""Matches a mark that a preposition needs, behind a comma and few words: “..., as noted in [1].”"""


def with_titles(sentence: str, rows: Sequence[Sequence[Strip]]) -> str:
    """Return a sentence with titles in place of the marks that open it; other marks stay.

    The place of the mark decides, in any language. “The lamp [1], a gift, ...” is taken for an opening, too,
    and reads as an apposition.

    Args:
        sentence: prose with marks in the form `[1]`.
        rows: the strips that the model was shown, by number.
    """
    found = _OPENS.match(sentence) or _LEADS.search(sentence)
    if found is None:
        return sentence
    at = found.lastindex or 0
    before, marks = found[at - 1], found[at]
    if not before.strip() and sentence[found.end() :].lstrip()[:1].isupper():
        return sentence  # A mark before its sentence: “[1] The lamp was lit.”
    titles = []
    for number in map(int, re.findall(r"\d+", marks)):
        if not _shown(number, rows) or not rows[number - 1][0]["title"]:
            return sentence
        titles.append(_title(rows[number - 1]))
    return sentence[: found.start()] + before + ", ".join(titles) + sentence[found.end() :]


def numbered(sentence: str, rows: Sequence[Sequence[Strip]]) -> str:
    """Return a sentence with titles for the documents that it names by number, and with their marks.

    “Document 1 states ...” becomes “‘The light’[1] states ...”. A sentence with marks counts as naming only
    documents that these cite. A title in square brackets, and one behind its own mark, becomes the mark.
    """
    sentence = _by_title(sentence, rows)
    cited = set(map(int, re.findall(r"(?<=\[)\d{1,3}(?=\])", sentence)))

    def named(found: re.Match[str]) -> str:
        numbers = list(map(int, re.findall(r"\d+", found["numbers"])))
        for number in numbers:
            if not _shown(number, rows) or (cited and number not in cited):
                return found.group()
        if not all(rows[number - 1][0]["title"] for number in numbers):
            return found.group() + "".join(map("[{}]".format, numbers))
        return re.sub(r"(\d+)", lambda m: f"{_title(rows[int(m[1]) - 1])}[{m[1]}]", found["numbers"])

    return MENTION.sub(named, sentence)


def _shown(number: int, rows: Sequence[Sequence[Strip]]) -> bool:
    """Return whether the model was shown a document of this number."""
    return 1 <= number <= len(rows) and bool(rows[number - 1])


def _title(row: Sequence[Strip]) -> str:
    return f"“{clip(row[0]['title'], _LONGEST)}”"


def _by_title(sentence: str, rows: Sequence[Sequence[Strip]]) -> str:
    """Return a sentence with marks in place of titles in square brackets and of those behind their marks."""
    if "[" not in sentence:
        return sentence
    for n, row in enumerate(rows, 1):
        for name in names_of(row[0]) if row else []:
            if len(name) >= _SHORTEST:
                title = re.escape(name)
                alone = rf"\[(?:{n}[\s:.,–-]*)?{title}\](?!\()|[(（]{title},?\s?\[{n}\][)）]"
                sentence = re.sub(alone, f"[{n}]", sentence, flags=re.I)
                sentence = re.sub(rf"(?<=\[{n}\])\s?[(“\"]{title}[)”\"]", "", sentence, flags=re.I)
    return sentence
