"""Where else to look: corpora of a matter that no round has searched for a query yet.

A router is wrong now and then, and knows questions better than libraries. Where what it chose holds nothing that bears
on the question, the same question is asked of the rest before the run declines (CRAG, section 4.2: an incorrect
retrieval is corrected, not answered from).
"""

from __future__ import annotations

from collections.abc import Collection

from ragweave.corpora.types import CORPORA
from ragweave.models.router import matters
from ragweave.nodes.state import State


def elsewhere(state: State, query: str, held: Collection[str]) -> list[str]:
    """Return the finest corpus of each matter that was not searched for the query; none where no router chose.

    Text counts as searched with its paragraphs or its documents, recordings with their clips or as wholes.

    Args:
        state: the state at the end of a round, or at the start of the next.
        query: query that would be asked again.
        held: corpora that hold something.
    """
    if not state.get("routes"):
        return []
    searched: set[str] = {t["corpus"] for t in state.get("tasks", []) if query in t["queries"][:1]}
    searched |= {c for hop in state.get("hops", []) if hop["query"] == query for c in hop["corpora"]}
    groups = matters([c for c in CORPORA if c in held])
    return [group[0] for group in groups if not searched & {*group}] if searched else []
