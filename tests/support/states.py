"""States of a run for nodes that are called alone."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from ragweave.components.evidence import Citation, Sentence
from ragweave.nodes.state import Draft, Turn


def a_turn(id: str = "") -> Turn:
    """Return a turn that has just begun."""
    return Turn(id=id or uuid.uuid4().hex, posed="", knobs={}, consent=None, plan=[])


def a_draft(sentences: Sequence[Sentence] = (), citations: Sequence[Citation] = (), **more: Any) -> Draft:
    """Return an answer as far as it is written."""
    given: Any = {"by": "extractive", "dropped": 0, "why": "", "reply": None, **more}
    return Draft(sentences=[*sentences], citations=[*citations], **given)
