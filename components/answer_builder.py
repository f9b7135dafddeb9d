"""The page that a writer writes on: checked sentences, and references that are exact and inside their evidence."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from ragweave.components.evidence import Citation, Evidence, Sentence, Strip, Support
from ragweave.components.knowledge import CheckResult
from ragweave.components.passages import as_strip, best_sentence, headed
from ragweave.components.phrases import as_heard
from ragweave.corpora.types import Item, Locator
from ragweave.corpora.video.places import seconds
from ragweave.models.text import sentences, terms

SECOND = 0.6
"""Confidence of a sentence that only a second opinion verifies."""
COPIED = 1.0
"""Score of a sentence that stands in its evidence; of any other the local check cannot tell whose value it gives."""
CLEAR = 0.85
"""Score from which what stands elsewhere shows that a writer named the wrong document."""
NEAREST = 2
"""Places that are cited where nothing answers."""
_QUOTED = 500
"""Characters of a quote, at most."""
SLACK = 1.0
"""Seconds that a time in prose may lie outside its evidence: writers round."""
_CLOCK = re.compile(r"(?<![\d:.,])(?:(\d{1,2}):)?(\d{1,3}):([0-5]\d)(?![\d:])")


class Claim(NamedTuple):
    """A sentence of a chat model: what the check says of it, what it rests on and how well, what judges it.

    `named` is what the model says that it rests on, where the check found it in something else.
    """

    text: str
    support: Support
    rests: tuple[Strip, ...]
    score: float
    seen: tuple[Strip, ...] = ()
    sign: str = ""
    named: tuple[Strip, ...] = ()


class AnswerBuilder:
    """Where a writer writes: each sentence is shown as it passes its check, and never taken back.

    Args:
        check: judges whether strips support a sentence.
        emit: shows a sentence with the citations it rests on.
        rows: evidence of the turn, by id.
        second: gives a second opinion on what the check doubts, all at once.
        strict: what a chat model wrote is left out where it is not verified.
        every: the second opinion is asked for on all that does not stand in the evidence word for word.
        checked: false shows what a chat model wrote as it is, with the sources that it names.
        items: clips and pictures that strips were cut from: their spans give the seconds, or the box, of a sentence.

    Attributes:
        sentences: what was shown.
        citations: what it rests on, numbered.
        dropped: sentences that were left out.
        named: what the last line that a chat model wrote is said to rest on.
    """

    def __init__(
        self,
        check: Callable[[str, Sequence[Strip]], Awaitable[CheckResult]],
        emit: Callable[[Sentence, list[Citation]], None],
        rows: Mapping[str, Evidence],
        items: Mapping[str, Item],
        second: Callable[[Sequence[Claim]], Awaitable[list[Support]]] | None = None,
        strict: bool = False,
        every: bool = False,
        checked: bool = True,
    ) -> None:
        self.sentences: list[Sentence] = []
        self.citations: list[Citation] = []
        self.dropped = 0
        self.named: Sequence[Strip] = ()
        self._check, self._emit, self._rows, self._items = check, emit, rows, items
        self._second, self._strict, self._every, self._checked = second, strict, every, checked
        self._waiting: list[Claim] = []
        self._frames: list[Claim] = []

    async def tell(self, text: str, named: Sequence[Strip], known: Sequence[Strip], sign: str = "") -> None:
        """Show what a chat model wrote, marked with what the check says of it; what was said is not said again.

        Args:
            text: the sentence.
            named: what it is said to rest on.
            known: all that the model was shown.
            sign: what makes it an item of a list, or a row.
        """
        shown = {*(s.text for s in self.sentences), *(c.text for c in self._waiting)}
        if sign != "|" and not shown.isdisjoint((text, as_heard(text, {"doubtful": True}))):
            return
        if not self._checked:
            self._put(Claim(text, "unchecked", tuple(named), 0.0, sign=sign))
            return
        claim = Claim(text, "unverified", tuple(named), 0.0, self._headed(named or known), sign)
        for strips in filter(None, (named, known)):
            checked = await self._check(text, self._headed(strips))
            by = [strips[i] for i in checked.by]
            if not checked.supported or not times_agree(text, by):
                continue
            rests = tuple(sorted(by[:2], key=strips.index))
            claim = Claim(text, "verified", rests, checked.score, self._headed(strips), sign)
            if named and strips is not named and checked.score < CLEAR:
                # Some words of it stand in many a document.
                claim = claim._replace(seen=self._headed((*named, *by[:2])), named=tuple(named))
            break
        self._add(claim)

    def frame(self, text: str, sign: str = "") -> None:
        """Show a line that only frames what is told, with what it frames: nothing in it is checked, or cited."""
        self._add(Claim(text, "unchecked", (), 0.0, sign=sign))

    @property
    def last(self) -> str | None:
        """The sign of what was told last, None where nothing was."""
        signs = [s.sign for s in self.sentences] + [c.sign for c in (*self._frames, *self._waiting)]
        return signs[-1] if signs else None

    def _add(self, claim: Claim) -> None:
        # Nothing is shown before what was written before it.
        if self._waiting or self._doubted(claim):
            self._waiting.append(claim)
        else:
            self._put(claim)

    def _doubted(self, claim: Claim) -> bool:
        if self._second is None or claim.support == "unchecked":
            return False
        return claim.score < COPIED if self._every else claim.support != "verified" or bool(claim.named)

    def _headed(self, strips: Sequence[Strip]) -> tuple[Strip, ...]:
        """Return strips under the titles that a model reads, with file and date."""
        rows = self._rows
        return tuple(Strip(**{**s, "title": headed(s["title"], rows.get(s["evidence"]))}) for s in strips)

    async def close(self) -> None:
        """Show what waits for a second opinion."""
        doubted = [c for c in self._waiting if self._doubted(c)]
        if doubted and self._second is not None:
            said = iter(await self._second(doubted))
            self._waiting = [_heard(c, next(said)) if self._doubted(c) else c for c in self._waiting]
        for claim in self._waiting:
            self._put(claim)
        self._waiting = []
        if self.sentences:
            self._show_frames()

    def _show_frames(self) -> None:
        frames, self._frames = self._frames, []
        for claim in frames:
            self.show(claim.text, "unchecked", [], 0.0, sign=claim.sign)

    def _put(self, claim: Claim) -> None:
        if self._checked and claim.support == "unchecked":
            self._frames.append(claim)
            return
        sources = [s for s in claim.rests if s["origin"] != "model"]
        support = "model" if claim.support != "contradicted" and claim.rests and not sources else claim.support
        if support == "contradicted" or (support in ("unverified", "model") and self._strict):
            self.dropped += 1
        else:
            score = (claim.score or SECOND) if support == "verified" else 0.0
            self._show_frames()
            self.show(claim.text, support, sources, score, claim.text, claim.sign)

    def tell_unsourced(self, text: str, sign: str = "") -> None:
        """Show what a chat model wrote with nothing before it that it could rest on."""
        if self._strict:
            self.dropped += 1
        else:
            self._show_frames()
            self.show(text, "model", [], 0.5, sign=sign)

    def show(
        self, text: str, support: Support, rests: Sequence[Strip], confidence: float, about: str = "", sign: str = ""
    ) -> None:
        """Show a sentence that needs no check; of what it rests on, the part nearest to `about` is quoted, or all.

        Nothing else shows sentences, so that here is marked what rests on speech of which a recogniser was not sure.
        """
        quoted = [(s, best_sentence(about, s["text"]) if about else s["text"]) for s in rests]
        used = {c.n: c for c in (self._cite(*q) for q in quoted)}
        text = as_heard(text, next((c.locator for c in used.values() if c.locator.get("doubtful")), Locator()))
        sentence = Sentence(
            text=text, support=support, citations=tuple(used), confidence=round(confidence, 3), sign=sign
        )
        self.sentences.append(sentence)
        self._emit(sentence, list(used.values()))

    def quote(self, text: str, strip: Strip, marked: tuple[int, int]) -> None:
        """Show a quote, its best sentence marked; its citation opens the place of that sentence, which `strip` is."""
        cited = self._cite(strip, strip["text"])
        sentence = Sentence(text=text, support="quoted", citations=(cited.n,), sign=">", marked=marked)
        self.sentences.append(sentence)
        self._emit(sentence, [cited])

    def note(self, strip: Strip) -> Citation:
        """Cite what came closest, where no sentence is shown."""
        text = strip["text"]
        spans = sentences(text) if len(text) > _QUOTED else []
        a, b = max(spans, key=lambda s: len(set(terms(text[slice(*s)]))), default=(0, len(text)))
        return self._cite(strip, text[a:b])

    def nearest(self) -> None:
        """Cite the best of what was found, where no sentence is shown and nothing came close."""
        best = sorted(self._rows.values(), key=lambda e: (-e.get("global_score", 0.0), -e["relevance"], e["id"]))
        for row in best[:NEAREST]:
            self.note(as_strip(row))

    def _cite(self, strip: Strip, words: str) -> Citation:
        place = exact(strip, words, self._items.get(strip["evidence"]))
        for c in self.citations:
            if c.id == strip["evidence"] and c.locator == place:
                return c
        made = Citation(
            n=len(self.citations) + 1,
            id=strip["evidence"],
            title=strip["title"],
            locator=place,
            quote=words[:_QUOTED],
            also=tuple(strip.get("also") or self._rows.get(strip["evidence"], strip).get("also", ())),
            origin="web" if strip["origin"] == "web" else "library",
        )
        self.citations.append(made)
        return made


def _heard(claim: Claim, opinion: Support) -> Claim:
    """Return a claim as a second opinion leaves it.

    Who cannot tell takes nothing back that the check found.
    """
    if opinion == "unverified" and claim.support == "verified":
        return claim
    return claim._replace(support=opinion, rests=claim.named or claim.rests)


def exact(strip: Strip, words: str, item: Item | None) -> Locator:
    """Return the locator of a strip, narrowed to the words that a sentence rests on in recordings and pictures.

    The item's spans give the seconds, or the box. A place that would lie outside the item is not believed: the strip's
    own counts.
    """
    locator = strip["locator"]
    at = strip["text"].find(words)
    if item is not None and locator.get("kind") not in ("time", "image"):
        # Rows of a table, or lines of a list, may read alike: the strip's own comes first.
        start = item.text.find(words, (locator.get("chars") or [0])[0])
        start = item.text.find(words) if start < 0 else start
        return item.locate(start, start + len(words)) if start >= 0 and words else locator
    if item is None or locator.get("kind") not in ("time", "image") or at < 0:
        return locator
    start = (locator.get("chars") or [0])[0] + at
    end = start + len(words)
    if item.text[start:end] != words:
        return locator
    found = item.locate(start, end)
    return found if locator["kind"] == "image" or lies_in(found, item.locator) else locator


def lies_in(locator: Locator, evidence: Locator) -> bool:
    """Tell whether a place in a recording lies inside its evidence: the same file, within its seconds."""
    start, end = locator.get("start"), locator.get("end")
    low, high = evidence.get("start"), evidence.get("end")
    if locator.get("file") != evidence.get("file") or start is None or end is None or low is None or high is None:
        return False
    return low - SLACK <= start <= end <= high + SLACK


def times_in(text: str) -> list[tuple[str, float]]:
    """Return the clock times that a text names, as written and in seconds."""
    return [(m.group(), seconds(*m.groups())) for m in _CLOCK.finditer(text)]


def times_agree(text: str, strips: Sequence[Strip]) -> bool:
    """Tell whether each clock time of a sentence stands in its evidence, or lies within the seconds of it."""
    spans = [(s["locator"].get("start"), s["locator"].get("end")) for s in strips]
    return all(
        any(written in s["text"] for s in strips)
        or any(a is not None and b is not None and a - SLACK <= at <= b + SLACK for a, b in spans)
        for written, at in times_in(text)
    )
