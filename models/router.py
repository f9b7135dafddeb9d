"""The small router: which corpus and granularity can answer a question (UniversalRAG, section 3.2).

Two kernel machines, one of labelled questions of public data sets and one of template questions, and a gate
between them. The first is right about questions of data sets that it knows and sure about all others; the
second carries over. The gate weighs them by how near the question lies to each one's questions, so that an
unknown one gets a humble answer. It ships with the package and needs numpy alone; `ragweave train router`
reproduces its weights. Figures are in docs/results.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ragweave.models.errors import WeightsError
from ragweave.models.router_features import PLACES, read

HEAD = Path(__file__).parent / "heads" / "router.npz"
"""The weights that ship."""

SECOND_BELOW = 0.8
"""Confidence under which the second-best corpus is searched too: questions of foreign build then search at most 1.25
corpora on average, and a higher one within that finds no more (`ragweave eval router
--data evals/router_probe.jsonl --curve`)."""


SHARES = {"words": 1.0, "skeleton": 1.0, "pieces": 1.0, "form": 0.25, "vector": 1.0}
"""How much the likeness of each kind counts."""
SHARP_PUBLIC, SHARP_WRITTEN = 16.0, 10.0
"""What the margins of each machine are multiplied with before the softmax: as the gate finds the two likeliest."""
NEAREST = (1, 5, 20)
"""The gate looks at the mean likeness of so many nearest questions."""

Array = NDArray[np.floating[Any]]
Likeness = Mapping[str, Array]
"""For each of `SHARES`, cosines (questions, questions of the head)."""


def joined(likeness: Likeness) -> Array:
    """Return the mean likeness, weighted by the shares."""
    return np.asarray(sum(share * likeness[name] for name, share in SHARES.items()) / sum(SHARES.values()))


def kernel(joint: Array) -> Array:
    """Return the cubic kernel of a joint likeness, 1 for the same question."""
    return np.asarray((1 + joint) ** 3 / 8)


def softmax(scores: Array) -> Array:
    """Return probabilities over the last axis."""
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def gate_features(near: Sequence[Array], written: Array, of_public: Array, of_written: Array) -> Array:
    """Return what the gate reads, shape (questions, features).

    Args:
        near: likenesses with the public questions, each (questions, public).
        written: joint likeness with the template questions.
        of_public: margins of the machine of public questions, (questions, labels).
        of_written: those of the machine of templates.
    """
    columns = [_nearest(of, n) for of in near for n in NEAREST] + [_nearest(written, NEAREST[1])]
    p, q = softmax(SHARP_WRITTEN * of_public), softmax(SHARP_WRITTEN * of_written)
    for of in (p, q):
        columns += [*np.sort(of, axis=1)[:, -2:].T]
    agreed = np.take_along_axis(q, p.argmax(axis=1)[:, None], axis=1)[:, 0]
    columns += [(p.argmax(axis=1) == q.argmax(axis=1)).astype(float), agreed, of_public.max(axis=1)]
    return np.stack(columns, axis=1)


def _nearest(likeness: Array, most: int) -> Array:
    most = min(most, likeness.shape[1])
    return np.asarray(np.partition(likeness, -most, axis=1)[:, -most:].mean(axis=1))


def lengths_of(rows: NDArray[np.uint16], questions: int) -> Array:
    """Return the length of each question's bag, at least 1, from the rows of all places."""
    return np.sqrt(np.maximum(1, np.bincount(rows, minlength=questions)))


@dataclass(frozen=True, slots=True)
class RouterHead:
    """A router head as stored: its questions, public ones first, by their features, and what was fitted on them."""

    labels: tuple[str, ...]
    public: int
    """How many of the questions are public; the rest are templates, or none."""
    starts: Mapping[str, NDArray[np.int64]]
    """Of each bag, where the questions of each place begin in `rows`."""
    rows: Mapping[str, NDArray[np.uint16]]
    lengths: Likeness
    """Of each bag, the length of each question's."""
    vectors: NDArray[np.float32]
    weights: NDArray[np.float32]
    """(questions, labels): each question counts for the machine of its kind."""
    gate: NDArray[np.float64]
    """Weights of the gate's features, its bias last; empty where there are no templates."""
    seen: NDArray[np.uint32]
    """Hashes of the training questions, for the overlap that reports print."""

    def probabilities(self, questions: Sequence[str]) -> NDArray[np.float64]:
        """Return probabilities, shape (questions, labels)."""
        texts = read(questions)
        rows = zip(*texts.bags.values(), texts.vectors, strict=True)
        return np.array(
            [self._one(dict(zip(texts.bags, bags, strict=True)), vector) for *bags, vector in rows]
        )

    def _one(self, bags: Mapping[str, NDArray[np.int64]], vector: NDArray[np.float32]) -> Array:
        likeness: dict[str, Array] = {"vector": self.vectors @ vector}
        for name, places in bags.items():
            rows, starts = self.rows[name], self.starts[name]
            found = np.concatenate([rows[:0], *(rows[starts[p] : starts[p + 1]] for p in places)])
            counts = np.bincount(found, minlength=len(self.vectors))
            likeness[name] = counts / self.lengths[name] / max(1, len(places)) ** 0.5
        joint = joined(likeness)
        near, p = kernel(joint), self.public
        margins = near[:p] @ self.weights[:p], near[p:] @ self.weights[p:]
        public = softmax(SHARP_PUBLIC * margins[0])
        if not len(self.gate):
            return public
        sides = [joint[None, :p], *(likeness[name][None, :p] for name in GATED)]
        seen = gate_features(sides, joint[None, p:], margins[0][None], margins[1][None])
        share = 1 / (1 + np.exp(-(seen[0] @ self.gate[:-1] + self.gate[-1])))
        return np.asarray(share * public + (1 - share) * softmax(SHARP_WRITTEN * margins[1]))


GATED = ("vector", "skeleton", "words")
"""Likenesses that the gate reads beside the joint one."""


@lru_cache(maxsize=4)
def head(path: Path = HEAD) -> RouterHead:
    """Return a head, read once per process.

    Raises:
        WeightsError: the file is missing, not a head, or belongs to other features.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            a = {name: file[name] for name in file.files}
        if any(len(a[f"starts_{name}"]) != places + 1 for name, places in PLACES.items()):
            raise WeightsError(f"{path.name} was trained for other features", "run: ragweave train router")
        starts = {name: a[f"starts_{name}"].astype(np.int64) for name in PLACES}
        rows = {name: a[f"rows_{name}"].astype(np.uint16) for name in PLACES}
        vectors = a["vectors"].astype(np.float32) / np.float32(a["scale"])
        weights, labels = a["weights"].astype(np.float32), tuple(a["labels"].tolist())
        lengths = {name: lengths_of(of, len(vectors)) for name, of in rows.items()}
        return RouterHead(
            labels, int(a["public"]), starts, rows, lengths, vectors, weights, a["gate"], a["seen"]
        )
    except OSError as error:
        raise WeightsError(
            f"the router head {path.name} cannot be read ({error})", "reinstall Ragweave"
        ) from error
    except (KeyError, TypeError, ValueError, BadZipFile) as error:
        # What numpy says of such a file is advice to unpickle it.
        remedy = "give a file written by `ragweave train router`"
        raise WeightsError(f"{path.name} cannot be read as a router head", remedy) from error


def predict(question: str, path: Path = HEAD) -> dict[str, float]:
    """Return probabilities over the labels; without words, the head's answer to no evidence.

    About a millisecond.
    """
    h = head(path)
    return dict(zip(h.labels, h.probabilities([question])[0].tolist(), strict=True))


def choose(
    probabilities: Mapping[str, float],
    available: set[str],
    second_below: float = SECOND_BELOW,
    none_allowed: bool = False,
) -> list[str]:
    """Return the corpora to search, best first: one or two, ["none"], or [] when nothing is available.

    Labels that the library lacks are masked and the rest re-normalised; the second-best joins when the
    confidence of the best is below the threshold.
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

    "none" falls away when anything else fires, of paragraph and document and of clip and video the higher
    stays, and where nothing fires the single best label is returned (UniversalRAG, later code; multi-label
    routing).
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
