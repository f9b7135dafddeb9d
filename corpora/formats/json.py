"""JSON and JSON Lines: one block per record, one `path: value` line per value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.decode import read_text
from ragweave.corpora.meta import iso_date
from ragweave.models.errors import SourceError

MAX_DEPTH = 64
"""Levels that are read; a file of more is refused, as `formats.parse` does with all that is nested too deeply."""
_TITLES = ("title", "name")


def parse(path: Path) -> Parsed:
    """Read a JSON document or one JSON value per line.

    The elements of a list, and the values of an object, at the top are records of their own.
    """
    text = read_text(path)
    try:
        whole = json.loads(text, parse_float=str)
    except ValueError as exc:
        return _lines(path, text, exc)
    records = _records(whole)
    blocks = tuple(b for name, value in records if (b := _block(name, value, 0)))
    top = whole if isinstance(whole, dict) else {}
    title = next((str(top[k]) for k in _TITLES if isinstance(top.get(k), str)), "")
    return Parsed(title, blocks, iso_date(top.get("date")))


def _records(whole: object) -> list[tuple[str, object]]:
    if isinstance(whole, list):
        return [("", value) for value in whole]
    if isinstance(whole, dict):
        plain = {k: v for k, v in whole.items() if not isinstance(v, dict | list)}
        return [("", plain), *((str(k), v) for k, v in whole.items() if isinstance(v, dict | list))]
    return [("", whole)]


def _lines(path: Path, text: str, why: ValueError) -> Parsed:
    """Read JSON Lines; a line that is not JSON is named, and the others count."""
    blocks: list[Block] = []
    broken: list[int] = []
    read = 0
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, parse_float=str)
        except ValueError:
            broken.append(number)
            continue
        read += 1
        if block := _block("", value, number):
            blocks.append(block)
    if read <= len(broken):
        raise SourceError(f"{path.name} is not valid JSON ({why})", "mend it, or rename it to .txt")
    warnings = tuple(f"line {number} is not JSON" for number in broken[:10])
    return Parsed(blocks=tuple(blocks), warnings=warnings)


def _block(name: str, value: object, line: int) -> Block | None:
    text = "\n".join(f"{key}: {found}" if key else found for key, found in _values(name, value, 0))
    return Block(text, "list", line=line) if text.strip() else None


def _values(key: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of every value that is not empty, in order."""
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, dict):
        for k, v in value.items():
            yield from _values(f"{key}.{k}" if key else str(k), v, depth + 1)
    elif isinstance(value, list) and any(isinstance(v, dict | list) for v in value):
        for n, v in enumerate(value):
            yield from _values(f"{key}[{n}]", v, depth + 1)
    elif isinstance(value, list):
        if text := ", ".join(_plain(v) for v in value if v is not None):
            yield key, text
    elif value is not None and value != "":
        yield key, _plain(value)


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else " ".join(str(value).split())
