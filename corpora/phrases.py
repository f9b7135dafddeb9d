"""Key phrases of recordings and of texts."""

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
"""Words of talk that together are no phrase."""
_RUN = re.compile(r"[^\W\d_][\w'’-]*(?:[ ][^\W\d_][\w'’-]*){0,5}")


def key_phrases(text: str, most: int = 12) -> list[str]:
    """Return names and runs of content words that keep coming back, the weightiest first.

    A phrase weighs its occurrences times the logarithm of its length in words; what only occurs inside a
    longer phrase of the same count is left out (C-value without its nesting term).
    """
    counts: Counter[str] = Counter()
    spelt: dict[str, str] = {}
    for name in names(text):
        # A capital at the start of a sentence says nothing: a name shows it inside one as well.
        found = len(re.findall(rf"(?<=[\w,;] ){re.escape(name)}(?!\w)", text))
        if found and len(name) > 2 and len(name.split()) <= 4 and "'" not in name and fold(name) not in STOP:
            counts[fold(name)] += 2 * found
            spelt[fold(name)] = name
    for m in _RUN.finditer(text):
        run: list[str] = []
        for word in [*m.group().split(), ""]:
            clitic = "'" in word or "’" in word
            if (
                word
                and not clitic
                and fold(word) not in STOP
                and fold(word) not in STOP_CJK
                and len(word) > 2
            ):
                run.append(word)
                continue
            for size in (2, 3):
                for at in range(len(run) - size + 1):
                    key = fold(" ".join(run[at : at + size]))
                    counts[key] += 1
                    spelt.setdefault(key, " ".join(run[at : at + size]))
            run = []
    weights = {
        k: n * math.log2(1 + len(k.split())) for k, n in counts.items() if n > 1 and {*k.split()} - EMPTY
    }
    out: list[str] = []
    for key in sorted(weights, key=lambda k: (-weights[k], k)):
        if not any(key in fold(other) or fold(other) in key for other in out):
            out.append(spelt[key])
        if len(out) == most:
            break
    return out
