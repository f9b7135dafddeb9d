"""Where an answer is written: sentences with their sources, shown as they come, and their marks later."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ragweave.components.evidence import Citation, Evidence, Sentence, Strip, Support
from ragweave.components.passages import as_strip, best_sentence, headed
from ragweave.components.phrases import as_heard
from ragweave.components.references import exact
from ragweave.corpora.types import Item, Locator
from ragweave.models.text import clip, sentences, terms

NEAREST = 2
"""Places that are cited where nothing answers."""
_QUOTED = 500
"""Characters of a quote, at most."""
_SAYS = 300
"""Characters of what a source says against a sentence, at most."""
SHOWN_IF_STRICT: tuple[Support, ...] = ("verified", "computed")
"""Marks of the sentences that a strict answer shows."""
CONFIDENCE: dict[Support, float] = {
    "verified": 1.0,
    "computed": 1.0,
    "follows": 0.7,
    "model": 0.5,
    "disputed": 0.5,
}
"""Confidence that goes with a mark; any other has none."""

Quoted = tuple[Strip, str]
"""A strip, and the words of it that are cited."""


class AnswerBuilder:
    """Takes the sentences of an answer; what is shown is never taken back, and its marks arrive later.

    Args:
        emit: shows a sentence with the citations that it rests on.
        rows: evidence of the turn, by id.
        items: clips and pictures that strips were cut from: their spans give the seconds, or the box, of a
            sentence.
        mark: shows the mark of a sentence that was shown before, by its number from 1.
        strict: what a chat model wrote is shown only once it is verified.
        checked: what a chat model wrote waits for its mark; else it stays unchecked.

    Attributes:
        sentences: what was written, in order; with `strict` those that wait are not shown yet.
        citations: the numbered sources.
        dropped: sentences that were left out.
        named: what the last line that a chat model wrote is said to rest on.
        seen: what a vision model saw in items while the answer was written, by id.
    """

    def __init__(
        self,
        emit: Callable[[int, Sentence, list[Citation]], None],
        rows: Mapping[str, Evidence],
        items: Mapping[str, Item],
        mark: Callable[[int, Sentence, list[Citation]], None] = lambda *_: None,
        strict: bool = False,
        checked: bool = True,
    ) -> None:
        self.sentences: list[Sentence] = []
        self.citations: list[Citation] = []
        self.dropped = 0
        self.named: Sequence[Strip] = ()
        self.seen: dict[str, str] = {}
        self._emit, self._mark, self._rows, self._items = emit, mark, rows, items
        self._strict, self._checked = strict, checked
        self._frames: list[tuple[str, str]] = []

    def tell(self, text: str, named: Sequence[Strip], known: Sequence[Strip], sign: str = "") -> None:
        """Show what a chat model wrote with the sources that it names; what was said is not said again.

        Args:
            text: the sentence.
            named: what it is said to rest on.
            known: all that the model was shown.
            sign: what makes it an item of a list, or a row.
        """
        self.seen |= {s["evidence"]: s["text"] for s in known if s["id"].startswith(f"{s['evidence']}~seen")}
        said = {s.text for s in self.sentences}
        if sign != "|" and not said.isdisjoint((text, as_heard(text, {"doubtful": True}))):
            return
        own = [s for s in named if s["origin"] != "model"]
        sources = own or [s for s in known if s["origin"] != "model"]
        if not sources or (named and not own):
            self.tell_unsourced(text, sign)
            return
        self.show(text, "pending" if self._checked else "unchecked", _nearest(text, self._headed(own)), sign)

    def frame(self, text: str, sign: str = "") -> None:
        """Keep a line that only frames the answer until what it frames is shown: nothing in it is judged, or cited."""
        self._frames.append((text, sign))

    @property
    def last(self) -> str | None:
        """The sign of the last line, None before the first."""
        signs = [s.sign for s in self.sentences] + [sign for _, sign in self._frames]
        return signs[-1] if signs else None

    def _headed(self, strips: Iterable[Strip]) -> list[Strip]:
        """Return strips under the titles that a model reads, with file and date."""
        return [Strip(**{**s, "title": headed(s["title"], self._rows.get(s["evidence"]))}) for s in strips]

    def close(self) -> None:
        """Show the frames that no sentence follows, unless nothing else was written."""
        if self.sentences:
            self._show_frames()

    def _show_frames(self) -> None:
        frames, self._frames = self._frames, []
        for text, sign in frames:
            self._add(Sentence(text=text, support="unchecked", sign=sign), [])

    def remark(
        self, n: int, support: Support, rests: Sequence[Quoted], against: Sequence[Quoted] = (), why: str = ""
    ) -> None:
        """Give sentence number `n` its mark, and the citations that decide it.

        A number that no other sentence cites is kept for what decides, whatever passage that is, for it was
        shown. The sources that the sentence names and that decide nothing stay behind those that do.
        """
        before = self.sentences[n - 1]
        elsewhere = {i for s in self.sentences if s is not before for i in (*s.citations, *s.against)}
        free = [i for i in before.citations if i not in elsewhere]
        used: list[Citation] = []
        for quoted in (*rests, *against):
            cited = self._cite(*quoted, free=free)
            free = [i for i in free if i != cited.n]
            used.append(cited)
        deciding = [c.n for c in used[: len(rests)]]
        others = [c.n for c in used[len(rests) :]]
        numbers = deciding if rests and support != "contradicted" else [*deciding, *others]
        kept = self._left_over(free) if used else list(before.citations)
        update = {
            "support": support,
            "citations": tuple(dict.fromkeys([*numbers, *kept])),
            "against": tuple(dict.fromkeys(others)),
            "confidence": CONFIDENCE.get(support, 0.0),
            "says": clip(" ".join(against[0][1].split()), _SAYS) if against else "",
            "why": why,
        }
        marked = before.model_copy(update=update)
        self.sentences[n - 1] = marked
        if not self._strict:
            self._mark(n, marked, [c for c in self.citations if c.n in (*marked.citations, *marked.against)])

    def disown(self, n: int) -> None:
        """Mark sentence number `n` as the model's own knowledge, without a source."""
        update = {"support": "model", "citations": (), "confidence": CONFIDENCE["model"]}
        self.sentences[n - 1] = self.sentences[n - 1].model_copy(update=update)
        if not self._strict:
            self._mark(n, self.sentences[n - 1], [])

    def _left_over(self, free: Sequence[int]) -> list[int]:
        """Return the numbers of sources that a sentence names and that decide nothing; what is cited twice goes."""
        kept = []
        for number in sorted(free, reverse=True):
            own = self.citations[number - 1]
            twice = any(c.n != number and c.id == own.id for c in self.citations)
            if twice and number == len(self.citations):
                self.citations.pop()
            elif not twice:
                kept.append(number)
        return sorted(kept)

    def release(self, withheld: Collection[int]) -> None:
        """Show the sentences of a strict answer but those that are withheld, by their numbers; count these."""
        kept = [s for n, s in enumerate(self.sentences, 1) if n not in withheld]
        self.dropped += len(self.sentences) - len(kept)
        self.sentences = kept if any(s.support in SHOWN_IF_STRICT for s in kept) else []
        for n, sentence in enumerate(self.sentences, 1):
            self._emit(n, sentence, [c for c in self.citations if c.n in sentence.citations])

    def tell_unsourced(self, text: str, sign: str = "") -> None:
        """Show what a chat model wrote with nothing before it that it could rest on."""
        if self._strict:
            self.dropped += 1
        else:
            self.show(text, "model", [], sign)

    def show(self, text: str, support: Support, rests: Sequence[Quoted], sign: str = "") -> None:
        """Show a sentence with the words that it rests on.

        Nothing else shows sentences, so that here is marked what rests on speech of which a recogniser was
        not sure.
        """
        self._show_frames()
        used = {c.n: c for c in (self._cite(*q) for q in rests)}
        text = as_heard(
            text, next((c.locator for c in used.values() if c.locator.get("doubtful")), Locator())
        )
        confidence = CONFIDENCE.get(support, 0.0)
        made = Sentence(text=text, support=support, citations=tuple(used), confidence=confidence, sign=sign)
        self._add(made, list(used.values()))

    def _add(self, sentence: Sentence, cited: list[Citation]) -> None:
        self.sentences.append(sentence)
        if not (self._strict and self._checked):
            self._emit(len(self.sentences), sentence, cited)

    def say_above(self, text: str) -> None:
        """Show a line above the quotes that says how well they match."""
        self.sentences.append(Sentence(text=text, support="unchecked"))
        self._emit(len(self.sentences), self.sentences[-1], [])

    def quote(self, text: str, strip: Strip, marked: Sequence[tuple[int, int]]) -> None:
        """Show a quote, the words that match marked; its citation opens the place of `strip`, where its words begin."""
        cited = self._cite(strip, strip["text"])
        sentence = Sentence(text=text, support="quoted", citations=(cited.n,), sign=">", marked=tuple(marked))
        self.sentences.append(sentence)
        self._emit(len(self.sentences), sentence, [cited])

    def note(self, strip: Strip) -> Citation:
        """Cite what came closest, where no sentence is shown."""
        text = strip["text"]
        spans = sentences(text) if len(text) > _QUOTED else []
        a, b = max(spans, key=lambda s: len(set(terms(text[slice(*s)]))), default=(0, len(text)))
        return self._cite(strip, text[a:b])

    def nearest(self) -> None:
        """Cite the best of what was found, where no sentence is shown and nothing came close."""
        best = sorted(
            self._rows.values(), key=lambda e: (-e.get("global_score", 0.0), -e["relevance"], e["id"])
        )
        for row in best[:NEAREST]:
            self.note(as_strip(row))

    def _cite(self, strip: Strip, words: str, free: Sequence[int] = ()) -> Citation:
        place = exact(strip, words, self._items.get(strip["evidence"]))
        row = self._rows.get(strip["evidence"], strip)
        same = [c for c in self.citations if c.id == strip["evidence"]]
        for c in same:
            if c.n not in free and c.locator == place and c.quote == words[:_QUOTED]:
                return c
        made = Citation(
            n=min(free, default=len(self.citations) + 1),
            id=strip["evidence"],
            title=row["title"],
            locator=place,
            quote=words[:_QUOTED],
            also=tuple(strip.get("also") or row.get("also", ())),
            origin="web" if strip["origin"] == "web" else "library",
            computed=row.get("computed"),
        )
        self.citations[made.n - 1 : made.n] = [made]
        return made


def _nearest(text: str, strips: Sequence[Strip]) -> tuple[Quoted, ...]:
    """Return of each strip the part that is nearest to a sentence."""
    return tuple((s, best_sentence(text, s["text"])) for s in strips if s["origin"] != "model")
