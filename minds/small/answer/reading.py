"""A sentence of the evidence as it is read: with title, file, the head of its paragraph and what it leans on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePath

from ragweave.corpora.meta import guess_language
from ragweave.corpora.types import Locator
from ragweave.corpora.video.title import filed_as
from ragweave.corpora.video.utterances import spoken
from ragweave.minds.evidence import Strip
from ragweave.minds.small.question.asked import asked_of
from ragweave.minds.small.question.facts import units
from ragweave.minds.small.question.lexicon import TAUGHT, in_english
from ragweave.models import tables
from ragweave.models.calendar import NUMBER_WORDS
from ragweave.models.text import names, terms

_LEANS = re.compile(
    r"^(?:it|they|he|she|this|these|those|such|his|her|their|its|cost|costs|ils?|elles?|er|sie|es)\b"
    r"|\b(?:these|those|such) \w+"
    r"|^(?:from|since|after|until|on|in|at|for) (?:[\w:]+ ){1,4}(?:on,? )?(?:it|they|he|she)\b"
    r"|^(?:这|那|它|他|她|其|该|此)",
    re.I,
)
_ASKING = (
    "what|when|where|who|whom|whose|which|how|why|is|are|was|were|do|does|did|can|could|will|would|should|may|has|have"
    "|à quelle|quel(?:le)?s?|quand|où|qui|que|quoi|comment|combien|pourquoi|est-ce"
    "|wer|wen|wem|was|wie|wo|wann|warum|welche[rsnm]?|ist|sind|hat|haben|kann|gibt|um wie viel"
    "|qué|cuándo|cuánd?to|dónde|quién|cómo|cuál|hay"
)
ASKS = re.compile(
    rf"(?:^|[,:;>–—-]\s*|\b(?:and|but|so|or|please)\s)[¿*\s]*(?:{_ASKING})\b[^.!]*\?[\s\"'”»)*]*$|[\u3040-\u9fff][^。！]*？$",
    re.I,
)
"""A sentence that only asks; what follows it in its paragraph answers it."""
_PERSON = re.compile(r"\b(?:he|she)\b", re.I)
_ATTRIBUTED = re.compile(
    r"\b(?:sa(?:y|ys|id)|think|thinks|thought|tells?|told|explain|mention|talk|argue|ask|answer)", re.I
)
"""Words of a question that asks what somebody says: there the name of the speaker counts."""

_SAID = (".", "!", "?", "。", "”")
"""Ends of a sentence; a piece of a list and a label line have none."""


_HEADING = re.compile(
    r"(?:(?<=\n\n)|\A)(?=[^\W_])(?!\d[\d.,/]* [a-zà-ÿ])(?P<head>(?:[^\s|]+ ){0,7}[^\s|]*[^\s|.!?:;,])\n\n(?=\S)"
)
"""A short paragraph over another one; “180 g de farine” is an entry of a list without signs."""
LATER = 10
"""How much further back a sentence counts to stand for each paragraph before its section."""
_PHONE = re.compile(r"(?<![\w.])(?:\+\d{1,3} ?)?\(?\d{3,5}\)?[ /-]\d{3,}(?:[ -]\d+)*(?![\w.])")
_CALLED = frozenset(terms("phone telephone"))
"""What a number of its form says without a word: “Orla Finch: 0331 8080”."""


@lru_cache(maxsize=20_000)
def _stems(text: str) -> frozenset[str]:
    """Return the terms of a text; kept, because each question put to the same evidence reads it again."""
    return frozenset(terms(text))


_tongue = lru_cache(maxsize=256)(guess_language)
_measured = lru_cache(maxsize=20_000)(units)


def filed(strip: Strip) -> frozenset[str]:
    """Return the stems of the file and the folder that a strip is from."""
    return _filed(strip["locator"].get("file", ""))


@lru_cache(maxsize=20_000)
def _filed(file: str) -> frozenset[str]:
    path = PurePath(file)
    return _stems(f"{path.parent.name} {path.stem}".replace("_", " "))


class Read:
    """A sentence with what it is said of: stems by how near they stand to it."""

    def __init__(self, strip: Strip, at: int, parts: Sequence[tuple[int, int]], question: str, around: str) -> None:
        text, (a, b) = strip["text"], parts[at]
        # Only what stands first, or under the title alone, opens the text.
        later = around[: max(0, around.find(text))].strip().count("\n\n")
        self.strip, self.start, self.end, self.at = strip, a, b, at + LATER * later
        told = tables.told(text, a, b)
        self.told = told
        # Who speaks counts only where a question asks what somebody says; an entry of a list is said by nobody.
        entry = self.piece and strip["locator"].get("kind") != "time"
        self.said = told if entry or _ATTRIBUTED.search(question) else spoken(told, question)
        first = next(p for p in parts[: at + 1] if "\n\n" not in text[p[0] : a])
        head = _stems(text[slice(*first)]) if first != parts[at] and run_in(text[slice(*first)]) else frozenset()
        self.before = parts[at - 1] if at and "\n\n" not in text[parts[at - 1][1] : a] else None
        self.leans = self.before is not None and bool(_LEANS.search(told) or _of_somebody(told))
        if at and _answers(text, parts[at - 1], self.before, around):
            self.before, self.leans = parts[at - 1], True
        elif self.leans and _of_somebody(told):
            # “She” is who the sentences before speak of, however many of them.
            self.before = parts[_root(text, parts, at)]
        if (item := _item(text, parts, at)) is not None:
            # What goes on in an item of a list is said of what the item begins with, and of no other item.
            if item != at:
                self.before, self.leans = parts[item], True
            elif not self.piece:
                self.before, self.leans = None, False
        near = _stems(text[slice(*self.before)]) if self.before else frozenset()
        self.own = _stems(self.said) | _measured(told)
        self.own |= _CALLED if _PHONE.search(told) else frozenset()
        self.title = _stems(filed_as(strip["title"], strip["locator"].get("file", "")))
        self.abroad = (tongue := _tongue(text)) in TAUGHT and not asked_of(question).foreign
        if self.abroad:
            # What stands there in another language is read in English beside it.
            self.own, self.title, near, head = (s | in_english(s, tongue) for s in (self.own, self.title, near, head))
        self.have = self.own | self.title | head | (near if self.leans else frozenset())
        self.levels = (
            (self.own | self.title, 1.0),
            (self.have, 0.9),
            (filed(strip), 0.8),
            (near, 0.5),
            (_stems(around), 0.35),
        )

    @property
    def read(self) -> str:
        """The sentence as it is encoded: with what it leans on, a piece of a list with its heading."""
        if self.leans and self.before:
            return f"{self.strip['text'][slice(*self.before)]} {self.told}"
        return f"{self.strip['title'].split(' · ')[-1]}: {self.told}" if self.piece else self.told

    @property
    def piece(self) -> bool:
        """Whether it is a piece of a list or a label line, no sentence."""
        return not self.told.endswith(_SAID)

    def level(self, term: str) -> float:
        """Return how near a stem stands to the sentence, in [0, 1]."""
        for have, value in self.levels:
            if term in have:
                return value
        return 0.0


def _of_somebody(told: str) -> bool:
    """Tell whether a sentence speaks of somebody whom it does not name: it begins with “she”, or names nobody."""
    return bool(_PERSON.match(told) or (_PERSON.search(told) and not names(told)))


def _answers(text: str, last: tuple[int, int], before: tuple[int, int] | None, around: str) -> bool:
    """Tell whether a sentence answers the question before it: in its paragraph, or over it where several stand so."""
    if not ASKS.search(text[slice(*last)]):
        return False
    return before == last or sum(bool(ASKS.search(p)) for p in around.split("\n\n")) > 1


def _root(text: str, parts: Sequence[tuple[int, int]], at: int) -> int:
    """Return the last sentence before one, in its paragraph, that does not speak of an unnamed person itself."""
    n = at - 1
    while n and "\n\n" not in text[parts[n - 1][1] : parts[n][0]] and _of_somebody(text[slice(*parts[n])]):
        n -= 1
    return n


def _item(text: str, parts: Sequence[tuple[int, int]], at: int) -> int | None:
    """Return which part of a text opens the item of a list that part `at` stands in; None outside lists."""
    for n in range(at, -1, -1):
        if tables.is_item(text, parts[n][0]) or _ENTRY.match(text, parts[n][0]):
            # A number may be parted from what it counts.
            return n + (n < at and not re.search(r"[^\W\d]", text[slice(*parts[n])]))
        if n and "\n" in text[parts[n - 1][1] : parts[n][0]]:
            return None
    return None


def sections(strip: Strip) -> list[Strip]:
    """Cut a text before each heading that is a paragraph of its own, and read what follows under it."""
    text, heads = strip["text"], [*_HEADING.finditer(strip["text"])]
    if not heads or strip["locator"].get("kind") == "time":
        return [strip]
    offset, out = (strip["locator"].get("chars") or [0])[0], list[Strip]()
    for a, b in pairwise([0, *(m.end() for m in heads), len(text)]):
        head = next((m["head"] for m in heads if m.end() == a), "")
        title = f"{strip['title']} · {head}" if head and head not in strip["title"] else strip["title"]
        place: Locator = {**strip["locator"], "chars": [offset + a, offset + b]}
        out.append(Strip(**{**strip, "text": text[a:b], "title": title, "locator": place}))
    return out


def person_of(strip: Strip) -> str:
    """Return the person whose name is the heading over a strip: “Staff · Ada Lund”; else ""."""
    _, under, head = strip["title"].rpartition(" · ")
    named = under and " " in head and not (head.isupper() or re.search(r"\d", head))
    return head if named and names(f"x {head}") == (head,) else ""


def run_in(text: str) -> bool:
    """Tell whether a sentence states nothing, as the head that opens a paragraph does: “Quiet hours.”."""
    return len(text.split()) <= 5 and text.rstrip().endswith((".", ":")) and not _STATES.search(text)


_ENTRY = re.compile(r"(?=[A-Z0-9])[^\W_](?:[^\n.!?:;,()]{0,30}[^\W_])? [-–—] (?=\S)")
"""How an entry opens that tells of one thing: “Plover - same as Dunlin, but enclosed. Chamber goes to 55 °C.”"""
_STATES = re.compile(
    rf"\d|: |\b(?:{'|'.join(NUMBER_WORDS)})\b|^(?:i|he|she|it|they|we|you|er|sie|es|wir|ich|ils?|elles?|nous|je)\b"
    r"|\b(?:is|are|was|were|has|have|had|does|do|did|can|may|must|will|would|nobody|not|never|isn't|aren't|wasn't"
    r"|ist|sind|war|waren|hat|haben|hatte|kann|darf|muss|wird|nicht|est|sont|était|ont|fait|peut|doit|era|tiene"
    r"|hay|puede|è|sono|può)\b"
    r"|(?-i:^[A-Z]\w+(?: [A-Z]\w+)? [a-z]{2,}(?:s|ed|t) (?!in\b|of\b|on\b|for\b|at\b|to\b|and\b|or\b|from\b|with\b)"
    r"|^[A-Z]\w+ [A-Z]\w+, [a-z])",
    re.I,
)
"""What a head does not say: “He keeps eleven sheep.”, “Tom is ours.”, “Eva eats no nuts.”, “Kate Bell, a nurse.”"""
