"""Find names of a sentence that its sources do not contain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ragweave.corpora.meta import guess_language
from ragweave.models.text import fold, names, script, stem

_PREFIX = 4
"""First letters that two forms of a name share at least."""
_TAIL = 3
"""Letters by which the lengths of two forms of a name differ at most."""


def missing_name(sentence: str, words: str, titles: str, question: str, passages: Sequence[str]) -> str:
    """Return the first name of a sentence that words, titles and question do not contain, or "".

    Names are not compared between scripts. Only names of several words count between two languages, and in a
    language that writes all nouns with a capital.
    """
    if script(sentence) != script(words):
        return ""
    needs_several = _single_capitals_mislead(sentence, words, passages)
    near = f"{words}\n{titles}\n{question}"
    have = _parts(near)
    opening = _parts(sentence)[:1]
    for name in names(sentence):
        parts = _parts(name)
        if len(parts) == 1:
            only_opens = parts == opening and not _named_in(name, passages)
            if needs_several or only_opens:
                continue
        if not _all_alike(parts, have) and not _abbreviates(name, near):
            return name
    return ""


def _single_capitals_mislead(sentence: str, words: str, passages: Sequence[str]) -> bool:
    """Return whether a single word with a capital need not be a name: in German, or between two languages."""
    mine = guess_language(sentence)
    theirs = guess_language(words) or guess_language("\n".join(passages)[:4_000])
    if "de" in (mine, theirs):
        return True
    return bool(mine and theirs and mine != theirs)


def _all_alike(parts: Sequence[str], have: Sequence[str]) -> bool:
    """Return whether each part of a name is a form of a word that is there."""
    for part in parts:
        if not _any_alike(part, have):
            return False
    return True


def _any_alike(part: str, have: Sequence[str]) -> bool:
    """Return whether a part of a name is a form of a word that is there."""
    for other in have:
        if _alike(part, other):
            return True
    return False


def _parts(text: str) -> list[str]:
    """Return the words of a text of two letters or more, and its digits."""
    return [word for word in re.findall(r"[^\W_]+", fold(text)) if len(word) > 1 or word.isdigit()]


def _alike(one: str, other: str) -> bool:
    """Return whether two words may be forms of one name."""
    if one == other or stem(one) == stem(other):
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < _PREFIX or len(long) - len(short) > _TAIL:
        return False
    return _shared_letters(short, long) >= max(_PREFIX, len(short) - 2)


def _shared_letters(one: str, other: str) -> int:
    """Return how many first letters two words share."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _named_in(name: str, passages: Iterable[str]) -> bool:
    """Return whether a passage writes a word with a capital within a sentence, as only a name is written."""
    within = re.compile(rf"[\w,;)]\s{re.escape(name)}\b")
    return any(map(within.search, passages))


def _abbreviates(name: str, text: str) -> bool:
    """Return whether a name abbreviates words of a text, or the text has an abbreviation of the name."""
    if name.isupper() and 2 <= len(name) <= 6:
        return name in _initials(re.findall(r"[^\W\d_]+", text))
    initials = _initials(name.split())
    return len(initials) > 1 and re.search(rf"\b{re.escape(initials)}\b", text) is not None


def _initials(words: Iterable[str]) -> str:
    """Return the first letters of the words that begin with a capital."""
    return "".join(word[0] for word in words if word[0].isupper())
