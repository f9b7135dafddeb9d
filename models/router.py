"""The small router: which corpus and granularity can answer a question (UniversalRAG, section 3.2).

One linear layer; it ships with the package and needs numpy alone; `ragweave train router` reproduces its weights.
Figures are in docs/results.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ragweave.models.errors import WeightsError
from ragweave.models.router_features import BUCKETS, CUES, features

HEAD = Path(__file__).parent / "heads" / "router.npz"
"""The weights that ship."""

SECOND_BELOW = 0.8
"""Confidence under which the second-best corpus is searched too: questions of foreign build then search at most 1.25
corpora on average, and a higher one within that finds no more (`ragweave eval router
--data evals/router_probe.jsonl --curve`)."""


@dataclass(frozen=True, slots=True)
class RouterHead:
    """A router head as stored: weights (features, labels) and bias (labels,)."""

    labels: tuple[str, ...]
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    seen: NDArray[np.uint32]
    """Hashes of the training questions, for the overlap that reports print."""

    def probabilities(self, questions: Sequence[str]) -> NDArray[np.float64]:
        """Return probabilities, shape (questions, labels)."""
        scores = (features(questions) @ self.weights + self.bias).astype(np.float64)
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(e / e.sum(axis=1, keepdims=True))


@lru_cache(maxsize=4)
def head(path: Path = HEAD) -> RouterHead:
    """Return a head, read once per process.

    Raises:
        WeightsError: the file is missing, not a head, or belongs to other features.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            a = {name: file[name] for name in file.files}
        if tuple(a["cues"].tolist()) != CUES or len(a["weights"]) < 3 * BUCKETS:
            raise WeightsError(f"{path.name} was trained for other features", "run: ragweave train router")
        return RouterHead(tuple(a["labels"].tolist()), a["weights"].astype(np.float32), a["bias"], a["seen"])
    except OSError as error:
        raise WeightsError(f"the router head {path.name} cannot be read ({error})", "reinstall Ragweave") from error
    except (KeyError, ValueError, BadZipFile) as error:
        # What numpy says of such a file is advice to unpickle it.
        remedy = "give a file written by `ragweave train router`"
        raise WeightsError(f"{path.name} cannot be read as a router head", remedy) from error


def predict(question: str, path: Path = HEAD) -> dict[str, float]:
    """Return probabilities over the labels; without words, the head's answer to no evidence. About a millisecond."""
    h = head(path)
    return dict(zip(h.labels, h.probabilities([question])[0].tolist(), strict=True))


def choose(
    probabilities: Mapping[str, float],
    available: set[str],
    second_below: float = SECOND_BELOW,
    none_allowed: bool = False,
) -> list[str]:
    """Return the corpora to search, best first: one or two, ["none"], or [] when nothing is available.

    Labels that the library lacks are masked and the rest re-normalised; the second-best joins when the confidence
    of the best is below the threshold.
    """
    kept = {k: v for k, v in probabilities.items() if (none_allowed if k == "none" else k in available)}
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


def modalities(corpora: Collection[str]) -> list[tuple[str, ...]]:
    """Group corpora that hold the same matter in different granularities; any other stands alone."""
    pairs = [tuple(k for k in pair if k in corpora) for pair in GRANULARITIES]
    paired = {k for pair in pairs for k in pair}
    return [*(pair for pair in pairs if pair), *((k,) for k in sorted(corpora) if k not in paired)]
