"""Template questions per label, expanded from a small grammar written from the meaning of the labels.

They teach the router what a label means where the public data sets only show how their authors write. The
grammar is `router_templates.txt`: `@slot = a | b` defines a slot, `[label language]` opens a section, every
further line is a pattern with `{slot}` and `(a|b|)`; ` | ` outside parentheses separates patterns.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

from ragweave.models.errors import InputError

GRAMMAR = Path(__file__).parent / "router_templates.txt"
"""The grammar that the shipped head was trained with."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of the grammar."""

    label: str
    language: str
    text: str


def read_grammar(path: Path = GRAMMAR) -> tuple[dict[str, list[str]], list[Pattern]]:
    """Return the slots and the patterns of a grammar file.

    Raises:
        InputError: a pattern stands before any section, names an unknown slot, or its parentheses do not
            match.
    """
    slots: dict[str, list[str]] = {}
    patterns: list[Pattern] = []
    section: tuple[str, str] | None = None
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith(";"):
            continue
        heading = re.fullmatch(r"\[(\w+) (\w+)\]", line)
        if line.startswith("@"):
            name, _, values = line[1:].partition("=")
            slots[name.strip()] = list(map(str.strip, values.split(" | ")))
        elif heading:
            section = (heading[1], heading[2])
        else:
            unknown = set(re.findall(r"\{(\w+)\}", line)) - set(slots)
            if section is None or unknown or line.count("(") != line.count(")"):
                raise InputError(
                    f"line {number} of {path.name} is not a pattern: {line[:60]}",
                    "check its section, slot names and parentheses",
                )
            for part in _split(line, " | "):
                patterns.append(Pattern(*section, part))
    return slots, patterns


def _split(text: str, separator: str) -> list[str]:
    """Split at separators outside parentheses; an empty part counts."""
    parts, depth, start, i = [], 0, 0, 0
    while i < len(text):
        if text[i] in "()":
            depth += 1 if text[i] == "(" else -1
        if depth == 0 and text.startswith(separator, i):
            parts.append(text[start:i])
            i = start = i + len(separator)
            continue
        i += 1
    return [*parts, text[start:]]


def expand(pattern: str, slots: dict[str, list[str]], rng: random.Random) -> str:
    """Return one question of a pattern; the same slot twice in a line takes two different values."""
    unused = {}
    for name, values in slots.items():
        if f"{{{name}}}" in pattern:
            unused[name] = rng.sample(values, len(values))

    def value(slot: re.Match[str]) -> str:
        left = unused[slot[1]]
        return left.pop() if left else rng.choice(slots[slot[1]])

    text = re.sub(r"\{(\w+)\}", value, _choose(pattern, rng))
    return " ".join(text.split())


def _choose(text: str, rng: random.Random) -> str:
    out, i = [], 0
    while i < len(text):
        if text[i] != "(":
            out.append(text[i])
            i += 1
            continue
        depth, j = 1, i + 1
        while depth:
            depth += {"(": 1, ")": -1}.get(text[j], 0)
            j += 1
        out.append(_choose(rng.choice(_split(text[i + 1 : j - 1], "|")), rng))
        i = j
    return "".join(out)


def roughen(question: str, rng: random.Random) -> str:
    """Write a question as people type: sometimes lower-cased, without the mark, with a typo."""
    if rng.random() < 0.15:
        question = question.lower()
    if rng.random() < 0.2:
        question = question.rstrip("?？ ").rstrip()
    if rng.random() < 0.1 and question.isascii() and len(question) > 20:
        at = rng.randrange(4, len(question) - 2)
        if question[at].isalpha() and question[at + 1].isalpha():
            swapped = question[at + 1] + question[at]
            question = (
                question[:at]
                + rng.choice([swapped, question[at], question[at] * 2 + question[at + 1]])
                + question[at + 2 :]
            )
    return question


@dataclass(frozen=True, slots=True)
class Template:
    """A template question.

    `pattern` is the index of its pattern in the grammar; questions of one pattern are never split over folds.
    """

    query: str
    label: str
    language: str
    pattern: int


def template_questions(seed: int = 7) -> list[Template]:
    """Return distinct template questions, at most five of each pattern; the same for the same seed."""
    slots, patterns = read_grammar()
    seen: set[str] = set()
    out: list[Template] = []
    for index, pattern in enumerate(patterns):
        rng = random.Random(f"{seed}:{pattern.text}")
        for _ in range(5):
            query = roughen(expand(pattern.text, slots, rng), rng)
            if query.casefold() not in seen:
                seen.add(query.casefold())
                out.append(Template(query, pattern.label, pattern.language, index))
    return out
