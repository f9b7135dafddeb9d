"""Reading what a model wrote: labels, JSON in whatever wrapping, and replies with the thinking left in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

M = TypeVar("M", bound=BaseModel)

_THOUGHT = re.compile(r"^\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S | re.I)
_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\n?(.*?)```", re.S)
_OPENING = re.compile(r"[{\[]")
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_WORD = re.compile(r"[^\W_]+")
_NEGATION = frozenset({"not", "no", "never", "isn", "aren", "wasn", "cannot", "neither", "nor", "t"})
_ARTICLES = frozenset({"a", "an", "the"})
_LONGEST = 200_000
_MOST_OPENINGS = 64


def without_thoughts(text: str) -> str:
    """Drop the <think> block that reasoning models on local servers put before their reply."""
    return _THOUGHT.sub("", text, count=1).strip() if text.lstrip()[:6].lower() == "<think" else text.strip()


class ThoughtFilter:
    """The same for a stream: feed it parts, it returns what may be shown."""

    def __init__(self) -> None:
        self._held = ""
        self._open = False
        self._started = False

    def feed(self, part: str) -> str:
        """Return the text that became visible with this part."""
        if self._started:
            return part
        self._held += part
        head = self._held.lstrip().lower()
        if not self._open:
            if len(head) < 6 and "<think".startswith(head):
                return ""
            if not head.startswith("<think"):
                return self.rest()
            self._open = True
        end = re.search(r"</think(?:ing)?>\s*", self._held, re.I)
        # White space right after the block may still be arriving: wait for the first visible character.
        if end and end.end() < len(self._held):
            self._held = self._held[end.end() :]
            return self.rest()
        return ""

    def rest(self) -> str:
        """Return what is held back at the end of the stream."""
        self._started = True
        held, self._held = self._held, ""
        return without_thoughts(held) if self._open and held.lstrip()[:6].lower() == "<think" else held


def read_label(text: str, labels: Sequence[str]) -> str | None:
    """Find the one label that a reply names, in any case, punctuation or sentence around it.

    Several labels in one reply are read as the one that stands alone on a line or after the last colon; a negated
    label ("not relevant") is not a label. Returns None when the reply does not settle on one.
    """
    text = without_thoughts(text)[:_LONGEST]
    forms = {tuple(_words(label)): label for label in labels}
    found = _named(text, forms)
    if len(found) > 1:
        alone = {forms[w] for line in text.splitlines() if (w := tuple(_words(line.rpartition(":")[2]))) in forms}
        found = alone or found
    return found.pop() if len(found) == 1 else None


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _named(text: str, forms: dict[tuple[str, ...], str]) -> set[str]:
    words = _words(text)
    found: set[str] = set()
    at = 0
    longest_first = sorted(forms, key=len, reverse=True)
    while at < len(words):
        form = next((f for f in longest_first if f and tuple(words[at : at + len(f)]) == f), None)
        if form is None:
            at += 1
            continue
        before = [w for w in words[max(0, at - 2) : at] if w not in _ARTICLES]
        if not (before and before[-1] in _NEGATION):
            found.add(forms[form])
        at += len(form)
    return found


def read_json(text: str, schema: type[M]) -> M | None:
    """Find the first JSON value in a reply that fits the schema: bare, fenced, or with prose around it.

    Trailing commas are forgiven, and so is a bare list or value where the schema has a single field.
    """
    text = without_thoughts(text)[:_LONGEST]
    for value in _values(text):
        for candidate in (value, *_members(value)):
            fitted = fit(candidate, schema)
            if fitted is not None:
                return fitted
    return None


def _members(value: Any) -> list[Any]:
    """Return the objects one level down: some models wrap what was asked for in a list or under a name."""
    inner = value if isinstance(value, list) else value.values() if isinstance(value, dict) else []
    return [v for v in inner if isinstance(v, dict)][:_MOST_OPENINGS]


def fit(value: Any, schema: type[M]) -> M | None:
    """Validate a decoded value, or return None."""
    if not isinstance(value, dict) and len(schema.model_fields) == 1:
        value = {next(iter(schema.model_fields)): value}
    try:
        return schema.model_validate(value)
    except (ValidationError, RecursionError):
        return None


def _values(text: str) -> Iterator[Any]:
    """Yield decoded values: the whole text, then fenced blocks, then what starts at an opening bracket."""
    for candidate in (text, *_FENCE.findall(text)):
        yield from _decode(candidate.strip(), whole=True)
    covered = 0
    for tried, opening in enumerate(_OPENING.finditer(text)):
        if tried >= _MOST_OPENINGS:
            return
        if opening.start() < covered:
            continue
        for value, end in _decode_prefix(text[opening.start() :]):
            covered = opening.start() + end
            yield value


def _decode(text: str, whole: bool) -> Iterator[Any]:
    if not text or text[0] not in '{["-0123456789tfn':
        return
    for value, end in _decode_prefix(text):
        if end >= len(text.rstrip()):
            yield value


def _decode_prefix(text: str) -> Iterator[tuple[Any, int]]:
    for form in (text, _TRAILING_COMMA.sub(r"\1", text)):
        try:
            value, end = _DECODER.raw_decode(form)
        except (ValueError, RecursionError):
            continue
        # A repaired text is shorter by its commas: report an end that covers them.
        yield _printable(value), end + len(text) - len(form)
        return


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse, strict=False)


def _printable(value: Any) -> Any:
    """Replace lone surrogates (half of an escaped emoji), which nothing can store or print."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_printable(v) for v in value]
    if isinstance(value, dict):
        return {_printable(k): _printable(v) for k, v in value.items()}
    return value


def instruction(schema: type[BaseModel]) -> str:
    """Return the request for JSON that is added to a prompt where the server cannot enforce a schema."""
    shape = json.dumps(schema.model_json_schema(), ensure_ascii=False, separators=(",", ":"))
    return f"Reply with one JSON object and nothing else. It must fit this JSON schema:\n{shape}"
