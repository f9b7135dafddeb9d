"""Labelled rows for text classifiers and regressors, and their split into training and held-out rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ragweave.corpora.types import LABELS
from ragweave.evals.data import read_labelled, read_routed
from ragweave.models.errors import InputError
from ragweave.models.relevance import Passage


@dataclass(frozen=True, slots=True)
class LabelledText:
    """One labelled text.

    `target` is the index of its label, or the relevance of the passage in [-1, 1]; `group` is label and
    source of a question to be routed, or the question that a passage is judged for.
    """

    text: str
    target: float
    group: str
    passage: Passage | None = None


def router_rows(path: Path) -> tuple[list[LabelledText], tuple[str, ...]]:
    """Return the rows of a router file and the labels that occur in it, in the order of the vocabulary.

    Raises:
        InputError: if the file is broken, has a label out of the vocabulary, an empty query, or one label
            only.
    """
    routed = read_routed(path, LABELS)
    for number, row in enumerate(routed, 1):
        if not row.query.strip():
            raise InputError(f"the query of row {number} of {path.name} is empty", "mend or remove that row")
    found = set()
    for row in routed:
        found.add(row.label)
    # Of the vocabulary, those that occur, in its order.
    labels = tuple(sorted(found, key=LABELS.index))
    if len(labels) < 2:
        raise InputError(
            f"every row of {path.name} has the label {labels[0]}", "a router needs two labels to tell"
        )
    rows = []
    for row in routed:
        rows.append(LabelledText(row.query, labels.index(row.label), f"{row.label} {row.source}"))
    return rows, labels


def evaluator_rows(path: Path) -> list[LabelledText]:
    """Return the rows of a file of question, passage (title where known) and label: 0 and 1, or -1 to 1.

    Raises:
        InputError: if the file is broken, a label is out of range, or all labels are the same.
    """
    found = read_labelled(path)
    for number, row in enumerate(found, 1):
        if not (_has_text(row["question"]) and _has_text(row["passage"])):
            raise InputError(
                f"row {number} of {path.name} has an empty question or passage", "mend or remove that row"
            )
        if not isinstance(row["label"], int | float) or not -1 <= row["label"] <= 1:
            raise InputError(
                f"row {number} of {path.name} has the unknown label {row['label']!r}",
                "use 0 and 1, or -1 to 1",
            )
    values = set()
    for row in found:
        values.add(float(row["label"]))
    if len(values) < 2:
        raise InputError(
            f"every row of {path.name} has the same label", "an evaluator needs relevant and irrelevant"
        )
    binary = values <= {0.0, 1.0}
    rows = []
    for row in found:
        target = float(row["label"])
        if binary:
            target = 2 * target - 1
        group = str(row.get("qid", row["question"]))
        passage = Passage(str(row.get("title") or ""), row["passage"])
        rows.append(LabelledText(row["question"], target, group, passage))
    return rows


def _has_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def split(
    rows: Sequence[LabelledText], share: float, seed: int, *, whole: bool
) -> tuple[list[LabelledText], list[LabelledText]]:
    """Return training and held-out rows.

    `whole` holds out whole groups, so that no question is on both sides; else the share of every group.

    Raises:
        InputError: if there are too few rows to hold any out.
    """
    draw = np.random.default_rng(seed)
    groups: dict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        groups[row.group].append(i)
    names = sorted(groups)
    held: set[int] = set()
    if whole:
        for number in draw.permutation(len(names))[: max(1, round(share * len(names)))]:
            held.update(groups[names[number]])
    else:
        for name in names:
            of_group = draw.permutation(groups[name])
            held.update(of_group[: round(share * len(of_group))].tolist())
    if not held or len(held) == len(rows):
        raise InputError(f"{len(rows)} rows are too few to hold some of them out", "give more labelled rows")
    training, held_out = [], []
    for i, row in enumerate(rows):
        if i in held:
            held_out.append(row)
        else:
            training.append(row)
    return training, held_out
