"""Show the sentences of an answer with their citations as they come, and their marks later."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ragweave.components.best_sentence import best_sentence
from ragweave.components.evidence import Citation, Evidence, Sentence, Strip, Support
from ragweave.components.passages import as_strip, headed
from ragweave.components.phrases import as_heard
from ragweave.components.references import exact
from ragweave.corpora.types import Item, Locator
from ragweave.models.text import clip, sentences, terms

NEAREST = 2
"""Places to cite if no passage answers."""
_QUOTED = 500
"""Characters that a quote keeps at most."""
_SAYS = 300
"""Characters that are kept of what a source says against a sentence."""
SHOWN_IF_STRICT: tuple[Support, ...] = ("verified", "computed")
"""Marks of the sentences that a strict answer shows."""
CONFIDENCE: dict[Support, float] = {
    "verified": 1.0,
    "computed": 1.0,
    "follows": 0.7,
    "model": 0.5,
    "disputed": 0.5,
}
"""Confidence of a sentence by its mark; other marks have none."""

Quoted = tuple[Strip, str]
"""A strip, and the words of it that are cited."""


class AnswerBuilder:
    """Collect and show the sentences of an answer; a sentence that was shown is never taken back.

    Args:
        emit: shows a sentence with its citations, by its number from 1.
        rows: evidence of the turn, by id.
        items: clips and pictures that strips were cut from. Their spans give the seconds or the box of a
            sentence.
        mark: shows the mark of a sentence that was shown before, by its number.
        strict: whether the sentences of a chat model are shown only once they are verified.
        checked: whether the sentences of a chat model are checked; otherwise they stay unchecked.

    Attributes:
        sentences: the sentences in order; with `strict` they may not be shown yet.
        citations: the numbered sources.
        dropped: how many sentences were left out.
        named: strips that the last line of a chat model cites.
        heading: the framing line before the next line, or "".
        credited: strips in the lists of sources of an answer that cites nothing else.
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
        self.heading, self.credited = "", list[Strip]()
        self.seen: dict[str, str] = {}
        self._emit = emit
        self._mark = mark
        self._rows = rows
        self._items = items
        self._strict = strict
        self._checked = checked
        self._frames: list[tuple[str, str, bool]] = []

    def tell(self, text: str, named: Sequence[Strip], known: Sequence[Strip], sign: str = "") -> None:
        """Show a sentence of a chat model with the sources that it names, unless it was shown before.

        Args:
            text: the sentence.
            named: strips that it cites.
            known: all strips that the model was shown.
            sign: sign of a list item or a row, or the line breaks before it.
        """
        self._note_seen(known)
        if sign != "|" and self._is_shown(text):
            return
        own = _not_recalled(named)
        sources = own or _not_recalled(known)
        if not sources or (named and not own):
            self.tell_unsourced(text, sign)
            return
        support: Support = "pending" if self._checked else "unchecked"
        self.show(text, support, _nearest(text, self._headed(own)), sign)

    def _note_seen(self, strips: Iterable[Strip]) -> None:
        """Note what a vision model saw in the items of strips."""
        for strip in strips:
            if strip["id"].startswith(f"{strip['evidence']}~seen"):
                self.seen[strip["evidence"]] = strip["text"]

    def _is_shown(self, text: str) -> bool:
        """Return whether a sentence was shown before, as it is or as doubtful speech."""
        shown = [sentence.text for sentence in self.sentences]
        return text in shown or as_heard(text, {"doubtful": True}) in shown

    def frame(self, text: str, sign: str = "", leads: bool = False) -> None:
        """Hold back a framing line until the next sentence is shown; it is not checked and cites nothing.

        A line that `leads` to others, such as a heading, is not shown at the end.
        """
        self._frames.append((text, sign, leads))

    @property
    def last(self) -> str | None:
        """The sign of the last line, None before the first."""
        if self._frames:
            return self._frames[-1][1]
        return self.sentences[-1].sign if self.sentences else None

    def _headed(self, strips: Iterable[Strip]) -> list[Strip]:
        """Return strips with the titles that a model reads, which have file and date."""
        out = []
        for strip in strips:
            title = headed(strip["title"], self._rows.get(strip["evidence"]))
            out.append(Strip(**{**strip, "title": title}))
        return out

    def close(self) -> None:
        """Show the framing lines at the end of the answer, unless there is no sentence at all."""
        while self._frames and self._frames[-1][2]:
            self._frames.pop()
        if self.sentences:
            self._show_frames()

    def _show_frames(self) -> None:
        frames = self._frames
        self._frames = []
        for text, sign, _ in frames:
            self._add(Sentence(text=text, support="unchecked", sign=sign), [])

    def remark(
        self, n: int, support: Support, rests: Sequence[Quoted], against: Sequence[Quoted] = (), why: str = ""
    ) -> None:
        """Give a sentence its mark, and the citations that decide it.

        A citation number that only this sentence uses may get another passage. Sources that the sentence
        names but that do not decide follow behind those that do.

        Args:
            n: number of the sentence, from 1.
            support: its mark.
            rests: the words that support it.
            against: the words that say otherwise.
            why: what is missing in the words that the checking model copied, or "".
        """
        before = self.sentences[n - 1]
        free = self._own_numbers(before)
        used: list[int] = []
        for strip, words in (*rests, *against):
            number = self._cite(strip, words, free=free).n
            if number in free:
                free.remove(number)
            used.append(number)
        others = used[len(rests) :]
        deciding = used[: len(rests)] if rests and support != "contradicted" else used
        kept = self._left_over(free) if used else list(before.citations)
        update = {
            "support": support,
            "citations": tuple(dict.fromkeys([*deciding, *kept])),
            "against": tuple(dict.fromkeys(others)),
            "confidence": CONFIDENCE.get(support, 0.0),
            "says": clip(" ".join(against[0][1].split()), _SAYS) if against else "",
            "why": why,
        }
        marked = before.model_copy(update=update)
        self.sentences[n - 1] = marked
        if not self._strict:
            self._mark(n, marked, self._citations_of((*marked.citations, *marked.against)))

    def _own_numbers(self, sentence: Sentence) -> list[int]:
        """Return the citation numbers of a sentence that no other sentence uses."""
        elsewhere: set[int] = set()
        for other in self.sentences:
            if other is not sentence:
                elsewhere.update(other.citations, other.against)
        return [number for number in sentence.citations if number not in elsewhere]

    def _citations_of(self, numbers: Collection[int]) -> list[Citation]:
        """Return the citations with these numbers."""
        return [citation for citation in self.citations if citation.n in numbers]

    def disown(self, n: int) -> None:
        """Mark sentence `n` as the model's own knowledge, without a source."""
        update = {"support": "model", "citations": (), "confidence": CONFIDENCE["model"]}
        self.sentences[n - 1] = self.sentences[n - 1].model_copy(update=update)
        if not self._strict:
            self._mark(n, self.sentences[n - 1], [])

    def _left_over(self, free: Sequence[int]) -> list[int]:
        """Return the named sources that do not decide; drop those that another citation repeats."""
        kept = []
        for number in sorted(free, reverse=True):
            if not self._is_repeated(number):
                kept.append(number)
            elif number == len(self.citations):
                self.citations.pop()
        return sorted(kept)

    def _is_repeated(self, number: int) -> bool:
        """Return whether another citation has the same evidence as one."""
        own = self.citations[number - 1]
        for citation in self.citations:
            if citation.n != number and citation.id == own.id:
                return True
        return False

    def release(self, withheld: Collection[int]) -> None:
        """Show the sentences of a strict answer, and count those that are withheld.

        Nothing is shown if no sentence has a mark that a strict answer shows.

        Args:
            withheld: numbers of the sentences that are not shown.
        """
        kept = [sentence for n, sentence in enumerate(self.sentences, 1) if n not in withheld]
        self.dropped += len(self.sentences) - len(kept)
        self.sentences = kept if _any_shown_if_strict(kept) else []
        for n, sentence in enumerate(self.sentences, 1):
            self._emit(n, sentence, self._citations_of(sentence.citations))

    def tell_unsourced(self, text: str, sign: str = "") -> None:
        """Show a sentence of a chat model that has no source; a strict answer drops it."""
        if self._strict:
            self.dropped += 1
        else:
            self.show(text, "model", [], sign)

    def show(self, text: str, support: Support, rests: Sequence[Quoted], sign: str = "") -> None:
        """Show a sentence with the words that it rests on.

        Every sentence of a model is shown here, so this is the place to qualify one that rests on speech of
        which the recogniser was not sure.
        """
        self._show_frames()
        used: dict[int, Citation] = {}
        for strip, words in rests:
            citation = self._cite(strip, words)
            used[citation.n] = citation
        doubtful = Locator()
        for citation in used.values():
            if citation.locator.get("doubtful"):
                doubtful = citation.locator
                break
        made = Sentence(
            text=as_heard(text, doubtful),
            support=support,
            citations=tuple(used),
            confidence=CONFIDENCE.get(support, 0.0),
            sign=sign,
        )
        self._add(made, list(used.values()))

    def _add(self, sentence: Sentence, cited: list[Citation]) -> None:
        self.sentences.append(sentence)
        if not (self._strict and self._checked):
            self._emit(len(self.sentences), sentence, cited)

    def say_above(self, text: str) -> None:
        """Show a line above the quotes that states how well they match."""
        self.sentences.append(Sentence(text=text, support="unchecked"))
        self._emit(len(self.sentences), self.sentences[-1], [])

    def quote(self, text: str, strip: Strip, marked: Sequence[tuple[int, int]]) -> None:
        """Show a quote with a citation of its strip; `marked` are the spans that match the question."""
        cited = self._cite(strip, strip["text"])
        sentence = Sentence(text=text, support="quoted", citations=(cited.n,), sign=">", marked=tuple(marked))
        self.sentences.append(sentence)
        self._emit(len(self.sentences), sentence, [cited])

    def note(self, strip: Strip) -> Citation:
        """Cite a passage that came close, if no sentence is shown."""
        text = strip["text"]
        start, end = 0, len(text)
        if len(text) > _QUOTED:
            spans = sentences(text)
            start, end = max(
                spans, key=lambda span: len(set(terms(text[slice(*span)]))), default=(start, end)
            )
        return self._cite(strip, text[start:end])

    def nearest(self) -> None:
        """Cite the best of what was found, if no sentence is shown and nothing came close."""
        best = sorted(self._rows.values(), key=_rank)
        for row in best[:NEAREST]:
            self.note(as_strip(row))

    def _cite(self, strip: Strip, words: str, free: Sequence[int] = ()) -> Citation:
        """Return the citation of words: an existing one, or a new one under the first free number."""
        place = exact(strip, words, self._items.get(strip["evidence"]))
        quote = words[:_QUOTED]
        for known in self.citations:
            same = known.id == strip["evidence"] and known.locator == place and known.quote == quote
            if same and known.n not in free:
                return known
        row = self._rows.get(strip["evidence"], strip)
        made = Citation(
            n=min(free, default=len(self.citations) + 1),
            id=strip["evidence"],
            title=row["title"],
            locator=place,
            quote=quote,
            also=tuple(strip.get("also") or row.get("also", ())),
            origin="web" if strip["origin"] == "web" else "library",
            computed=row.get("computed"),
        )
        self.citations[made.n - 1 : made.n] = [made]
        return made


def _any_shown_if_strict(sentences: Iterable[Sentence]) -> bool:
    """Return whether a sentence has a mark that a strict answer shows."""
    for sentence in sentences:
        if sentence.support in SHOWN_IF_STRICT:
            return True
    return False


def _rank(row: Evidence) -> tuple[float, float, str]:
    """Return the sort key that puts the best evidence first."""
    return (-row.get("global_score", 0.0), -row["relevance"], row["id"])


def _not_recalled(strips: Iterable[Strip]) -> list[Strip]:
    """Return the strips that are not the model's own knowledge."""
    return [strip for strip in strips if strip["origin"] != "model"]


def _nearest(text: str, strips: Iterable[Strip]) -> tuple[Quoted, ...]:
    """Return the part of each strip that is nearest to a sentence."""
    quoted = []
    for strip in _not_recalled(strips):
        quoted.append((strip, best_sentence(text, strip["text"])))
    return tuple(quoted)
