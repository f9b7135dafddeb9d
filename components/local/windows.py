"""Windows of a passage that are read together: a few sentences, an item, a cell of a table with what it belongs to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

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
class WindowPart:
    """A sentence, an item or a cell of a passage, with its words as stems; read once for all windows that hold it."""

    text: str

    @cached_property
    def terms(self) -> list[str]:
        """Stems of its words, in order."""
        return text.terms(self.text)


@dataclass(frozen=True)
class Window:
    """What is read together.

    Attributes:
        above: what goes for all of it: the title of the passage, a heading.
        said: its sentences; a cell of a table is one.
        place: [start, end) in the passage.
        often: stems of the passage's words that have a capital within a sentence.
        foreign: stems of the heads of other columns.
        bound: its values belong to each other.
    """

    above: WindowPart
    said: tuple[WindowPart, ...]
    place: tuple[int, int]
    often: frozenset[str]
    foreign: frozenset[str] = frozenset()
    bound: bool = False

    @property
    def length(self) -> int:
        """How many sentences it has."""
        return len(self.said)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Stems of its own words, in order."""
        return tuple(t for s in self.said for t in s.terms)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of all its words and of what stands above it."""
        return frozenset([*self.above.terms, *self.order])

    @cached_property
    def words(self) -> frozenset[str]:
        """The same words, folded."""
        return frozenset(text.words(self._whole))

    @cached_property
    def values(self) -> Counter[str]:
        """Its numbers with their signs, and how often each stands there."""
        return Counter(values(self._whole))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Stems among its own that are numbers or stand for one."""
        return frozenset(t for t in self.order if counts(t))

    @cached_property
    def names(self) -> frozenset[str]:
        """Stems among its own that are names.

        What opens a sentence is one where it has its capital within a sentence as well, or goes on as a name.
        """
        found = {t for n in CAPITAL.findall(self._own) for t in text.terms(n)}
        opening = [text.terms(s.text.split(None, 1)[0]) for s in self.said if s.text.strip()[:1].isupper()]
        found |= {t for first in opening for t in first if t in self.often}
        found |= {t for s in self.said for n in text.names(s.text) if " " in n for t in text.terms(n)}
        return frozenset(t for t in found - self.numbers if t not in text.STOP)

    @cached_property
    def denies(self) -> frozenset[bool]:
        """Whether its sentences deny something: all of them, none, or some."""
        return frozenset(bool(NEGATES.search(s.text)) for s in self.said)

    @property
    def _own(self) -> str:
        return " ".join(s.text for s in self.said)

    @property
    def _whole(self) -> str:
        return f"{self.above.text} {self._own}"


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
    if ": " in part and passage[end : end + 2] != "\n\n":
        return False  # the first line of a card: its value is its own
    above = passage[:start].rstrip(" ")
    return passage[end : end + 1] == "\n" and (not above.strip() or above.endswith("\n\n"))


def _prose(p: Passage, above: str, spans: Sequence[tuple[int, int]], often: frozenset[str]) -> Iterator[Window]:
    said = [WindowPart(tables.told(p.text, *s)) for s in spans]
    head = WindowPart(f"{p.title} {above}")
    for n in range(len(said)):
        for end in range(n + 1, min(n + _SENTENCES, len(said)) + 1):
            if said[end - 1].text.rstrip(_CLOSING).endswith(("?", "？")):
                break  # a question states nothing
            yield Window(head, tuple(said[n:end]), (spans[n][0], spans[end - 1][1]), often)


def _cells(p: Passage, start: int, end: int, often: frozenset[str]) -> Iterator[Window]:
    """Yield each cell of a row with its subject and its head, and the whole row."""
    title, place = WindowPart(p.title), (start, end)
    subject, *cells = tables.cells(p.text[start:end])
    heads = tables.cells(tables.heads_above(p.text, start))[1:]
    if len(heads) != len(cells):
        heads = [""] * len(cells)
    for n, (head, cell) in enumerate(zip(heads, cells, strict=True)):
        others = frozenset(t for m, h in enumerate(heads) if m != n for t in text.content_terms(h))
        own = WindowPart(f"{subject}: {head} {cell}")
        yield Window(title, (own,), place, often, others - {*title.terms, *own.terms}, bound=True)
    dated = any(map(str.isdigit, "".join(heads)))  # the numbers of one head are not those of another's cell
    whole = f"{subject}: {', '.join(filter(None, cells))}" if dated else tables.told(p.text, start, end)
    yield Window(title, (WindowPart(whole),), place, often)


def counts(stem: str) -> bool:
    """Tell whether a stem is a number, or a word that stands for one, a month or a day of the week."""
    return stem in _COUNTED or any(map(str.isdigit, stem))


def values(said: str) -> list[str]:
    """Return the numbers of a text with the signs that stand beside them, without marks of thousands."""
    found = (m.group().rstrip(".,:") for m in _VALUE.finditer(text.fold(said)))
    return ["".join(re.sub(r"(?<=\d),(?=\d{3})", "", v).split()).replace("–", "-").replace("−", "-") for v in found]
