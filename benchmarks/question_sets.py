"""Questions of house_dev, multihop_own and the sets of benchmarks/sets, and the kept answers to them."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DATA = Path(
    os.environ.get("RAGWEAVE_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data")
)
RECORDS = Path(__file__).resolve().parent / "records"
Question = dict[str, Any]
Row = dict[str, Any]


def drawn(rows: list[Question], count: int) -> list[Question]:
    """Return the first rows by the digest of their id."""
    return sorted(rows, key=lambda row: hashlib.sha256(str(row["id"]).encode()).hexdigest())[:count]


def read(path: Path) -> list[Row]:
    """Read JSON Lines."""
    rows: list[Row] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            rows.append(json.loads(line))
    return rows


def kept(record: Path) -> dict[str, dict[str, Row]]:
    """Return the rows of a record by arm and question."""
    arms: dict[str, dict[str, Row]] = {}
    if record.exists():
        for row in read(record):
            arms.setdefault(row["arm"], {})[row["id"]] = row
    return arms


def by_kind(folder: Path, name: str, each: int) -> list[Question]:
    """Return `each` questions of every kind of a set, with the name of its library."""
    kinds: dict[str, list[Question]] = {}
    for question in read(folder / "questions.jsonl"):
        kinds.setdefault(question["kind"], []).append({**question, "set": name})
    found: list[Question] = []
    for of_kind in kinds.values():
        found += drawn(of_kind, each)
    return found


def questions(each: int = 4, sets: Sequence[Path] = ()) -> list[Question]:
    """Return the questions of house_dev and multihop_own, or those of other sets; `each` of a kind."""
    found: list[Question] = []
    for folder in sets:
        for question in by_kind(folder, folder.name, each):
            found.append({**question, "id": f"{folder.name}/{question['id']}"})
    if sets:
        return found
    found = by_kind(DATA / "house_dev", "house", each)
    for hop in drawn(read(DATA / "multihop_own" / "queries.jsonl"), math.ceil(7.5 * each)):
        common = {"set": "hops", "kind": "multihop_own", "answerable": True, "previous": []}
        found.append({**hop, **common, "gold_files": hop["gold"]})
    return found


def passages() -> list[str]:
    """Return HotpotQA's passages, each under its title."""
    texts: list[str] = []
    for passage in read(DATA / "multihop_hotpotqa" / "corpus.jsonl"):
        texts.append(f"# {passage['title']}\n\n{passage['text']}\n")
    return texts


def as_files(texts: list[str], folder: Path) -> Path:
    """Write texts as numbered files; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for n, text in enumerate(texts):
        (folder / f"{n:06d}.md").write_text(text, encoding="utf-8")
    return folder
