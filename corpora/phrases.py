"""Find the key phrases of recordings and texts."""

from __future__ import annotations

import math
import re
from collections import Counter

from ragweave.models.text import STOP, STOP_CJK, fold, names

EMPTY = frozenset(
    "big bit different does don first get give going gonna good great guess just kind know like little long"
    " look lot make many maybe mean much new one part people really right say says see something sort sure"
    " take talk thank thing things think thinking time today trying two use using want way well whole work"
    " working year years".split()
)
"""Words of speech that are no phrase together."""
_RUN = re.compile(r"[^\W\d_][\w'’-]*(?:[ ][^\W\d_][\w'’-]*){0,5}")


def key_phrases(text: str, most: int = 12) -> list[str]:
    """Return names and runs of content words that occur repeatedly, those with the largest weight first.

    The weight is the number of occurrences times the logarithm of the length in words. A phrase that is part
    of a chosen one, or contains it, is left out (C-value without its nesting term).
    """
    counts: Counter[str] = Counter()
    spelt: dict[str, str] = {}
    _count_names(text, counts, spelt)
    _count_runs(text, counts, spelt)
    weights: dict[str, float] = {}
    for key, count in counts.items():
        words = key.split()
        if count > 1 and set(words) - EMPTY:
            weights[key] = count * math.log2(1 + len(words))
    out: list[str] = []
    for key in sorted(weights, key=lambda k: (-weights[k], k)):
        if not any(key in fold(other) or fold(other) in key for other in out):
            out.append(spelt[key])
        if len(out) == most:
            break
    return out


def _count_names(text: str, counts: Counter[str], spelt: dict[str, str]) -> None:
    """Count the names of a text, twice each."""
    for name in names(text):
        if len(name) < 3 or len(name.split()) > 4 or "'" in name or fold(name) in STOP:
            continue
        # A capital at the start of a sentence proves nothing: a name has it inside a sentence too.
        found = len(re.findall(rf"(?<=[\w,;] ){re.escape(name)}(?!\w)", text))
        if found:
            counts[fold(name)] += 2 * found
            spelt[fold(name)] = name


def _count_runs(text: str, counts: Counter[str], spelt: dict[str, str]) -> None:
    """Count two or three consecutive content words."""
    for match in _RUN.finditer(text):
        run: list[str] = []
        for word in [*match.group().split(), ""]:
            if _is_content(word):
                run.append(word)
                continue
            for size in (2, 3):
                for at in range(len(run) - size + 1):
                    phrase = " ".join(run[at : at + size])
                    counts[fold(phrase)] += 1
                    spelt.setdefault(fold(phrase), phrase)
            run = []


def _is_content(word: str) -> bool:
    """Return whether a word is neither short, a function word, nor a word with an apostrophe."""
    if len(word) < 3 or "'" in word or "’" in word:
        return False
    return fold(word) not in STOP and fold(word) not in STOP_CJK
