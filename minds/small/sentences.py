"""The few sentences of the evidence that answer a question best, by stated rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

from ragweave.corpora.types import Locator
from ragweave.corpora.video.utterances import pieces, spoken
from ragweave.minds.chain import Chain
from ragweave.minds.evidence import Strip
from ragweave.models import tables
from ragweave.models.embed import encoder
from ragweave.models.text import content_terms, fold, names, numbers, sentences, terms, words

Idf = Callable[[str], float]

_LEANS = re.compile(
    r"^(?:it|they|he|she|this|these|those|such|his|her|their|its)\b|\b(?:these|those|such) \w+"
    r"|^(?:这|那|它|他|她|其|该|此)",
    re.I,
)
_ATTRIBUTED = re.compile(
    r"\b(?:sa(?:y|ys|id)|think|thinks|thought|tells?|told|explain|mention|talk|argue|ask|answer)", re.I
)
"""Words of a question that asks what somebody says: there the name of the speaker counts."""
_HEADING = re.compile(r"(?=[A-Z])(?:[^\W\d]+[\s'’-]+){0,7}[^\W\d]+")
"""A few words without a full stop or a number, begun with a capital: a heading that stands in the text as a line."""
ASKED_WEIGHT = 0.5
"""Weight of covering what is asked, beside as much for the whole question."""
COSINE_WEIGHT = 0.75
STRIP_WEIGHT = 0.35
"""Weight of the relevance of the strip."""
FIT_WEIGHT = 0.4
"""Weight of holding something of the kind asked for."""
NAMED_WEIGHT = 0.8
"""Weight of standing in an item that one of the best items names."""
LED_WEIGHT = -0.4
"""Weight of standing in an item that led to a further query."""
OPEN_WEIGHT = 0.5
"""Weight of covering the words of the question that the items that led on lack."""
NEW_WEIGHT = 0.5
"""Weight of covering words of the question that no chosen sentence covers yet."""
NEXT_WEIGHT = 0.15
"""Weight of standing right after a chosen sentence, where no single fact is asked for: prose explains as it goes on."""
WITHIN = 0.5
"""How far below the best sentence a further one may lie."""

_TYPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "time",
        re.compile(
            r"\b(when|(?:what|which) (year|date|day|month)|what time)\b|何时|什么时候|哪一?[年天]|几[月点号时]", re.I
        ),
    ),
    (
        "count",
        re.compile(
            r"\b(how (many|much|long|far|old|tall|big|often|deep|high|large)|what (percentage|number|share))\b"
            r"|多少|几[个年天次]|多[长大高远]",
            re.I,
        ),
    ),
    (
        "name",
        re.compile(
            r"\b(who|whom|whose|where|which|what (is the name|city|country|team|person|company))\b"
            r"|谁|哪里|哪儿|哪个|何处",
            re.I,
        ),
    ),
)
_QUESTION_WORD = re.compile(
    r"\b(?:who|whom|whose|which|what|where|when|why|how (?:many|much|long|far|old|tall|often|big))\b", re.I
)
_DATE = re.compile(
    r"\b(1\d{3}|20\d{2})\b|\b(january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|\d{1,2}:\d{2}|[\d〇零一二三四五六七八九十]+\s*[年月日号点时]|\b(century|decade|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b",
    re.I,
)


@dataclass(frozen=True)
class Extract:
    """One sentence that may answer.

    Attributes:
        strip: the strip it stands in.
        start: first character in the strip's text.
        end: one past the last character.
        score: order among the sentences.
        covers: content terms of the question that the sentence with its title holds.
    """

    strip: Strip
    start: int
    end: int
    score: float
    covers: frozenset[str]

    @cached_property
    def text(self) -> str:
        """The sentence as an answer says it."""
        return tables.told(self.strip["text"], self.start, self.end)

    @property
    def narrowed(self) -> Strip:
        """The strip, cut down to the sentence."""
        offset = (self.strip["locator"].get("chars") or [0])[0]
        place: Locator = {**self.strip["locator"], "chars": [offset + self.start, offset + self.end]}
        return Strip(**{**self.strip, "text": self.strip["text"][self.start : self.end], "locator": place})


def answer_type(question: str) -> str:
    """Return what kind of thing is asked for: `time`, `count`, `name`, or empty."""
    return next((kind for kind, pattern in _TYPES if pattern.search(question)), "")


def asked_part(question: str) -> str:
    """Return what a question asks for: its last sentence from the first question word on, or all of that sentence.

    What stands before (“X won her seat because somebody gave it up. Who ...”) leads there.
    """
    spans = sentences(question)
    last = question[slice(*spans[-1])] if spans else question
    found = _QUESTION_WORD.search(last)
    return last[found.start() :] if found else last


def fits(kind: str, question: str, sentence: str) -> bool:
    """Tell whether a sentence holds something of the kind asked for that the question does not say itself."""
    if kind == "time":
        return bool(_DATE.search(sentence))
    if kind == "count":
        return bool(set(numbers(sentence)) - set(numbers(question)))
    said = fold(question)
    return kind == "name" and any(fold(n) not in said for n in names(sentence))


def rank(question: str, strips: Sequence[Strip], idf: Idf, chain: Chain | None = None) -> list[Extract]:
    """Order the sentences of the strips by how well they answer.

    A sentence is read with its title. Its score adds: coverage by rarity of the question and of what it asks for, the
    cosine, the strip's own relevance, and the kind of thing asked for. Where items lead to one another, the answer
    stands at the end: in an item that the best ones name rather than in one that led on, and beside the words that
    those lack.
    """
    chain = chain or Chain()
    asked = asked_part(question)
    wanted, kind = content_terms(question), answer_type(asked) or answer_type(question)
    spans = [(s, a, b) for s in strips for a, b in _asked_for(s, set(wanted))]
    spans = [(s, a, b) for s, a, b in spans if _says(s["text"][a:b], s["title"], question)]
    if not spans:
        return []
    texts = [tables.told(s["text"], a, b) for s, a, b in spans]
    cosine = encoder().texts(texts) @ encoder().queries([question])[0]
    out: list[Extract] = []
    for i, (strip, a, b) in enumerate(spans):
        said = texts[i] if _ATTRIBUTED.search(question) else spoken(texts[i], question)
        have = frozenset(terms(f"{strip['title']} {said}"))
        value = (1 - ASKED_WEIGHT) * _share(wanted, have, idf) + ASKED_WEIGHT * _share(content_terms(asked), have, idf)
        value += COSINE_WEIGHT * float(cosine[i]) + STRIP_WEIGHT * strip["score"]
        value += FIT_WEIGHT * fits(kind, question, texts[i])
        value += NAMED_WEIGHT * (strip["evidence"] in chain.named) + LED_WEIGHT * (strip["evidence"] in chain.led)
        value += OPEN_WEIGHT * _share(chain.open, have, idf)
        out.append(Extract(strip, a, b, value, have & set(wanted)))
    return sorted(out, key=lambda e: (-e.score, e.strip["id"], e.start))


def parts_of(strip: Strip) -> list[tuple[int, int]]:
    """Return [start, end) of the sentences and rows of a strip; in a recording, of what stands for a sentence there."""
    text = strip["text"]
    if strip["locator"].get("kind") == "time":
        return pieces(text)
    return [(a, b) for a, b in tables.spans(text) if not tables.is_heads(text, a, b)]


def _asked_for(strip: Strip, wanted: set[str]) -> list[tuple[int, int]]:
    """Leave out the rows of a table whose cells hold less of what is wanted than those of another row.

    The heads of the columns are common to all rows; what tells them apart is which of them is asked for.
    """
    text, parts = strip["text"], parts_of(strip)
    rows = {(a, b): wanted & set(terms(text[a:b])) for a, b in parts if tables.is_row(text[a:b])}
    return [p for p in parts if p not in rows or not any(rows[p] < other for other in rows.values())]


def _says(sentence: str, title: str, question: str) -> bool:
    """Tell whether a sentence says more than its title does: headings and page titles stand in texts as sentences."""
    plain = spoken(sentence, question)
    said = words(plain)
    if plain != sentence and len(content_terms(plain)) < 2:
        return False
    least = 2 if tables.is_row(sentence) or ": " in sentence else 3
    return len(said) >= least and not set(said) <= set(words(title)) and not _HEADING.fullmatch(sentence.strip())


def _share(wanted: Iterable[str], have: frozenset[str], idf: Idf) -> float:
    weights = {t: idf(t) for t in wanted}
    total = sum(weights.values())
    return sum(w for t, w in weights.items() if t in have) / total if total else 0.0


def choose(ranked: Sequence[Extract], question: str, idf: Idf, limit: int) -> list[Extract]:
    """Return the few sentences that answer together, each text once, in reading order.

    After the best sentence, each next one earns what it covers of the question that is still uncovered, and a little
    for going on where a chosen one ends; the choice ends where nothing comes within WITHIN of the best.
    """
    if not ranked:
        return []
    total = sum(idf(t) for t in content_terms(question)) or 1.0
    flow = 0.0 if answer_type(question) else NEXT_WEIGHT
    kept = {fold(ranked[0].text): ranked[0]}
    covered = set(ranked[0].covers)

    def worth(e: Extract) -> float:
        gap = len(e.strip["text"][: e.start].rstrip())
        follows = (e.strip["id"], gap) in {(k.strip["id"], k.end) for k in kept.values()}
        return e.score + NEW_WEIGHT * sum(idf(t) for t in e.covers - covered) / total + flow * follows

    while len(kept) < limit:
        near = [(worth(e), e) for e in ranked if fold(e.text) not in kept]
        value, best = max(near, key=lambda row: row[0], default=(0.0, None))
        if best is None or value < ranked[0].score - WITHIN:
            break
        kept[fold(best.text)] = best
        covered |= best.covers
    # Reading order within an item; items in the order of their best sentence.
    first: dict[str, int] = {}
    for n, e in enumerate(kept.values()):
        first.setdefault(e.strip["evidence"], n)
    return sorted(kept.values(), key=lambda e: (first[e.strip["evidence"]], _offset(e.strip), e.start))


def _offset(strip: Strip) -> int:
    return int(strip["id"].rsplit("#", 1)[1].split("-")[0])


def with_context(chosen: Sequence[Extract], limit: int) -> list[Extract]:
    """Put the sentence before it in front of each chosen one that leans on it, as far as the limit allows.

    “They are treated in these devices” tells a reader nothing; the sentence before it names them.
    """
    taken = {(e.strip["id"], e.start) for e in chosen}
    room = limit - len(chosen)
    out: list[Extract] = []
    for e in chosen:
        spans = sentences(e.strip["text"])
        at = next((n for n, (a, _) in enumerate(spans) if a == e.start), 0)
        if at and room > 0 and _LEANS.search(e.text) and (e.strip["id"], spans[at - 1][0]) not in taken:
            out.append(replace(e, start=spans[at - 1][0], end=spans[at - 1][1]))
            room -= 1
        out.append(e)
    return out


def with_premise(
    chosen: Sequence[Extract], ranked: Sequence[Extract], led: Set[str], question: str, limit: int
) -> list[Extract]:
    """Put the sentence that led to the end of a chain in front of it, so that a reader can follow.

    It is the best one of an item that led on which names what a chosen sentence or its title speaks of and the question
    does not. Where there is no room, nothing is added.
    """
    if not 0 < len(chosen) < limit or any(e.strip["evidence"] in led for e in chosen):
        return list(chosen)
    said = fold(question)
    ends = fold(" ".join(f"{e.strip['title']} {e.text}" for e in chosen))
    for e in ranked:
        if e.strip["evidence"] in led and any(fold(n) in ends and fold(n) not in said for n in names(e.text)):
            return [e, *chosen]
    return list(chosen)
