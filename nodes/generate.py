"""Generate the answer sentence by sentence; each is checked before a reader sees it, and never taken back."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.runtime import Runtime

from ragweave.corpora.types import Item
from ragweave.minds.context import Context
from ragweave.minds.contracts import Brief
from ragweave.minds.evidence import Citation, Evidence, Sentence, Strip, Support
from ragweave.minds.passages import best_sentence
from ragweave.minds.phrases import phrase
from ragweave.minds.references import citation_of, exact, placed, times_agree
from ragweave.minds.small.choose import options_of
from ragweave.nodes.answer import marked
from ragweave.nodes.run import Run, push_text, sentence_event
from ragweave.nodes.state import State, Update, known, message_id

_SHOWN = 12
"""Evidence rows that are written from in a graph that does not grade."""


async def generate(state: State, runtime: Runtime[Context]) -> Update:
    """Return the checked sentences with their citations; an empty draft carries the reason."""
    run = Run.of("generate", state, runtime)
    question, timeline = state["question"], state.get("timeline")
    strips = timeline["moments"] if timeline is not None and timeline["moments"] else known(state, _SHOWN)
    stem, stated = options_of(question) if run.context.answer_form in ("auto", "letter") else (question, ())
    routed = next((r for r in reversed(state.get("routes", [])) if r["hop"] == state["hop"]), None)
    rows = {e["id"]: e for e in state.get("evidence", [])}
    draft = Draft(run, question, message_id(state), rows, await (await run.library()).items(placed(strips)))
    brief = Brief(
        question=question if run.context.choices else stem,
        strips=strips,
        rows=rows,
        hops=state.get("hops", []),
        best=state.get("best", -1.0),
        timeline=timeline,
        choices=run.context.choices or stated,
        searched=routed is None or routed["corpora"] != ["none"],
    )
    made = await run.minds.writer(run, brief, draft)
    why = "" if draft.sentences else made.value.why
    if run.meter.refused and not draft.sentences:
        why = phrase("budget", question, limit=run.meter.refused)
    summary = f"{len(draft.sentences)} sentences" if draft.sentences else f"nothing: {why}"
    if draft.dropped:
        summary += f", {draft.dropped} dropped for want of support"
    written: Update = {"draft": draft.sentences, "citations": draft.citations, "dropped": draft.dropped, "abstain": why}
    return run.done(summary, made, mind="llm" if made.by == "llm" else "small", **written)


class Draft:
    """The page of a writer: emits each sentence as it passes its check.

    Attributes:
        sentences: what was shown.
        citations: what it rests on, numbered.
        dropped: sentences that nothing supported.
    """

    def __init__(
        self, run: Run, question: str, message: str, rows: dict[str, Evidence], clips: dict[str, Item]
    ) -> None:
        self.sentences: list[Sentence] = []
        self.citations: list[Citation] = []
        self.dropped = 0
        self._run, self._question, self._message, self._rows = run, question, message, rows
        self._clips = clips
        """Clips and pictures that the strips were cut from: their spans give the seconds, or the box, of a sentence."""

    @property
    def shown(self) -> int:
        """Sentences shown so far."""
        return len(self.sentences)

    @property
    def origins(self) -> set[str]:
        """Where the citations come from."""
        return {c.origin for c in self.citations}

    async def offer(
        self, text: str, *sides: Sequence[Strip], rests: Sequence[Strip] = (), confidence: float | None = None
    ) -> None:
        """Show a sentence where the first of the sides that supports it does; drop it where none does."""
        for strips in filter(None, sides):
            checked = (await self._run.minds.checker(self._run, text, strips, self._question)).value
            by = [strips[i] for i in checked.by]
            if checked.supported and times_agree(text, by):
                sources = [s for s in rests or by[:2] if s["origin"] != "model"]
                sure = checked.score if confidence is None else confidence
                self.show(text, "supported" if sources else "model", sources, sure, "" if rests else text)
                return
        self.dropped += 1

    def show(self, text: str, support: Support, rests: Sequence[Strip], confidence: float, about: str = "") -> None:
        """Show a sentence; what it rests on is quoted whole, or by the sentence that is nearest to `about`."""
        quoted = [(s, best_sentence(about, s["text"]) if about else s["text"]) for s in rests]
        used = {c.n: c for c in (self._cite(*q) for q in quoted)}
        sentence = Sentence(text=text, support=support, citations=tuple(used), confidence=round(confidence, 3))
        self.sentences.append(sentence)
        self._run.event(sentence_event(sentence, list(used.values())))
        push_text(self._message, (" " if len(self.sentences) > 1 else "") + marked(sentence))

    def _cite(self, strip: Strip, words: str) -> Citation:
        strip = Strip(**{**strip, "locator": exact(strip, words, self._clips.get(strip["evidence"]))})
        for c in self.citations:
            if c.id == strip["evidence"] and c.locator == strip["locator"]:
                return c
        also = self._rows[strip["evidence"]].get("also", ()) if strip["evidence"] in self._rows else ()
        self.citations.append(citation_of(strip, len(self.citations) + 1, words, also))
        return self.citations[-1]
