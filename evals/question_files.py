"""Question files in the forms in which public sets are published, read as rows of one form.

- ours: JSON Lines with `id, question` and the further fields of docs/evaluation.md; with `options`, a list,
  the question is multiple choice and its answer a letter;
- Video-MME: `question_id, question, options, answer` (a letter);
- LVBench: one video a line with `qa`, a list of `uid, question, answer`, the options lettered within the
  question;
- LongerVideos: one JSON object of collections, each with `type` and `questions`, which have no gold answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from ragweave.evals.bench.options import options_of
from ragweave.evals.data import read_jsonl
from ragweave.evals.metrics import letter
from ragweave.models.errors import InputError

Row = dict[str, Any]

_LETTERED = re.compile(r"^\s*\(?[A-Z][).:]\s*")


def rows_of(path: Path) -> list[Row]:
    """Return the questions of a file as rows of our own form.

    Raises:
        InputError: the file cannot be read, or a row lacks what its form needs; the message names it.
    """
    collections = _collections(path)
    if collections is not None:
        rows: list[Row] = []
        for name, given in collections.items():
            rows += _longer_videos(str(name), given, path)
        return rows
    out: list[Row] = []
    for n, row in enumerate(read_jsonl(path), 1):
        if isinstance(row.get("qa"), list):
            for question in row["qa"]:
                out.append(choice(question, "uid", str(row.get("type", "")), path, n))
        elif "options" in row or "question_id" in row:
            key = "question_id" if "question_id" in row else "id"
            out.append(choice(row, key, str(row.get("task_type", "")), path, n))
        else:
            _check_fields(row, path, n)
            out.append(row)
    return out


def _check_fields(row: Row, path: Path, n: int) -> None:
    missing = []
    for name in ("id", "question"):
        if name not in row:
            missing.append(name)
    if missing:
        raise InputError(
            f"line {n} of {path.name} has no {', '.join(missing)}", "see docs/evaluation.md for the fields"
        )


def _collections(path: Path) -> Mapping[str, Any] | None:
    """Return the content of a file that is one JSON object over several questions, None for JSON Lines."""
    if path.suffix.lower() != ".json":
        return None
    try:
        whole = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read ({error})", "give a JSON file in UTF-8") from error
    if not isinstance(whole, dict):
        raise InputError(
            f"{path.name} is not an object of collections", "give JSON Lines, or the LongerVideos file"
        )
    return whole


def _longer_videos(name: str, given: object, path: Path) -> Iterator[Row]:
    for collection in given if isinstance(given, list) else [given]:
        held: dict[str, Any] = collection if isinstance(collection, dict) else {}
        asked = held.get("questions")
        if not isinstance(asked, list):
            raise InputError(
                f"collection {name} of {path.name} has no questions", "give the file as it is published"
            )
        for q in asked:
            if not isinstance(q, dict) or "question" not in q:
                raise InputError(
                    f"a question of collection {name} of {path.name} has no text", "mend or remove it"
                )
            yield {
                "id": f"{name}-{q.get('id', '')}",
                "question": str(q["question"]),
                "kind": str(held.get("type", "")),
            }


def choice(row: Any, key: str, kind: str, path: Path, n: int) -> Row:
    """Return row n of a file, a multiple choice with its id under `key`, in our own form.

    Raises:
        InputError: it lacks an id, a question or options, or its answer is the letter of none of them.
    """
    if not isinstance(row, dict) or key not in row or "question" not in row or "answer" not in row:
        raise InputError(
            f"line {n} of {path.name} is no multiple choice", "give an id, a question and an answer"
        )
    question = str(row["question"])
    options = row.get("options")
    if isinstance(options, list):
        for mark, option in zip(ascii_uppercase, options, strict=False):
            question += f"\n{mark}. {_LETTERED.sub('', str(option))}"
    _, stated = options_of(question)
    right = letter(str(row["answer"]))
    if not stated or right not in ascii_uppercase[: len(stated)] or not right:
        raise InputError(
            f"line {n} of {path.name} has no options, or its answer is not the letter of one",
            "give two options or more, and a letter",
        )
    return {
        **row,
        "id": str(row[key]),
        "question": question,
        "answers": [],
        "letter": right,
        "kind": row.get("kind", kind),
    }
