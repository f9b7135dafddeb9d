"""Rude words that a recogniser was not sure of are left out: it finds words in anything, and nobody said these."""

from __future__ import annotations

import re
from collections.abc import Sequence

CERTAIN = 0.9
"""Confidence of a word, and of the stretch it was heard in, from which a rude word is believed."""
LEFT_OUT = "[…]"
_RUDE = re.compile(
    r"\W*(?:mother)?(?:fuck\w*|(?:bull)?shit\w*|bitch\w*|cunts?|(?:ass|arse)(?:es|holes?)?|bastards?|whor(?:es?|ing)|sluts?"
    r"|cocks?(?:uckers?)?|dicks?|pricks?|puss(?:y|ies)|wank\w*|twats?|tits?|titt(?:y|ies)|piss\w*|crap\w*|bollocks"
    r"|nigg(?:er|a)s?|fag(?:got)?s?|goddamn\w*|damn(?:ed|it)?)\W*",
    re.I,
)


def decent(text: str, sure: Sequence[float], confidence: float) -> str:
    """Return what was heard without the rude words that were not confidently heard.

    `sure` has the confidence of each word; where it does not fit the words, that of the whole counts for each.
    """
    words = text.split()
    each = sure if len(sure) == len(words) else [confidence] * len(words)
    kept = [
        w if min(c, confidence) >= CERTAIN or not _RUDE.fullmatch(w) else LEFT_OUT
        for w, c in zip(words, each, strict=True)
    ]
    return " ".join(kept) if kept != words else text
