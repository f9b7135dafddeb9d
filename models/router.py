"""Choose the corpus and granularity that can answer a question (UniversalRAG, section 3.2).

The router has two kernel machines and a gate. The first machine was fitted to labelled questions of public
data sets, the second to template questions. The first is accurate for the data sets that it knows but
overconfident about other questions; the second generalises better. The gate weighs them by the similarity of
the question to each machine's questions, so that an unusual question gets a low confidence. The router ships
with the package and needs only numpy. `ragweave train router` reproduces its weights. Figures are in
docs/results.md.
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
"""Confidence under which the second-best corpus is searched too.

Unfamiliar questions then search at most 1.25 corpora on average. A higher threshold within that limit finds
no more (`ragweave eval router --data evals/router_probe.jsonl --curve`).
"""


SHARES = {"words": 1.0, "skeleton": 1.0, "pieces": 1.0, "form": 0.25, "vector": 1.0}
"""Weight of each kind of similarity."""
SHARP_PUBLIC, SHARP_WRITTEN = 16.0, 10.0
"""Factors of the margins of each machine before the softmax."""
NEAREST = (1, 5, 20)
"""Numbers of nearest questions whose mean similarity the gate reads."""

Array = NDArray[np.floating[Any]]
Likeness = Mapping[str, Array]
"""Cosines (questions, questions of the head) for each kind in `SHARES`."""


def joined(likeness: Likeness) -> Array:
    """Return the mean similarity, weighted by the shares."""
    total: Array | float = 0.0
    for name, share in SHARES.items():
        total = total + share * likeness[name]
    return np.asarray(total / sum(SHARES.values()))


def kernel(joint: Array) -> Array:
    """Return the cubic kernel of a joint similarity; it is 1 for the same question."""
    return np.asarray((1 + joint) ** 3 / 8)


def softmax(scores: Array) -> Array:
    """Return probabilities over the last axis."""
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def gate_features(near: Sequence[Array], written: Array, of_public: Array, of_written: Array) -> Array:
    """Return the features of the gate, shape (questions, features).

    Args:
        near: similarities to the public questions, each (questions, public).
        written: joint similarity to the template questions.
        of_public: margins of the machine of public questions, (questions, labels).
        of_written: margins of the machine of templates.
    """
    columns: list[Array] = []
    for similarity in near:
        columns += [_nearest(similarity, count) for count in NEAREST]
    columns.append(_nearest(written, NEAREST[1]))
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
    """Return the length of each question's bag, at least 1, from the rows of all buckets."""
    return np.sqrt(np.maximum(1, np.bincount(rows, minlength=questions)))


@dataclass(frozen=True, slots=True)
class RouterHead:
    """A stored router head: the features of its questions, public ones first, and the fitted weights."""

    labels: tuple[str, ...]
    public: int
    """Number of public questions; the rest are templates."""
    starts: Mapping[str, NDArray[np.int64]]
    """For each bag, the index in `rows` where the questions of each bucket begin."""
    rows: Mapping[str, NDArray[np.uint16]]
    lengths: Likeness
    """For each bag, the length of each question's bag."""
    vectors: NDArray[np.float32]
    weights: NDArray[np.float32]
    """Shape (questions, labels). Each question counts for the machine of its kind."""
    gate: NDArray[np.float64]
    """Weights of the gate's features with the bias last; empty if the head has no templates."""
    seen: NDArray[np.uint32]
    """Hashes of the training questions; reports use them to print the overlap."""

    def probabilities(self, questions: Sequence[str]) -> NDArray[np.float64]:
        """Return probabilities, shape (questions, labels)."""
        features = read(questions)
        out: list[Array] = []
        for *bags, vector in zip(*features.bags.values(), features.vectors, strict=True):
            out.append(self._one(dict(zip(features.bags, bags, strict=True)), vector))
        return np.array(out)

    def _one(self, bags: Mapping[str, NDArray[np.int64]], vector: NDArray[np.float32]) -> Array:
        likeness: dict[str, Array] = {"vector": self.vectors @ vector}
        for name, places in bags.items():
            rows, starts = self.rows[name], self.starts[name]
            runs = [rows[starts[place] : starts[place + 1]] for place in places]
            found = np.concatenate([rows[:0], *runs])
            counts = np.bincount(found, minlength=len(self.vectors))
            likeness[name] = counts / self.lengths[name] / max(1, len(places)) ** 0.5
        joint = joined(likeness)
        near, p = kernel(joint), self.public
        of_public = near[:p] @ self.weights[:p]
        of_written = near[p:] @ self.weights[p:]
        public = softmax(SHARP_PUBLIC * of_public)
        if not len(self.gate):
            return public
        sides = [joint[None, :p]]
        sides += [likeness[name][None, :p] for name in GATED]
        (features,) = gate_features(sides, joint[None, p:], of_public[None], of_written[None])
        share = 1 / (1 + np.exp(-(features @ self.gate[:-1] + self.gate[-1])))
        return np.asarray(share * public + (1 - share) * softmax(SHARP_WRITTEN * of_written))


GATED = ("vector", "skeleton", "words")
"""Similarities that the gate reads in addition to the joint one."""


@lru_cache(maxsize=4)
def head(path: Path = HEAD) -> RouterHead:
    """Return a head, read once per process.

    Raises:
        WeightsError: if the file is missing, not a head, or belongs to other features.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return _head_of(arrays, path)
    except OSError as error:
        raise WeightsError(
            f"the router head {path.name} cannot be read ({error})", "reinstall Ragweave"
        ) from error
    except (KeyError, TypeError, ValueError, BadZipFile) as error:
        # The message of numpy advises to unpickle the file, which is unsafe.
        remedy = "give a file written by `ragweave train router`"
        raise WeightsError(f"{path.name} cannot be read as a router head", remedy) from error


def _head_of(arrays: Mapping[str, NDArray[Any]], path: Path) -> RouterHead:
    """Return the head that the arrays of a file hold."""
    vectors = arrays["vectors"].astype(np.float32) / np.float32(arrays["scale"])
    starts: dict[str, NDArray[np.int64]] = {}
    rows: dict[str, NDArray[np.uint16]] = {}
    lengths: dict[str, Array] = {}
    for name, places in PLACES.items():
        if len(arrays[f"starts_{name}"]) != places + 1:
            raise WeightsError(f"{path.name} was trained for other features", "run: ragweave train router")
        starts[name] = arrays[f"starts_{name}"].astype(np.int64)
        rows[name] = arrays[f"rows_{name}"].astype(np.uint16)
        lengths[name] = lengths_of(rows[name], len(vectors))
    return RouterHead(
        labels=tuple(arrays["labels"].tolist()),
        public=int(arrays["public"]),
        starts=starts,
        rows=rows,
        lengths=lengths,
        vectors=vectors,
        weights=arrays["weights"].astype(np.float32),
        gate=arrays["gate"],
        seen=arrays["seen"],
    )


def predict(question: str, path: Path = HEAD) -> dict[str, float]:
    """Return the probability of each label; this takes about a millisecond.

    A question without words gets the head's answer to no evidence.
    """
    h = head(path)
    return dict(zip(h.labels, h.probabilities([question])[0].tolist(), strict=True))


def choose(
    probabilities: Mapping[str, float],
    available: set[str],
    second_below: float = SECOND_BELOW,
    none_allowed: bool = False,
) -> list[str]:
    """Return one or two corpora to search, best first, or ["none"], or [] if none is available.

    Labels that the library lacks are masked and the rest re-normalised. The second-best corpus is searched
    too if the confidence of the best is below the threshold.
    """
    kept: dict[str, float] = {}
    for label, probability in probabilities.items():
        allowed = none_allowed if label == "none" else label in available
        if allowed:
            kept[label] = probability
    total = sum(kept.values())
    ranked = sorted(kept, key=lambda k: (-kept[k], k))
    if not ranked or ranked[0] == "none":
        return ranked[:1]
    confidence = kept[ranked[0]] / total if total > 0 else 0.0
    if confidence >= second_below:
        return ranked[:1]
    others = list(filter("none".__ne__, ranked[1:]))
    return [ranked[0], *others[:1]]


GRANULARITIES = (("paragraph", "document"), ("clip", "video"))
"""Labels of the same content in small and in large pieces (UniversalRAG, section 3.2)."""


def label_set(scores: Mapping[str, float], threshold: float = 0.8) -> list[str]:
    """Return the labels whose independent (sigmoid) score reaches the threshold, best first.

    "none" is dropped if another label reaches it. Of paragraph and document, and of clip and video, only the
    higher one stays. If no label reaches the threshold, the best one is returned (multi-label routing in the
    later code of UniversalRAG).
    """
    if not scores:
        return []
    chosen: set[str] = set()
    for label, score in scores.items():
        if score >= threshold:
            chosen.add(label)
    if len(chosen) > 1:
        chosen.discard("none")
    for small, large in GRANULARITIES:
        if small in chosen and large in chosen:
            chosen.discard(small if scores[small] < scores[large] else large)
    best = sorted(chosen or scores, key=lambda k: (-scores[k], k))
    return best if chosen else best[:1]


def modalities(corpora: Collection[str]) -> list[tuple[str, ...]]:
    """Group corpora that hold the same content in different granularities, then add the others singly."""
    groups: list[tuple[str, ...]] = []
    others = set(corpora)
    for pair in GRANULARITIES:
        group = tuple(filter(corpora.__contains__, pair))
        if group:
            groups.append(group)
        others.difference_update(pair)
    groups += [(corpus,) for corpus in sorted(others)]
    return groups
