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
"""Most levels; a deeper file is refused, as `formats.parse` refuses everything nested too deeply."""
_TITLES = ("title", "name")


def parse(path: Path) -> Parsed:
    """Read a JSON document or one JSON value per line.

    Elements of a list at the top, and values of an object at the top, are records of their own.
    """
    text = read_text(path)
    try:
        whole = json.loads(text, parse_float=str)
    except ValueError as exc:
        return _lines(path, text, exc)
    blocks = []
    for name, value in _records(whole):
        block = _block(name, value, 0)
        if block is not None:
            blocks.append(block)
    top = whole if isinstance(whole, dict) else {}
    return Parsed(_title(top), tuple(blocks), iso_date(top.get("date")))


def _title(top: dict[str, object]) -> str:
    for key in _TITLES:
        if isinstance(top.get(key), str):
            return str(top[key])
    return ""


def _records(whole: object) -> list[tuple[str, object]]:
    """Return the records of a document with their names; plain values of an object are one record."""
    if isinstance(whole, list):
        return [("", value) for value in whole]
    if not isinstance(whole, dict):
        return [("", whole)]
    plain: dict[object, object] = {}
    nested: list[tuple[str, object]] = []
    for key, value in whole.items():
        if isinstance(value, dict | list):
            nested.append((str(key), value))
        else:
            plain[key] = value
    return [("", plain), *nested]


def _lines(path: Path, text: str, why: ValueError) -> Parsed:
    """Read JSON Lines, with a warning for each line that is not JSON."""
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
        block = _block("", value, number)
        if block is not None:
            blocks.append(block)
    if read <= len(broken):
        raise SourceError(f"{path.name} is not valid JSON ({why})", "mend it, or rename it to .txt")
    warnings = [f"line {number} is not JSON" for number in broken[:10]]
    return Parsed(blocks=tuple(blocks), warnings=tuple(warnings))


def _block(name: str, value: object, line: int) -> Block | None:
    lines = []
    for key, found in _values(name, value, 0):
        lines.append(f"{key}: {found}" if key else found)
    text = "\n".join(lines)
    return Block(text, "list", line=line) if text.strip() else None


def _is_nested(values: list[object]) -> bool:
    for value in values:
        if isinstance(value, dict | list):
            return True
    return False


def _values(key: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of every value that is not empty, in order."""
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _values(f"{key}.{name}" if key else str(name), inner, depth + 1)
    elif isinstance(value, list) and _is_nested(value):
        for n, inner in enumerate(value):
            yield from _values(f"{key}[{n}]", inner, depth + 1)
    elif isinstance(value, list):
        text = ", ".join([_plain(inner) for inner in value if inner is not None])
        if text:
            yield key, text
    elif value is not None and value != "":
        yield key, _plain(value)


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else " ".join(str(value).split())
