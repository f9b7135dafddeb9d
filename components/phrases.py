"""The few fixed sentences that an answer may contain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragweave.components.evidence import Support
    from ragweave.corpora.types import Locator

ABSTAIN = "I could not find an answer to this in your library."
UNSUPPORTED = "every sentence that was written lacked support in the evidence"
WITHHELD = "Sentences withheld because no source was found that says them: {n}"
HEARD = "(heard, perhaps wrongly)"
UNCHECKED = "No model checked these sentences against their sources."
EMPTY = "the library holds nothing yet"
NOTHING = "no item of the library shares a word with the question or is near to it"
FEW = "These passages share few words with your question."
QUOTED = "No language model read these passages; they are the closest that were found."
SET_UP = "Set one up with: ragweave setup"


def weak(title: str) -> str:
    """Return the sentence that names the closest passage."""
    return f"the closest that was found is “{title}”"


def as_heard(text: str, place: Locator) -> str:
    """Return a text, marked as heard if it comes from speech that was not recognised for sure."""
    return f"{text} {HEARD}" if place.get("doubtful") else text


SIGNS: dict[Support, str] = {"verified": "✓", "computed": "✓"}
"""Marks that are shown as a sign alone, behind the citation numbers."""
MEANINGS: dict[Support, str] = {
    "verified": "stands in the source",
    "follows": "follows from the source",
    "computed": "computed from the table",
    "disputed": "disputed",
    "contradicted": "contradicted",
    "unverified": "not found in the sources",
    "model": "the model's own knowledge",
    "unchecked": "not checked",
    "quoted": "quoted from the source",
    "pending": "being checked",
}
"""Words for each mark, the same in every interface."""
_SILENT: tuple[Support, ...] = ("unchecked", "quoted", "pending")


def mark(support: Support, says: str = "", against: Sequence[int] = ()) -> str:
    """Return the mark of a sentence as text: a sign, words in brackets, or "" for none.

    Args:
        support: the mark.
        says: what another source says, or "".
        against: citation numbers of that source.
    """
    if support in SIGNS:
        return SIGNS[support]
    if support in _SILENT:
        return ""
    if not says:
        return f"({MEANINGS[support]})"
    numbers = "".join(f"[{n}]" for n in against)
    return f"({MEANINGS[support]}; {numbers or 'the source'} says: “{says}”)"


def counted_marks(supports: Iterable[Support]) -> str:
    """Return how many sentences have each mark: “follows from the source: 2, disputed: 1”."""
    counts = Counter(supports)
    parts = []
    for support, meaning in MEANINGS.items():
        if counts[support] and support not in _SILENT:
            parts.append(f"{meaning}: {counts[support]}")
    return ", ".join(parts)
