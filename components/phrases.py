"""The few fixed sentences that an answer may contain."""

from __future__ import annotations

from ragweave.corpora.types import Locator

ABSTAIN = "I could not find an answer to this in your library."
UNSUPPORTED = "every sentence that was written lacked support in the evidence"
UNVERIFIED = "(unverified)"
CONTRADICTED = "(contradicted; the source says: “{says}”)"
WITHHELD = "Sentences withheld because they are not verified: {n}"
HEARD = "(heard, perhaps wrongly)"
EMPTY = "the library holds nothing yet"
NOTHING = "no item of the library shares a word with the question or is near to it"
QUOTED = "No language model read these passages; they are the closest that were found."
ORDERS = "[{n}] “{title}” gives orders to assistants. They are not followed, and support nothing."
SET_UP = "Set one up with: ragweave setup"


def weak(title: str) -> str:
    """Say what came closest."""
    return f"the closest that was found is “{title}”"


def as_heard(text: str, place: Locator) -> str:
    """Return a text marked as heard where its place is speech that a recogniser was not sure of."""
    return f"{text} {HEARD}" if place.get("doubtful") else text
