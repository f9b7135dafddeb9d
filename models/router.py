"""The small router: which corpus and granularity can answer a question (UniversalRAG, section 3.2).

The head ships with the package and needs numpy alone; `ragweave train router` reproduces its weights. Figures and the
model card are in docs/routing.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from ragweave.models.router_cues import media, names_place
from ragweave.models.router_head import Head
from ragweave.models.small_talk import none_by_rule

__all__ = [
    "GRANULARITIES",
    "HEAD",
    "SECOND_BELOW",
    "choose",
    "head",
    "label_set",
    "matters",
    "names_place",
    "narrowed",
    "none_by_rule",
    "predict",
    "several",
]

HEAD = Path(__file__).parent / "heads" / "router.npz"
"""The weights that ship."""

SECOND_BELOW = 0.8
"""Confidence under which the second-best corpus is searched too: the highest at which questions of foreign build search
at most 1.25 corpora on average (`ragweave eval router --data evals/router_probe.jsonl --curve`)."""


@lru_cache(maxsize=4)
def head(path: Path = HEAD) -> Head:
    """Return a head, read once per process.

    Raises:
        WeightsError: the file is missing or not a head.
    """
    return Head.load(path)


def predict(question: str, path: Path = HEAD) -> dict[str, float]:
    """Return calibrated probabilities over the labels; blocking, a few milliseconds.

    A question without words gets the head's answer to no evidence at all.

    Args:
        question: as asked; answer options on further lines are left out, and of a very long text the middle.
        path: head to use.
    """
    h = head(path)
    return {label: float(p) for label, p in zip(h.labels, h.probabilities(question), strict=True)}


def choose(
    probabilities: Mapping[str, float],
    available: set[str],
    second_below: float = SECOND_BELOW,
    none_allowed: bool = False,
) -> list[str]:
    """Return the corpora to search, best first.

    Labels that the library lacks are masked and the rest re-normalised; the second-best joins when the confidence
    of the best is below the threshold.

    Args:
        probabilities: over labels, as `predict` gives them.
        available: corpora that the library has.
        second_below: confidence under which a second corpus is searched too.
        none_allowed: whether "none" may be chosen.

    Returns:
        One or two corpora, ["none"], or [] when nothing is available.
    """
    kept = {
        k: v for k, v in probabilities.items() if (k in available and k != "none") or (k == "none" and none_allowed)
    }
    total = sum(kept.values())
    ranked = sorted(kept, key=lambda k: (-kept[k], k))
    if not ranked or ranked[0] == "none":
        return ranked[:1]
    confidence = kept[ranked[0]] / total if total > 0 else 0.0
    if confidence >= second_below:
        return ranked[:1]
    return [ranked[0], *[k for k in ranked[1:] if k != "none"][:1]]


GRANULARITIES = (("paragraph", "document"), ("clip", "video"))
"""Labels of the same matter in small and in large pieces (UniversalRAG, section 3.2)."""


def label_set(scores: Mapping[str, float], threshold: float = 0.8) -> list[str]:
    """Return the labels whose independent (sigmoid) score passes the threshold, best first.

    "none" falls away when anything else fires, of paragraph and document and of clip and video the higher stays, and
    where nothing fires the single best label is returned (UniversalRAG, later code; multi-label routing).
    """
    if not scores:
        return []
    fired = {k for k, v in scores.items() if v >= threshold}
    if len(fired) > 1:
        fired.discard("none")
    for a, b in GRANULARITIES:
        if a in fired and b in fired:
            fired.discard(a if scores[a] < scores[b] else b)
    best = sorted(fired or scores, key=lambda k: (-scores[k], k))
    return best if fired else best[:1]


def several(clauses: Sequence[Mapping[str, float]], available: set[str]) -> list[str]:
    """Return the corpora of a question whose clauses clearly ask for different matter, best first; [] elsewhere.

    Each clause speaks for its matter with the sum over its granularities, by the name of the likelier one; what the
    clauses say is joined by the higher value and read by the rule of `label_set`.

    Args:
        clauses: probabilities of each clause, as `predict` gives them.
        available: corpora that the library has.
    """
    scores: dict[str, float] = {}
    for given in clauses:
        for group in matters(available & set(given)):
            name = max(group, key=lambda k: (given[k], k))
            scores[name] = max(scores.get(name, 0.0), sum(given[k] for k in group))
    fired = label_set(scores)
    return fired if len(fired) > 1 else []


def narrowed(question: str, confidence: Mapping[str, float]) -> tuple[str, ...]:
    """Return the corpora of the one matter that a question is surely about, () where that is not sure.

    Only a question that names a picture or a recording, and no other medium, tells where its answer lies; the head has
    to agree. Text is not told by its words: people name no medium, and texts are named in recordings as well.

    Args:
        question: as asked.
        confidence: of the head, over the corpora that the library has.
    """
    named = media(question)
    if len(named) != 1 or named == {"paragraph"}:
        return ()
    group = next((g for g in matters(confidence) if named & {*g}), ())
    return group if sum(confidence[c] for c in group) >= SECOND_BELOW else ()


def matters(corpora: Collection[str]) -> list[tuple[str, ...]]:
    """Group corpora that hold the same matter in different granularities; any other stands alone."""
    pairs = [tuple(k for k in pair if k in corpora) for pair in GRANULARITIES]
    paired = {k for pair in pairs for k in pair}
    return [*(pair for pair in pairs if pair), *((k,) for k in sorted(corpora) if k not in paired)]
