"""The page that a writer writes on: sentences with their marks, and what each of them rests on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ragweave.components.evidence import Citation, Evidence, Sentence, Strip, Support
from ragweave.components.knowledge import CheckResult, Opinion
from ragweave.components.passages import as_strip, best_sentence, headed
from ragweave.components.phrases import as_heard
from ragweave.components.references import exact, times_agree
from ragweave.corpora.types import Item, Locator
from ragweave.models.text import clip, sentences, terms

SECOND = 0.6
"""Confidence of a sentence that only a second opinion verifies."""
COPIED = 1.0
"""Score of a sentence that stands in its evidence word for word."""
NEAREST = 2
"""Places that are cited where nothing answers."""
_QUOTED = 500
"""Characters of a quote, at most."""
_SAYS = 300
"""Characters of what a source says against a sentence, at most."""

Quoted = tuple[Strip, str]
"""A strip, and the words of it that are cited."""


class Claim(NamedTuple):
    """A sentence of a chat model.

    Attributes:
        text: the sentence.
        support: what the local check says of it; `unchecked` for a line that only frames.
        rests: what it is cited to so far: the window that verified it, or what the model names.
        score: how well the window holds it.
        named: what the model says that it rests on, under the titles that a model reads.
        known: all that the model was shown, likewise.
        sign: what makes it an item of a list, or a row.
        doubted: a second opinion judges it.
        n: its number in the answer, from 1; 0 while it is not shown.
    """

    text: str
    support: Support
    rests: tuple[Quoted, ...] = ()
    score: float = 0.0
    named: tuple[Strip, ...] = ()
    known: tuple[Strip, ...] = ()
    sign: str = ""
    doubted: bool = False
    n: int = 0


class AnswerBuilder:
    """Where a writer writes: sentences are shown as they come and never taken back; marks of some arrive later.

    Args:
        check: judges without a model whether strips support a sentence.
        emit: shows a sentence with the citations it rests on.
        rows: evidence of the turn, by id.
        items: clips and pictures that strips were cut from: their spans give the seconds, or the box, of a sentence.
        second: gives an opinion on what the check doubts, all at once; it is given the whole answer.
        mark: shows the mark of a sentence that was shown before it was judged, by its number.
        strict: what a chat model wrote is shown only once it is verified.
        every: the second opinion is asked for on all that does not stand in the evidence word for word.
        checked: false shows what a chat model wrote as it is, with the sources that it names.

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
        second: Callable[[Sequence[Claim]], Awaitable[list[Opinion]]] | None = None,
        mark: Callable[[int, Sentence, list[Citation]], None] = lambda *_: None,
        strict: bool = False,
        every: bool = False,
        checked: bool = True,
    ) -> None:
        self.sentences: list[Sentence] = []
        self.citations: list[Citation] = []
        self.dropped = 0
        self.named: Sequence[Strip] = ()
        self._check, self._emit, self._mark, self._rows, self._items = check, emit, mark, rows, items
        self._second, self._strict, self._every, self._checked = second, strict, every, checked
        self._claims: list[Claim] = []
        self._frames: list[Claim] = []

    @property
    def refuted(self) -> bool:
        """Whether the evidence contradicts all that was said."""
        said = [s for s in self.sentences if s.support != "unchecked"]
        return bool(said) and all(s.support == "contradicted" for s in said)

    async def tell(self, text: str, named: Sequence[Strip], known: Sequence[Strip], sign: str = "") -> None:
        """Show what a chat model wrote, with its mark where the check has one; what was said is not said again.

        Args:
            text: the sentence.
            named: what it is said to rest on: nothing else verifies it without a second opinion.
            known: all that the model was shown.
            sign: what makes it an item of a list, or a row.
        """
        shown = {*(s.text for s in self.sentences), *(c.text for c in self._claims)}
        if sign != "|" and not shown.isdisjoint((text, as_heard(text, {"doubtful": True}))):
            return
        if not self._checked:
            self._put(Claim(text, "unchecked", _nearest(text, named), sign=sign), "unchecked")
            return
        memory = [s for s in (*named, *known) if s["origin"] == "model"]
        own, known = (self._headed(s for s in rows if s["origin"] != "model") for rows in (named, known or named))
        if not known or (named and not own):
            self.tell_unsourced(text, sign)
            return
        claim = Claim(text, "unverified", _nearest(text, own), 0.0, own, known, sign)
        read = own or known
        checked = await self._check(text, read)
        windows = checked.windows or ((0, 0),) * len(checked.by)
        by = [(read[i], window) for i, window in zip(checked.by[:2], windows, strict=False)]
        if checked.supported and times_agree(text, [strip for strip, _ in by]):
            rests = tuple((s, s["text"][slice(*at)] or best_sentence(text, s["text"])) for s, at in by)
            claim = claim._replace(support="verified", rests=rests, score=checked.score)
        elif memory and (await self._check(text, memory)).supported:
            self.tell_unsourced(text, sign)
            return
        doubted = claim.score < COPIED if self._every else claim.support != "verified"
        self._add(claim._replace(doubted=doubted and self._second is not None))

    def frame(self, text: str, sign: str = "") -> None:
        """Show a line that only frames what is told, with what it frames: nothing in it is checked, or cited."""
        self._add(Claim(text, "unchecked", sign=sign))

    @property
    def last(self) -> str | None:
        """The sign of what was told last, None where nothing was."""
        signs = [s.sign for s in self.sentences] + [c.sign for c in (*self._frames, *self._waiting)]
        return signs[-1] if signs else None

    @property
    def _waiting(self) -> list[Claim]:
        """Claims that are not shown before they are judged, or that come after such a one."""
        first = next((n for n, c in enumerate(self._claims) if self._strict and c.doubted), len(self._claims))
        return self._claims[first:]

    def _add(self, claim: Claim) -> None:
        self._claims.append(claim)
        if not self._waiting:
            self._claims[-1] = self._put(claim, "pending" if claim.doubted else claim.support)

    def _headed(self, strips: Iterable[Strip]) -> tuple[Strip, ...]:
        """Return strips under the titles that a model reads, with file and date."""
        rows = self._rows
        return tuple(Strip(**{**s, "title": headed(s["title"], rows.get(s["evidence"]))}) for s in strips)

    async def close(self) -> None:
        """Have all that is doubted judged in one go, and mark it."""
        waiting, claims, self._claims = self._waiting, self._claims, []
        if self._second is not None and any(c.doubted for c in claims):
            opinions = iter(await self._second(claims))
            judged = [_judged(c, next(opinions)) if c.doubted else c for c in claims]
        else:
            judged = claims
        for claim in judged[: len(judged) - len(waiting)]:
            if claim.doubted:
                self._remark(claim)
        for claim in judged[len(judged) - len(waiting) :]:
            self._put(claim, claim.support)
        if self.sentences:
            self._show_frames()

    def _show_frames(self) -> None:
        frames, self._frames = self._frames, []
        for claim in frames:
            self.show(claim.text, "unchecked", [], 0.0, sign=claim.sign)

    def _put(self, claim: Claim, support: Support) -> Claim:
        """Show a claim, and return it with its number; a frame goes with what it frames."""
        if self._checked and support == "unchecked":
            self._frames.append(claim)
        elif self._strict and support not in ("verified", "unchecked"):
            self.dropped += 1
        else:
            self._show_frames()
            self.show(claim.text, support, claim.rests, _confidence(claim, support), claim.sign, _says(claim, support))
            return claim._replace(n=len(self.sentences))
        return claim

    def _remark(self, claim: Claim) -> None:
        """Give a sentence that is shown its mark, and the citations that decided it.

        A citation that nothing else rests on keeps its number where the same passage decides, for it was shown.
        """
        before = self.sentences[claim.n - 1]
        others = {n for s in self.sentences if s is not before for n in s.citations}
        free = [n for n in before.citations if n not in others]
        used = {c.n: c for c in (self._cite(*q, free=free) for q in claim.rests)}
        marked = before.model_copy(
            update={
                "support": claim.support,
                "citations": tuple(used),
                "confidence": round(_confidence(claim, claim.support), 3),
                "says": _says(claim, claim.support),
            }
        )
        self.sentences[claim.n - 1] = marked
        self._mark(claim.n, marked, list(used.values()))

    def tell_unsourced(self, text: str, sign: str = "") -> None:
        """Show what a chat model wrote with nothing before it that it could rest on."""
        if self._strict:
            self.dropped += 1
        else:
            self._show_frames()
            self.show(text, "model", [], 0.5, sign)

    def show(
        self,
        text: str,
        support: Support,
        rests: Sequence[Quoted],
        confidence: float,
        sign: str = "",
        says: str = "",
    ) -> None:
        """Show a sentence that needs no check, with the words that it rests on.

        Nothing else shows sentences, so that here is marked what rests on speech of which a recogniser was not sure.
        """
        used = {c.n: c for c in (self._cite(*q) for q in rests)}
        text = as_heard(text, next((c.locator for c in used.values() if c.locator.get("doubtful")), Locator()))
        sentence = Sentence(
            text=text, support=support, citations=tuple(used), confidence=round(confidence, 3), sign=sign, says=says
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

    def _cite(self, strip: Strip, words: str, free: Sequence[int] = ()) -> Citation:
        place = exact(strip, words, self._items.get(strip["evidence"]))
        row = self._rows.get(strip["evidence"], strip)
        same = [c for c in self.citations if c.id == strip["evidence"]]
        for c in same:
            if c.locator == place and c.quote == words[:_QUOTED]:
                return c
        made = Citation(
            n=next((c.n for c in same if c.n in free), len(self.citations) + 1),
            id=strip["evidence"],
            title=row["title"],
            locator=place,
            quote=words[:_QUOTED],
            also=tuple(strip.get("also") or row.get("also", ())),
            origin="web" if strip["origin"] == "web" else "library",
        )
        self.citations[made.n - 1 : made.n] = [made]
        return made


def _nearest(text: str, strips: Sequence[Strip]) -> tuple[Quoted, ...]:
    """Return of each strip the part that is nearest to a sentence."""
    return tuple((s, best_sentence(text, s["text"])) for s in strips if s["origin"] != "model")


def _judged(claim: Claim, opinion: Opinion) -> Claim:
    """Return a claim as a second opinion leaves it.

    Who cannot tell takes nothing back that the check found.
    """
    if opinion.support == "unverified" and claim.support == "verified":
        return claim
    return claim._replace(support=opinion.support, rests=opinion.rests or claim.rests)


def _confidence(claim: Claim, support: Support) -> float:
    return (claim.score or SECOND) if support == "verified" else 0.0


def _says(claim: Claim, support: Support) -> str:
    """Return what the source of a contradicted claim says."""
    return clip(" ".join(claim.rests[0][1].split()), _SAYS) if support == "contradicted" and claim.rests else ""
