"""The sentences of the evidence in the order of how well they answer a question, each read with its subject."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache

from ragweave.corpora.types import Locator
from ragweave.corpora.video.utterances import pieces
from ragweave.minds.chain import Chain
from ragweave.minds.evidence import Strip
from ragweave.minds.small.answer.alike import LIKE, stand_ins
from ragweave.minds.small.answer.hostile import harmless
from ragweave.minds.small.answer.reading import ASKS, Read, person_of, run_in, sections
from ragweave.minds.small.question.asked import CALENDAR, Asked, Idf, asked_of, asked_part, cases, share
from ragweave.minds.small.question.likes import LIGHT, likes
from ragweave.models import tables
from ragweave.models.embed import encoder
from ragweave.models.text import content_terms, fold, names, terms, words

_HEADING = re.compile(r"(?=[A-Z])(?:[^\W\d]+[\s'’-]+){0,7}[^\W\d]+")
"""A few words without a full stop or a number, begun with a capital: a heading that stands in the text as a line."""
_FURNITURE = re.compile(
    r"^(?:from|to|cc|bcc|reply-to|sent|message-id|subject|von|an|betreff|de|à|objet): .*@|^(?:subject|betreff|objet): "
    r"|^(?:dear|hello|hi|liebe[rs]?|sehr geehrte[rs]?|hallo|cher|chère|bonjour|querid[oa]|estimad[oa])\b[^.:]{0,60},$"
    r"|^(?:kind |best |warm )?regards\b"
    r"|^(?:yours|cheers|many thanks|mit freundlichen grüßen|cordialement)\b(?:[^.]|(?<=\b[A-Z])\.){0,40}$"
    r"|^>*\s*(?:on|am|le) .{6,80} (?:wrote|schrieb|a écrit):?|^[^.!?]*(?:[·|»>] [^.!?·|»>]{1,30}){3,}",
    re.I,
)
"""Heads of mails, the line above a quoted one, menus and footers."""
_INLINE = re.compile(r"(?<=\S)\s+(?=[A-Z][a-z'’]*(?: [a-z'’]+){0,3}: \S)")
"""Before a label that names what follows it, where several stand in one paragraph."""
COSINE, STRIP, FIT, NAMED, LED, OPEN = 0.75, 0.35, 0.4, 0.8, -0.4, 0.5
"""What counts beside coverage: the meaning, the relevance of the strip, a value of the kind asked for, standing in an
item that a best one names, or in one that led on, and the words of the question that those that led on lack."""
COMPOUND, _WORD = 0.9, 4
"""What a word counts that stands in a compound of a question's own language, and letters it has more than."""
LEAD = 0.3
"""What the first sentence under a title that covers the question counts more; the second half of it, and so on."""
FOREIGN = 1.5
"""Where the question is not English its function words and endings, which are not known, cannot be asked for."""
SURE = 0.3
"""What the log odds that a sentence answers count for its order."""
WHOLE, HALF = 0.9, 0.4
"""Share of subject and slot that a sentence in another language, or in other words, must hold to answer whatever its
relevance."""
SWAPPED = 0.5
"""What the part of a question counts for the order that a sentence says in other words."""
FAINT = 0.4
"""What a word that says little counts of its rarity: a small library lacks it by chance, and it is rare there."""
LINKED, GAIN, ALONE = 8, 0.1, 0.1
"""Best sentences that are read two at a time, how much more of the question two must cover together, and how much the
first holds of the slot."""


@dataclass(frozen=True)
class Extract:
    """One sentence that may answer.

    Attributes:
        strip: the strip it stands in.
        start: first character in the strip's text.
        end: one past the last character.
        score: order among the sentences.
        covers: content terms of the question that the sentence with its subject holds.
        signs: what says that it answers, see `SIGNS`.
        before: [start, end) of the sentence that it leans on, or empty.
        partner: the sentence of another item that it is linked with by a name, and that says what it lacks.
    """

    strip: Strip
    start: int
    end: int
    score: float
    covers: frozenset[str]
    signs: tuple[float, ...] = ()
    before: tuple[int, int] | None = None
    partner: Extract | None = None

    @cached_property
    def text(self) -> str:
        """The sentence as an answer says it."""
        return _plain(tables.told(self.strip["text"], self.start, self.end))

    @property
    def told(self) -> str:
        """The sentence with its subject: what it leans on before it, or its heading before a piece of a list."""
        text = self.text
        if self.before is not None:
            return f"{_plain(tables.told(self.strip['text'], *self.before))} {text}"
        head = self.strip["title"].split(" · ")[-1]
        if (person := person_of(self.strip)) and not set(terms(person)) & set(terms(text)):
            return f"{person}: {text}"
        whole = text.endswith((".", "!", "?", "。", "！", "？", "”"))
        return text if whole or not head or set(terms(head)) <= set(terms(text)) else f"{head}: {text}"

    @property
    def quoted(self) -> str:
        """The sentence as it is told behind its title, which is not said twice."""
        return self.told.removeprefix(f"{self.strip['title'].split(' · ')[-1]}: ")

    @property
    def narrowed(self) -> Strip:
        """The strip, cut down to the sentence."""
        offset = (self.strip["locator"].get("chars") or [0])[0]
        place: Locator = {**self.strip["locator"], "chars": [offset + self.start, offset + self.end]}
        return Strip(**{**self.strip, "text": self.strip["text"][self.start : self.end], "locator": place})

    @property
    def odds(self) -> float:
        """How likely it is that this answers, as log odds."""
        return BIAS + sum(w * s for w, s in zip(WEIGHTS, self.signs, strict=True))

    @property
    def sure(self) -> float:
        """The same in [0, 1]."""
        return 1 / (1 + math.exp(-self.odds))


SIGNS = ("subject", "slot", "both", "fit", "cosine", "strip", "best", "label", "partner")
WEIGHTS = (-0.24, 0.35, 2.36, 0.89, 1.42, 0.53, 0.51, -0.53, 2.37)
BIAS = -2.75


def _plain(told: str) -> str:
    """Return a sentence without marks of quoting, links and pictures; what a link is called stays."""
    return re.sub(r"(?:^| )>+(?= )", "", _LINK.sub(r"\1", told)).strip()


_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*(?:\s[^)]*)?\)")


def rank(
    question: str,
    strips: Sequence[Strip],
    rarity: Idf,
    chain: Chain | None = None,
    best: float | None = None,
    rows: bool = False,
) -> list[Extract]:
    """Order the sentences of the strips by how well they answer.

    A sentence is read with its title and with what it leans on. Its score adds: coverage by rarity of the question and
    of what it asks for, the cosine, the strip's own relevance, and the kind of thing asked for. Where items lead to one
    another, the answer stands at the end: in an item that the best ones name rather than in one that led on, and beside
    the words that those lack. Rows of several short cells are read where a description is looked for (`rows`); what
    they answer by themselves, the tables tell.
    """
    chain = chain or Chain()

    @cache
    def idf(term: str) -> float:
        return rarity(term) * (FAINT if term in LIGHT else 1.0)

    cased = cases(s["text"] for s in strips)
    asked = asked_of(question, cased)
    wanted, part = content_terms(question), content_terms(asked_part(question))
    every = frozenset(wanted)
    read = [r for s in strips for part in sections(s) for r in _candidates(part, s["text"], question, every, rows)]
    if not read:
        return []
    cosine = encoder().texts([r.read for r in read]) @ encoder().queries([question])[0]
    alike = likes(question)
    near, listed = stand_ins(asked, read), {t: s for t, s in alike.items() if t in asked.slot}
    best = max((s["score"] for s in strips), default=-1.0) if best is None else best
    out: list[tuple[Extract, Read]] = []
    for r, cos in zip(read, cosine, strict=True):
        # The head of a column is no name of anybody.
        held = r.strip["text"][r.start : r.end] if asked.kind in ("person", "name") else r.told
        fit = asked.fits(f"{person_of(r.strip)} {held}" if asked.kind == "person" else held)
        if 0 < fit < 1 and alike.get(asked.counted, frozenset()) & r.own:
            fit = 1.0
        swapped = {t for t, held in listed.items() if held & r.have and r.level(t) < LIKE}
        value = 0.5 * share(wanted, r.have, idf) + 0.5 * share(part, r.have, idf)
        value += SWAPPED * share(wanted, swapped, idf)
        value += COSINE * float(cos) + STRIP * r.strip["score"] + FIT * fit
        value += NAMED * (r.strip["evidence"] in chain.named) + LED * (r.strip["evidence"] in chain.led)
        value += OPEN * share(chain.open, r.have, idf)
        # Where the title says all that is asked, its sentences are alike in that, and a text sums itself up first.
        value += LEAD / (1 + r.at) if not asked.kind and wanted and every <= r.title else 0.0
        signs, covers = _signs(asked, every, r, fit, float(cos), idf, near)
        top = best
        if (r.abroad and signs[2] >= WHOLE) or (swapped and fit == 1 and signs[2] >= HALF):
            # Relevance is read in the question's words: of a text in another language, or in others, it tells nothing.
            signs, top = (*signs[:-1], max(signs[-1], 0.0)), max(best, 0.0)
        signs = (*signs, top, (1 - signs[2]) * r.piece, 0.0)
        before = r.before if r.leans else None
        out.append((Extract(r.strip, r.start, r.end, value, covers, signs, before), r))
    # A document stands beside its own paragraphs: each sentence of a file counts once, under its nearest heading, and
    # as relevant as its paragraph is.
    whole = {id(s) for s in strips}
    once: dict[tuple[str, str], tuple[Extract, Read]] = {}
    for row in sorted(out, key=lambda row: (len(row[0].strip["title"]), id(row[0].strip) in whole)):
        once[row[1].strip["locator"].get("file", row[1].strip["evidence"]), fold(row[1].told)] = row
    out = sorted(once.values(), key=lambda row: (-row[0].score, row[0].strip["id"], row[0].start))
    ranked = [e for e, _ in out]
    ranked = [*_linked(asked, wanted, ranked[:LINKED], idf, cased[1]), *ranked[LINKED:]]
    ranked = [replace(e, score=e.score + SURE * e.odds) for e in ranked]
    return sorted(ranked, key=lambda e: (-e.score, e.strip["id"], e.start))


def _linked(asked: Asked, wanted: Sequence[str], best: Sequence[Extract], idf: Idf, lower: Set[str]) -> list[Extract]:
    """Give each of the best sentences its partner, where two that share a name cover more than each by itself.

    A name that is said in the question or that both have in their titles, or a word that the evidence writes without a
    capital as well, joins nothing. Who is only named beside a value does not share it.
    """
    said = fold(asked.question)
    titles = [frozenset(terms(e.strip["title"])) for e in best]
    told = [f"{e.told} {e.strip['title']}" for e in best]
    have = [set(terms(t)) for t in told]
    named = [
        [t for n in names(x) if len(n) > 3 and fold(n) not in said and (t := set(content_terms(n))) and not t <= lower]
        for x in told
    ]
    out: list[Extract] = []
    for i, e in enumerate(best):
        alone = share(wanted, e.covers, idf)
        able = [
            (share(wanted, e.covers | o.covers, idf) - alone, len(have[i] & have[j]), -j)
            for j, o in enumerate(best)
            if o.strip["evidence"] != e.strip["evidence"]
            and (o.covers & asked.slot or e.covers & asked.subject)
            and any(n <= have[b] and not n <= titles[a] & titles[b] for a, b in ((i, j), (j, i)) for n in named[a])
        ]
        gain, _, j = max(able, default=(0.0, 0, 0))
        if gain >= GAIN and e.signs[1] >= ALONE:
            e = replace(e, partner=best[-j], signs=(*e.signs[:-1], gain))
        out.append(e)
    return out


def _signs(
    asked: Asked, wanted: Set[str], r: Read, fit: float, cosine: float, idf: Idf, near: dict[str, dict[str, float]]
) -> tuple[tuple[float, ...], frozenset[str]]:
    def level(term: str) -> float:
        found = 1.0 if fit == 1.0 and term in asked.implied else r.level(term)
        if asked.foreign and found < COMPOUND and len(term) > _WORD and any(term in t for t in r.own):
            found = COMPOUND  # “Temperatur” in “Höchsttemperatur”
        if found < 0.8 and term in near:
            found = max(found, max((v for t, v in near[term].items() if t in r.have), default=0.0))
        return found

    def covered(of: Iterable[str]) -> float:
        rows = [(idf(t), level(t)) for t in of]
        total = sum(w for w, _ in rows)
        return sum(w * v for w, v in rows) / total if total else 1.0

    subject, slot = covered(asked.subject or asked.slot), covered(asked.slot)
    if asked.foreign:
        subject, slot = min(1.0, FOREIGN * subject), min(1.0, FOREIGN * slot)
    covers = frozenset(t for t in wanted & (asked.subject | asked.slot | r.have) if level(t) >= 0.8)
    return (subject, slot, subject * slot, fit, cosine, r.strip["score"]), covers


def parts_of(strip: Strip) -> list[tuple[int, int]]:
    """Return [start, end) of the sentences and rows of a strip; in a recording, of what stands for a sentence there."""
    return _pieces(strip["text"]) if strip["locator"].get("kind") == "time" else _parts(strip["text"])


_pieces = lru_cache(maxsize=1_000)(pieces)


@lru_cache(maxsize=1_000)
def _parts(text: str) -> list[tuple[int, int]]:
    """Part a text; the last ones are kept, because each step of a question reads them again."""
    found = [(a, b) for a, b in tables.spans(text) if not tables.is_heads(text, a, b)]
    return [p for a, b in found for p in _labels(text, a, b)]


def _labels(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Part a sentence that is several labels with their values before each label."""
    cuts = [(m.start(), m.end()) for m in _INLINE.finditer(text, start, end)]
    if not cuts or ": " not in text[start : cuts[0][0]]:
        return [(start, end)]
    edges = [start, *(x for cut in cuts for x in cut), end]
    return list(zip(edges[::2], edges[1::2], strict=True))


def _candidates(strip: Strip, around: str, question: str, wanted: Set[str], headed: bool) -> list[Read]:
    """Return the sentences of a section that say something; `around` is the text that it stands in.

    Of a table those rows are left out whose cells hold less of what is wanted than those of another row: the heads of
    the columns are common to all rows; what tells them apart is which of them is asked for. So it is with lines that
    days label. What only asks, a mail or the head of a part, answers nothing.
    """
    text, parts = strip["text"], parts_of(strip)
    rows = {(a, b): wanted & set(terms(text[a:b])) for a, b in parts if tables.is_row(text[a:b])}
    dated = {p: CALENDAR & set(terms(text[slice(*p)].partition(":")[0])) for p in parts if ": " in text[slice(*p)]}
    rows |= {p: wanted & days for p, days in dated.items() if days}
    able = {p for p in harmless(text, parts) if p not in rows or not any(rows[p] < other for other in rows.values())}
    if strip["locator"].get("kind") != "time" and not _OF_ASKING.search(question):
        able -= {p for p in able if ASKS.search(text[slice(*p)])}
    heads = {a for a, b in parts if text[b : b + 1] == " " and run_in(text[a:b])}
    found = [Read(strip, n, parts, question, around) for n, p in enumerate(parts) if p in able and p[0] not in heads]
    return [
        r
        for r in found
        if _says(text[r.start : r.end], r.said, strip["title"], headed and tables.has_heads(text, r.start))
    ]


_OF_ASKING = re.compile(r"\b(?:ask\w*|questions?|demand\w*|frag\w*|wonder\w*|pregunt\w*)|问", re.I)
_PRICE = re.compile(r"[€$£¥] ?\d|\d ?[€$£¥]")


def _says(sentence: str, said_in_it: str, title: str, headed: bool) -> bool:
    """Tell whether a sentence says more than its title does: headings and page titles stand in texts as sentences.

    A row under the heads of columns is no menu, however short its cells are.
    """
    plain = sentence if re.search(r"\d", sentence) else said_in_it
    said = words(plain)
    if plain != sentence and len(content_terms(plain)) < 2:
        return False
    least = 2 if tables.is_row(sentence) or ": " in sentence or _PRICE.search(sentence) else 3
    bare = not headed and (_HEADING.fullmatch(sentence.strip()) or _FURNITURE.search(sentence))
    return len(said) >= least and not set(said) <= set(words(title)) and not bare
