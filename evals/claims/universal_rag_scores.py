"""Scores of the UniversalRAG experiment: hits, modality gap and granularity, computed from recorded lists."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ragweave.corpora.types import CORPORA, Corpus
from ragweave.evals.claims.universal_library import source_of

KEPT = 10
"""Length of each recorded list, and the number of items over which the modality gap is counted."""
MODALITIES: dict[str, tuple[Corpus, ...]] = {
    "text": ("paragraph", "document"),
    "pictures": ("image",),
    "recordings": ("clip", "video"),
}
Questions = Sequence[Mapping[str, Any]]
"""Rows of the question record: id, question, corpus and gold items."""
Lists = Mapping[str, Sequence[tuple[str, float]]]
"""Items and cosines by corpus, nearest first."""
Finer = dict[str, dict[str, dict[str, list[float]]]]
"""Scores by modality, router and measure, each with and without granularity."""


def at_random(id: str) -> str:
    """Return a corpus that depends on the id of a question alone."""
    return CORPORA[int(hashlib.sha256(id.encode()).hexdigest(), 16) % len(CORPORA)]


def nearest(lists: Lists, corpora: Sequence[str]) -> list[str]:
    """Return the nearest items of some corpora, ranked together."""
    rows = []
    for corpus in corpora:
        for key, cosine in lists.get(corpus, ()):
            rows.append((-cosine, key))
    return [key for _, key in sorted(rows)[:KEPT]]


def widened(label: str) -> tuple[str, ...]:
    """Return all corpora of a label's modality: the search without granularity."""
    for group in MODALITIES.values():
        if label in group:
            return group
    return ()


def modality_of(corpus: str) -> str:
    """Return the modality of a corpus."""
    for name, group in MODALITIES.items():
        if corpus in group:
            return name
    raise KeyError(corpus)


def hits(found: Sequence[Sequence[str]], questions: Questions, k: int) -> list[float]:
    """Return 1 for each question with a gold item among the first k, 0 for the others."""
    out = []
    for row, question in zip(found, questions, strict=True):
        out.append(float(bool(set(row[:k]) & set(question["gold"]))))
    return out


def sources(found: Sequence[Sequence[str]], questions: Questions, k: int) -> list[float]:
    """Return 1 for each question with an item of a gold source among the first k, of any size."""
    out = []
    for row, question in zip(found, questions, strict=True):
        gold = {source_of(key) for key in question["gold"]}
        first = {source_of(key) for key in row[:k]}
        out.append(float(bool(gold & first)))
    return out


def mean_hits(found: Sequence[Sequence[str]], questions: Questions, k: int) -> float:
    """Return the recall at k over all questions."""
    return float(np.mean(hits(found, questions, k)))


def gap(questions: Questions, lists: Sequence[Lists]) -> dict[str, dict[str, float]]:
    """Return the shares of modalities in the first ten of one space, by the modality of the question."""
    shares: dict[str, list[list[float]]] = {}
    for name in MODALITIES:
        shares[name] = []
    for question, corpora in zip(questions, lists, strict=True):
        shares[modality_of(question["corpus"])].append(_modality_shares(corpora))
    out: dict[str, dict[str, float]] = {}
    for name, rows in shares.items():
        out[name] = dict(zip(MODALITIES, np.mean(rows, axis=0).tolist(), strict=True))
    return out


def _modality_shares(lists: Lists) -> list[float]:
    """Return the share of each modality among the nearest items of all corpora."""
    rows = []
    for corpus, items in lists.items():
        for _, cosine in items:
            rows.append((-cosine, corpus))
    first = [modality_of(corpus) for _, corpus in sorted(rows)[:KEPT]]
    return [first.count(name) / len(first) for name in MODALITIES]


def granularity(questions: Questions, lists: Sequence[Lists], labels: Mapping[str, Sequence[str]]) -> Finer:
    """Compare the search of one corpus with that of its whole modality, for texts and for recordings."""
    out: Finer = {}
    for modality in ("text", "recordings"):
        mine = []
        subset = []
        for n, question in enumerate(questions):
            if modality_of(question["corpus"]) == modality:
                mine.append(n)
                subset.append(question)
        out[modality] = {}
        for router, predicted in labels.items():
            on = []
            off = []
            for n in mine:
                on.append(nearest(lists[n], [predicted[n]]))
                off.append(nearest(lists[n], widened(predicted[n])))
            out[modality][router] = {
                "item, on": hits(on, subset, 1),
                "item, off": hits(off, subset, 1),
                "source, on": sources(on, subset, 1),
                "source, off": sources(off, subset, 1),
            }
    return out
