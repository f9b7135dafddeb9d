"""Choose the documents that a chat model reads whole."""

from __future__ import annotations

from collections.abc import Mapping

from ragweave.components.evidence import Evidence
from ragweave.models.relevance import UPPER
from ragweave.nodes.state import NO_ROUTER, State

_TEXTS = ("paragraph", "document")
WHOLE = 3
"""How many of the best items of a round may be documents that a chat model reads whole."""


def whole_documents(state: State) -> set[str]:
    """Return the documents that a chat model reads whole, of the best WHOLE items of each round.

    The first document of a round and every surely relevant one qualify. In the first round this holds only if
    the router preferred documents to paragraphs, or if there is no router; a further round means that
    passages were not enough. A document that a further round finds again is read whole, too.
    """
    documents: dict[str, Evidence] = {}
    for row in state.get("evidence", []):
        if row["corpus"] == "document":
            documents[row["id"]] = row
    first_round = _text_corpus_of_first_round(state) in ("document", "")
    rounds = [hop["evidence"] for hop in state.get("hops", [])]
    chosen: set[str] = set()
    for ids in [*rounds, state.get("candidates", [])]:
        best = [documents[i] for i in ids[:WHOLE] if i in documents]
        for n, row in enumerate(best):
            may_be_read = first_round or row["hop"] > 1
            if may_be_read and (n == 0 or row["relevance"] >= UPPER):
                chosen.add(row["id"])
    return chosen | _found_again(state, documents)


def _found_again(state: State, documents: Mapping[str, Evidence]) -> set[str]:
    """Return the documents that an earlier round showed and a later one found once more."""
    again: set[str] = set()
    for hop in state.get("hops", []):
        for i in hop["evidence"]:
            if i in documents and documents[i]["hop"] > hop["n"]:
                again.add(i)
    return again


def _text_corpus_of_first_round(state: State) -> str:
    """Return the text corpus that the router named first in round one, "none", or "" without a router."""
    for route in state.get("routes", []):
        if route["hop"] == 1 and route["by"] != NO_ROUTER:
            for corpus in route["corpora"]:
                if corpus in _TEXTS:
                    return corpus
            return "none"
    return ""
