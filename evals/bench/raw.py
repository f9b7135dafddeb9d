"""Read the rows of a question file as its publisher wrote them: JSON, JSON Lines, or a table."""

from __future__ import annotations

import ast
import csv
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragweave.evals.data import read_jsonl
from ragweave.evals.question_files import rows_of
from ragweave.models.errors import InputError

Row = dict[str, Any]
csv.field_size_limit(min(sys.maxsize, 10**9))


def raw_rows(file: Path) -> Iterator[Any]:
    """Yield the rows of a file unchanged; take nested forms apart."""
    if file.suffix in (".tsv", ".csv"):
        yield from _table(file)
        return
    if file.suffix != ".json":
        rows = read_jsonl(file)
        has_own_reader = {"qa", "question_id", "options"} & {*rows[0]}
        yield from rows_of(file) if has_own_reader else rows
        return
    try:
        whole = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InputError(f"{file} cannot be read ({error})", "give a JSON file in UTF-8") from error
    if isinstance(whole, list):
        yield from whole
    elif "data" in whole:
        yield from _squad(whole["data"])
    elif "Data" in whole:  # TriviaQA
        yield from whole["Data"]
    else:
        yield from rows_of(file)


def _squad(articles: Sequence[Row]) -> Iterator[Row]:
    """Yield the questions of SQuAD, each with its paragraph."""
    for article in articles:
        for n, p in enumerate(article["paragraphs"]):
            passage = {"id": f"{article['title']}#{n}", "title": article["title"], "text": p["context"]}
            for q in p["qas"]:
                yield {**q, "squad": passage}


def _table(file: Path) -> Iterator[Row]:
    """Yield the rows of a table; one without a heading has a question and a list of answers (DPR)."""
    delimiter = "\t" if file.suffix == ".tsv" else ","
    with file.open(encoding="utf-8-sig", newline="") as text:
        if "\t" in text.readline():
            delimiter = "\t"
        text.seek(0)
        rows = []
        for row in csv.reader(text, delimiter=delimiter):
            if row:
                rows.append(row)
    heading = rows[0]
    if {"question", "claim"} & {*heading}:
        for row in rows[1:]:
            yield dict(zip(heading, row, strict=False))
        return
    for row in rows:
        if len(row) == 2:
            yield {"question": row[0], "answers": list_of(row[1])}


def list_of(value: object) -> list[str]:
    """Return the texts of a list, also of one written as JSON or Python; another value is one answer."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = json.loads(value)
        except ValueError:
            value = ast.literal_eval(str(value))
    if isinstance(value, Mapping):
        value = value.get("text", value.get("aliases", []))
    if isinstance(value, list):
        return [str(item) for item in value]
    return [str(value)]
