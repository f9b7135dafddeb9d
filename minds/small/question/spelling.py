"""Slips of the keyboard: a word that the library holds with two letters swapped or one doubled, and “havent”."""

from __future__ import annotations

import re

from ragweave.corpora.store.library import NOWHERE
from ragweave.minds.desk import Desk
from ragweave.minds.phrases import language_of
from ragweave.models.text import content_terms, terms

SHORTEST = 5
"""Letters from which on a word is mended; a shorter one is too near to others. Names, in capitals, are left."""
_DOUBLED = "bcdefglmnoprst"
"""Letters that English doubles inside a word."""


_NOT = re.compile(
    r"\b(?:(is|are?|was|were|do|does|did|has|have?|had|could|would|should|must|need)nt|(ca|wo)nt)\b(?!['’])", re.I
)
_WHOLE = {"ar": "are", "hav": "have"}


def _denial(m: re.Match[str]) -> str:
    said = m[1] or m[2]
    return f"{_WHOLE.get(said.lower(), said)}n't"


async def spelt(desk: Desk, question: str) -> str:
    """Return an English question with its slips mended by the words of the library."""
    if language_of(question) not in ("en", ""):
        return question
    question = _NOT.sub(_denial, question)  # one that is not heard turns the answer round
    said = [w for w in re.findall(rf"\b[a-z]{{{SHORTEST},}}\b", question) if content_terms(w)]
    able = {w: {o: terms(o)[0] for o in _slips(w) if terms(o)} for w in said}
    library = await desk.library()
    idf = await library.idf({NOWHERE, *(terms(w)[0] for w in said), *(t for o in able.values() for t in o.values())})
    for w, others in able.items():
        held = [o for o, t in others.items() if idf[t] < idf[NOWHERE]]
        if held and idf[terms(w)[0]] >= idf[NOWHERE]:
            best = min(held, key=lambda o: (idf[others[o]], o))
            question = re.sub(rf"\b{w}\b", best, question)
    return question


def _slips(word: str) -> set[str]:
    """Return the words of which a word may be a slip: two neighbours swapped, a letter doubled, or not doubled."""
    out = {f"{word[:n]}{word[n + 1]}{word[n]}{word[n + 2 :]}" for n in range(1, len(word) - 1)}
    out |= {f"{word[:n]}{word[n]}{word[n:]}" for n in range(1, len(word) - 1) if word[n] in _DOUBLED}
    out |= {f"{word[:n]}{word[n + 1 :]}" for n in range(1, len(word)) if word[n] == word[n - 1]}
    return out - {word}
