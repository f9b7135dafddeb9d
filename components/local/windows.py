"""Windows of a passage that are read together: a few sentences, an item, a cell of a table with what it belongs to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ragweave.models import tables, text
from ragweave.models.calendar import MONTHS, NUMBER_WORDS, TENS, WEEKDAYS
from ragweave.models.relevance import Passage

_KEPT = 300
"""Passages whose windows are kept for the next sentence."""
_SENTENCES = 3
"""Sentences of the longest window."""
_CLOSING = " \"'”’)]»*_"
"""What may stand behind the end of a sentence."""
_HEADING = 80
"""Characters of a line that may be a heading."""
_VALUE = re.compile(r"(?:[<>≤≥±$€£¥]\s?)?(?:(?<![\w.)-])[-–−])?\d[\d.,:]*(?:\s?[%‰])?")
CAPITAL = re.compile(r"(?<=[^\s.!?:…。] )[\"“'(]*([^\W\d_a-z][\w’'-]*)")
"""A word with a capital that opens no sentence."""
_COUNTED = frozenset(text.stem(w) for w in (*NUMBER_WORDS, *TENS, *WEEKDAYS, *MONTHS)) - {"one", "may", "mar", "mai"}
"""Stems of words that are values as figures are."""
NEGATES = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|nicht|keine?[nmrs]?|nie|niemals|ohne|jamais|sans"
    r"|ne|pas|aucune?)\b|n['’]t\b|[不没未无]",
    re.I,
)


@dataclass(frozen=True)
class Window:
    """What is read together.

    Attributes:
        stems: of all its words and of its titles.
        words: the same words, folded.
        values: its numbers with their signs, and how often each stands there.
        order: stems of its own words, in order.
        numbers, names: stems among them that are values.
        foreign: stems of the heads of other columns.
        denies: whether its sentences deny something: all of them, none, or some.
        bound: its values belong to each other.
        length: how many sentences it has; a cell of a table is one.
        place: [start, end) in the passage.
    """

    stems: frozenset[str]
    words: frozenset[str]
    values: Counter[str]
    order: tuple[str, ...]
    numbers: frozenset[str]
    names: frozenset[str]
    foreign: frozenset[str]
    denies: frozenset[bool]
    bound: bool
    length: int
    place: tuple[int, int]


@lru_cache(maxsize=_KEPT)
def windows_of(p: Passage) -> tuple[Window, ...]:
    """Return the windows of a passage: cells of its tables, and its sentences, alone and with those that follow."""
    spans = [s for s in tables.spans(p.text) if not tables.is_heads(p.text, *s)]
    often = frozenset(t for n in CAPITAL.findall(p.text) for t in text.terms(n))
    out: list[Window] = []
    run, above = list[tuple[int, int]](), ""
    for a, b in [*spans, (0, 0)]:
        part = p.text[a:b]
        row, alone = tables.is_row(part), _is_heading(p.text, a, b)
        if row or alone or not part:
            out += _prose(p, above, run, often)
            run = []
        if row:
            out += _cells(p, a, b, often)
        elif alone:
            out += _prose(p, "", [(a, b)], often)
            above = part
        else:
            run.append((a, b))
    return tuple(out)


def _is_heading(passage: str, start: int, end: int) -> bool:
    """Tell a short line that stands alone and ends no sentence: what it says goes for what follows it."""
    part = passage[start:end]
    if not part or end - start > _HEADING or "\n" in part or not part.rstrip("*_ ")[-1:].isalnum():
        return False
    above = passage[:start].rstrip(" ")
    return passage[end : end + 1] == "\n" and (not above.strip() or above.endswith("\n\n"))


def _prose(p: Passage, above: str, spans: Sequence[tuple[int, int]], often: frozenset[str]) -> Iterator[Window]:
    said = [tables.told(p.text, *s) for s in spans]
    for n in range(len(said)):
        for end in range(n + 1, min(n + _SENTENCES, len(said)) + 1):
            if said[end - 1].rstrip(_CLOSING).endswith(("?", "？")):
                break  # a question states nothing
            yield _window(f"{p.title} {above}", said[n:end], (spans[n][0], spans[end - 1][1]), often)


def _cells(p: Passage, start: int, end: int, often: frozenset[str]) -> Iterator[Window]:
    """Yield each cell of a row with its subject and its head, and the whole row."""
    subject, *cells = tables.cells(p.text[start:end])
    heads = tables.cells(tables.heads_above(p.text, start))[1:]
    if len(heads) != len(cells):
        heads = [""] * len(cells)
    for n, (head, cell) in enumerate(zip(heads, cells, strict=True)):
        others = frozenset(t for m, h in enumerate(heads) if m != n for t in text.content_terms(h))
        yield _window(p.title, [f"{subject}: {head} {cell}"], (start, end), often, others, bound=True)
    yield _window(p.title, [tables.told(p.text, start, end)], (start, end), often)


def _window(
    title: str,
    said: Sequence[str],
    place: tuple[int, int],
    often: frozenset[str],
    foreign: frozenset[str] = frozenset(),
    bound: bool = False,
) -> Window:
    own = " ".join(said)
    whole, order = f"{title} {own}", tuple(text.terms(own))
    names = {t for n in CAPITAL.findall(own) for t in text.terms(n)}
    # What opens a sentence is a name where it has its capital within one as well, or goes on as a name.
    opening = [text.terms(s.split(None, 1)[0]) for s in said if s.strip() and s.strip()[0].isupper()]
    names |= {t for first in opening for t in first if t in often}
    names |= {t for s in said for n in text.names(s) if " " in n for t in text.terms(n)}
    numbers = {t for t in order if counts(t)}
    stems = frozenset(text.terms(whole))
    return Window(
        stems=stems,
        words=frozenset(text.words(whole)),
        values=Counter(values(whole)),
        order=order,
        numbers=frozenset(numbers),
        names=frozenset(t for t in names - numbers if t not in text.STOP),
        foreign=foreign - stems,
        denies=frozenset(bool(NEGATES.search(s)) for s in said),
        bound=bound,
        length=len(said),
        place=place,
    )


def counts(stem: str) -> bool:
    """Tell whether a stem is a number, or a word that stands for one, a month or a day of the week."""
    return stem in _COUNTED or any(map(str.isdigit, stem))


def values(said: str) -> list[str]:
    """Return the numbers of a text with the signs that stand beside them, without marks of thousands."""
    found = (m.group().rstrip(".,:") for m in _VALUE.finditer(text.fold(said)))
    return ["".join(re.sub(r"(?<=\d),(?=\d{3})", "", v).split()).replace("–", "-").replace("−", "-") for v in found]
