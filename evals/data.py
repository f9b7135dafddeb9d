"""Evaluation files: JSON Lines with clear errors, labels that are known, near-duplicates in one group."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragweave.models.errors import InputError
from ragweave.models.text import words

T = TypeVar("T")
NEAR = 0.6
"""Jaccard similarity of word sets from which two questions count as near-duplicates."""
POPQA = 10
"""Passages of a PopQA question that are paired with it (CRAG)."""


def read_labelled(path: Path) -> list[dict[str, Any]]:
    """Return the pairs of a file: rows of question, passage (title if known) and label.

    A question of PopQA in the form in which Self-RAG and CRAG share it (`s_wiki_title`, and retrieved `ctxs`
    of title and text) becomes a pair for each passage. It is relevant if its title is that of the question's
    subject, and is read without its title, which would give the label away (CRAG, section 4.2).

    Raises:
        InputError: as `read_jsonl`, or a row of PopQA has no passages.
    """
    if "s_wiki_title" not in read_jsonl(path)[0]:
        return read_jsonl(path, ("question", "passage", "label"))
    rows: list[dict[str, Any]] = []
    for number, row in enumerate(read_jsonl(path, ("question", "s_wiki_title", "ctxs")), 1):
        found = row["ctxs"]
        if not _are_passages(found):
            raise InputError(
                f"row {number} of {path.name} has no passages", "give `ctxs` with title and text"
            )
        for passage in found[:POPQA]:
            pair = {"qid": str(row.get("id", number)), "question": row["question"]}
            pair["passage"] = " ".join(str(passage["text"]).split())
            rows.append({**pair, "label": int(passage["title"] == row["s_wiki_title"])})
    return rows


def _are_passages(found: Any) -> bool:
    """Return whether retrieved contexts are one or more objects with title and text."""
    for passage in found or ():
        if not (isinstance(passage, dict) and "title" in passage and "text" in passage):
            return False
    return bool(found)


def read_jsonl(path: Path, fields: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the objects of a JSON Lines file; blank lines are passed over.

    Every object must have the `fields`.

    Raises:
        InputError: the file cannot be read, is empty, or a line is not such an object; the message names the
            line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read ({error})", "give a JSON Lines file in UTF-8") from error
    rows: list[dict[str, Any]] = []
    # Not splitlines(): that also cuts at separators which may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"line {number} of {path.name} is not JSON", "mend or remove that line"
            ) from error
        lacks = _lacks(row, fields)
        if lacks:
            raise InputError(f"line {number} of {path.name} {lacks}", "see docs/evaluation.md for the fields")
        rows.append(row)
    if not rows:
        raise InputError(f"{path.name} holds no rows", "give a JSON Lines file with one object per line")
    return rows


def _lacks(row: object, fields: Sequence[str]) -> str:
    """Return what is wrong with a row, "" if it is an object with the fields."""
    if not isinstance(row, dict):
        return "is not an object"
    missing = []
    for name in fields:
        if name not in row:
            missing.append(name)
    return f"has no {', '.join(missing)}" if missing else ""


def listed(value: object) -> tuple[str, ...]:
    """Return the texts of a list field; a single text or number counts as a list of one."""
    many = value if isinstance(value, list) else [value]
    texts = []
    for one in many:
        if one is not None and one != "":
            texts.append(str(one))
    return tuple(texts)


def sample(rows: Sequence[T], count: int, seed: int = 0) -> list[T]:
    """Return `count` rows drawn by a seed, in the order of the list; 0 or a large count returns all.

    A larger sample of the same seed holds the smaller one.
    """
    if not 0 < count < len(rows):
        return list(rows)
    order = random.Random(seed).sample(range(len(rows)), len(rows))
    return [rows[i] for i in sorted(order[:count])]


@dataclass(frozen=True, slots=True)
class RoutedQuestion:
    """A question with the label it should be routed to.

    `source` is the data set that it comes from, "" when unknown.
    """

    id: str
    query: str
    label: str
    source: str = ""


_RELEASED = ("no", "paragraph", "document", "image", "clip", "video")
"""Labels of UniversalRAG's files in the order of their numbers."""


def released_label(given: object) -> str:
    """Return the label of a `gt_retrieval` of UniversalRAG, which is a word or a number; other words stay."""
    if isinstance(given, int) and 0 <= given < len(_RELEASED):
        given = _RELEASED[given]
    return "none" if given == "no" else str(given)


def read_routed(path: Path, labels: Collection[str]) -> list[RoutedQuestion]:
    """Return the rows of a router file (id, query, label, and source if known).

    A `.json` file is a list of questions as UniversalRAG released them (index, question, source,
    gt_retrieval): those of training, or of one of its sets.

    Raises:
        InputError: as `read_jsonl`; also for a label out of the vocabulary or a query that is not text.
    """
    rows = _released(path) if path.suffix == ".json" else read_jsonl(path, ("query", "label"))
    for number, row in enumerate(rows, 1):
        if row["label"] not in labels:
            raise InputError(
                f"row {number} of {path.name} has the unknown label {row['label']!r}",
                f"use one of {', '.join(labels)}",
            )
        if not isinstance(row["query"], str):
            raise InputError(
                f"the query of row {number} of {path.name} is not text", "mend or remove that row"
            )
    questions = []
    for i, row in enumerate(rows):
        source = str(row.get("source", ""))
        questions.append(RoutedQuestion(str(row.get("id", i)), row["query"], row["label"], source))
    return questions


def _released(path: Path) -> list[dict[str, Any]]:
    """Return a list of questions of UniversalRAG as rows of a router file.

    Raises:
        InputError: the file cannot be read, or is no such list; the message names the row.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read ({error})", "give a JSON file in UTF-8") from error
    if not isinstance(found, list) or not found:
        raise InputError(f"{path.name} is no list of questions", "give JSON Lines with query and label")
    rows: list[dict[str, Any]] = []
    for number, row in enumerate(found, 1):
        lacks = _lacks(row, ("question", "gt_retrieval"))
        if lacks:
            raise InputError(f"row {number} of {path.name} {lacks}", "see docs/checkpoints.md for the fields")
        label, source = released_label(row["gt_retrieval"]), row.get("source", "")
        rows.append(
            {"id": row.get("index", number), "query": row["question"], "label": label, "source": source}
        )
    return rows


def groups(texts: Sequence[str], near: float = NEAR) -> NDArray[np.int64]:
    """Return a group number per text, the same for near-duplicates (chains of them included).

    A group is named by its first member, so that the numbers do not depend on anything but the texts.
    """
    parent = list(range(len(texts)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    sets = [frozenset(words(t)) for t in texts]
    holders: dict[str, list[int]] = defaultdict(list)
    for i, own in enumerate(sets):
        shared: Counter[int] = Counter()
        for w in own:
            shared.update(holders[w])
        for j, common in shared.items():
            if common >= near * len(own | sets[j]):
                low, high = sorted((root(i), root(j)))
                parent[high] = low
        for w in own:
            holders[w].append(i)
    return np.array([root(i) for i in range(len(texts))], dtype=np.int64)
