"""Generate the answer sentence by sentence; each is checked before a reader sees it, and never taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from string import ascii_uppercase

from langgraph.runtime import Runtime

from ragweave.corpora.types import Item, Locator
from ragweave.corpora.web.plain import one_line
from ragweave.minds.context import Context
from ragweave.minds.evidence import Citation, Evidence, Sentence, Strip, Support, Timeline
from ragweave.minds.looks import shown_by_look
from ragweave.minds.passages import as_strip, best_sentence, headed
from ragweave.minds.recency import timeless
from ragweave.minds.small.moments import placeless
from ragweave.models.arithmetic import compute
from ragweave.models.chat import Chat
from ragweave.models.errors import RagweaveError
from ragweave.models.text import content_terms
from ragweave.nodes import choice
from ragweave.nodes.bridges import Chain, chain
from ragweave.nodes.check import citation_of, marked, message_id, verify
from ragweave.nodes.events import push_text, sentence_event
from ragweave.nodes.extract import Extract, choose, rank, with_context, with_premise
from ragweave.nodes.options import options_of
from ragweave.nodes.origins import by_origin, conflict, labelled
from ragweave.nodes.phrases import phrase
from ragweave.nodes.pictures import Pictures, look_at, sees
from ragweave.nodes.references import exact, placed, times_agree
from ragweave.nodes.run import Run
from ragweave.nodes.state import State, Update, known, on_timeline
from ragweave.nodes.tell import QUOTED, tell
from ragweave.nodes.writing import complete_sentences, marks, plain
from ragweave.prompts import load, quote

_SHOWN = 12
"""Evidence rows that a writer sees."""
_LONGEST = 4_000
"""Characters of one sentence."""
_LENGTHS = {1: "one sentence", 2: "at most two sentences", 3: "at most three sentences"}
ANSWERABLE = -0.3
"""Relevance to the question itself that something found must reach before the small mind answers from it; read off the
answerable and the absent questions of docs/evaluation.md."""
ANSWERABLE_RECORDED = -0.9
"""The same for recordings (docs/video.md)."""


async def generate(state: State, runtime: Runtime[Context]) -> Update:
    """Return the checked sentences with their citations; an empty draft carries the reason."""
    run = Run.of("generate", state, runtime)
    draft = Draft(run, state)
    routed = next((r for r in reversed(state.get("routes", [])) if r["hop"] == state["hop"]), None)
    strips = known(state, _SHOWN)
    timeline = state.get("timeline")
    if timeline is not None and on_timeline(state):
        strips = timeline["moments"]
    draft.clips = await (await run.library()).items(placed(strips))
    model = run.chat("writer")
    if draft.choices and strips:
        await run.decide(model, lambda m: _choose(draft, strips, m), lambda: _choose(draft, strips, None))
    elif timeline is not None and (on_timeline(state) or model is None):
        quoted = model if timeline["kind"] in QUOTED else None
        await run.decide(quoted, lambda m: _write(m, draft, strips), lambda: _tell(draft, timeline))
    elif not strips and routed is not None and routed["corpora"] == ["none"]:
        await run.decide(model, lambda m: _converse(m, draft), lambda: _reply(draft))
    elif not strips:
        draft.abstain = await _nothing(run, state)
    else:
        await run.decide(model, lambda m: _write(m, draft, strips), lambda: _extract(draft, strips))
    if not draft.sentences and not run.meter.refused:
        _show(draft)
    if run.meter.refused and not draft.sentences:
        draft.abstain = phrase("budget", state["question"], limit=run.meter.refused)
    summary = f"{len(draft.sentences)} sentences" if draft.sentences else f"nothing: {draft.abstain}"
    if draft.dropped:
        summary += f", {draft.dropped} dropped for want of support"
    return run.done(
        summary,
        mind="llm" if run.by == "llm" else "small",
        draft=draft.sentences,
        citations=draft.citations,
        dropped=draft.dropped,
        abstain=draft.abstain,
    )


class Draft:
    """The sentences written so far: emits each one as it passes its check."""

    def __init__(self, run: Run, state: State) -> None:
        self.run = run
        self.question = state["question"]
        stated = options_of(self.question) if run.context.answer_form in ("auto", "letter") else (self.question, ())
        self.choices = run.context.choices or stated[1]
        self.stem = self.question if run.context.choices else stated[0]
        self.best = state.get("best", -1.0)
        self.rows = {e["id"]: e for e in state.get("evidence", [])}
        self.hops = state.get("hops", [])
        self.message_id = message_id(state)
        self.sentences: list[Sentence] = []
        self.citations: list[Citation] = []
        self.dropped = 0
        self.abstain = ""
        self.clips: dict[str, Item] = {}
        """Clips and pictures that the strips were cut from: their spans give the seconds, or the box, of a sentence."""

    def chain(self, question: str) -> Chain:
        """Read how the items hang together."""
        return chain(question, [e for e in self.rows.values() if e["origin"] != "model"], self.hops)

    def emit(self, text: str, support: Support, strips: list[tuple[Strip, str]], confidence: float) -> None:
        """Show a sentence that passed; `strips` are what it rests on, each with the words it rests on."""
        shown = strips if self.run.context.references else []
        used = [self._cite(strip, words) for strip, words in shown]
        used = list({c.n: c for c in used}.values())
        numbers = tuple(c.n for c in used)
        sentence = Sentence(text=text, support=support, citations=numbers, confidence=round(confidence, 3))
        self.sentences.append(sentence)
        self.run.event(sentence_event(sentence, used))
        push_text(self.message_id, (" " if len(self.sentences) > 1 else "") + marked(sentence))

    def _cite(self, strip: Strip, words: str) -> Citation:
        strip = Strip(**{**strip, "locator": exact(strip, words, self.clips.get(strip["evidence"]))})
        for c in self.citations:
            if c.id == strip["evidence"] and c.locator == strip["locator"]:
                return c
        also = self.rows[strip["evidence"]].get("also", ()) if strip["evidence"] in self.rows else ()
        self.citations.append(citation_of(strip, len(self.citations) + 1, words, also))
        return self.citations[-1]


async def _nothing(run: Run, state: State) -> str:
    counts = await (await run.library()).counts()
    if not any(counts.values()):
        return phrase("empty", state["question"])
    rows = [e for e in state.get("evidence", []) if e["origin"] == "library"]
    if rows:
        best = max(rows, key=lambda e: (e["relevance"], e["id"]))
        return phrase("weak", state["question"], title=best["title"])
    return phrase("nothing", state["question"])


async def _reply(draft: Draft) -> bool:
    """Answer what needs no search and no model: arithmetic and greetings."""
    value = compute(draft.question)
    draft.run.by = "rule"
    draft.emit(value if value is not None else phrase("greeting", draft.question), "model", [], 1.0)
    return True


async def _converse(model: Chat, draft: Draft) -> bool | None:
    tokens = model.stream(load("converse", question=draft.question), node="generate", meter=draft.run.meter)
    async for sentence in complete_sentences(tokens):
        if text := plain(sentence):
            draft.emit(text, "model", [], 0.5)
    return True if draft.sentences else None


async def _tell(draft: Draft, timeline: Timeline) -> bool:
    """Answer from the timeline: its sentences state what was counted or quote what was said, so they need no check."""
    draft.run.by = "timeline"
    told = tell(timeline, draft.question, draft.run.context.sentences)
    if not told:
        draft.abstain = phrase("unmentioned", draft.question, thing=timeline["thing"])
    for row in told:
        draft.emit(row.text, "supported", [(m, m["text"]) for m in row.rests], 1.0)
    return True


async def _choose(draft: Draft, strips: list[Strip], model: Chat | None) -> bool | None:
    """Answer with one of the given answers, under its letter."""
    choices, question = draft.choices, draft.stem
    own = [s for s in strips if s["origin"] != "model"] or strips
    if model is None:
        at: int | None = await choice.by_rule(question, choices, own, await _idf(draft.run, question))
    else:
        rows = by_origin(grouped(strips, _standing(draft))[:_SHOWN])
        shown = labelled(rows, lambda n, row: f"[{n}]\n{quote(_joined(row, draft.rows.get(row[0]['evidence'])))}")
        at = await choice.by_model(model, draft.run, question, choices, shown)
    if at is None:
        return None
    rests, confidence = await choice.rests_on(question, choices[at], own)
    text = f"{ascii_uppercase[at]}. {choices[at]}"
    draft.emit(
        text, "supported", [(s, best_sentence(f"{question} {choices[at]}", s["text"])) for s in rests], confidence
    )
    return True


def _answerable(strips: list[Strip]) -> float:
    """Return the relevance from which the small mind answers; what was said or shown is seldom put into sentences."""
    best = max(strips, key=lambda s: (s["score"], s["id"]))
    return ANSWERABLE_RECORDED if best["locator"].get("kind") == "time" else ANSWERABLE


async def _extract(draft: Draft, strips: list[Strip]) -> bool:
    """Answer with the best supported sentences, or abstain where the best strip does not carry an answer."""
    if draft.sentences:
        # The model failed after its first sentences were shown; they stand, and nothing is added in another voice.
        return True
    own = [s for s in strips if s["origin"] != "model"]
    asked = draft.run.context.answerable
    if not own or draft.best < (_answerable(own) if asked is None else asked):
        title = max(own, key=lambda s: (s["score"], s["id"]))["title"] if own else ""
        draft.abstain = phrase("weak" if own else "nothing", draft.question, title=title)
        return True
    question = timeless(draft.question, datetime.now(UTC))
    if all(s["locator"].get("kind") == "time" for s in own):
        question = placeless(question)
    idf = await _idf(draft.run, question)
    linked = draft.chain(question)
    ranked = await asyncio.to_thread(rank, question, own, idf, linked)
    if sides := conflict(draft.question, ranked):
        _both(draft, sides)
        return True
    limit = 1 if draft.run.context.answer_form == "short" else draft.run.context.sentences
    chosen = with_premise(choose(ranked, question, idf, limit), ranked, linked.led, question, limit)
    for e in with_context(chosen, limit):
        verdict = await verify(e.text, [e.strip], draft.question, draft.run)
        if verdict.supported:
            strip = _narrowed(e.strip, e.start, e.end)
            draft.emit(e.text, "supported", [(strip, strip["text"])], (1 + e.strip["score"]) / 2)
        else:
            draft.dropped += 1
    return True


def _show(draft: Draft) -> None:
    """Show the pictures that match by their look, where no text carries an answer; nothing is claimed of them."""
    found = shown_by_look(list(draft.rows.values()))
    if found:
        titles = ", ".join(f"“{title}”" for title in dict.fromkeys(e["title"] for e in found))
        rests = [(Strip(**{**as_strip(e), "text": ""}), "") for e in found]
        confidence = (1 + found[0].get("looks", 0.0)) / 2
        draft.emit(phrase("by_look", draft.question, titles=titles), "supported", rests, confidence)


def _both(draft: Draft, sides: tuple[Extract, Extract]) -> None:
    """Show what the library says and what the web says where they disagree, each under its name, and nothing else.

    Both are sentences of their evidence word for word, so they need no check.
    """
    own, web = (e.text for e in sides)
    texts = phrase("own_side", draft.question, text=own), phrase("web_side", draft.question, text=web)
    for e, text in zip(sides, texts, strict=True):
        strip = _narrowed(e.strip, e.start, e.end)
        rests = [(strip, strip["text"])]
        draft.emit(text, "supported", rests, (1 + e.strip["score"]) / 2)
    draft.run.note("Your library and the web answer this differently; both are shown.")


def _narrowed(strip: Strip, start: int, end: int) -> Strip:
    """Move a strip's character range to one of its sentences."""
    chars = strip["locator"].get("chars")
    offset = chars[0] if chars else 0
    locator: Locator = {**strip["locator"], "chars": [offset + start, offset + end]}
    return Strip(**{**strip, "text": strip["text"][start:end], "locator": locator})


async def _idf(run: Run, question: str) -> Callable[[str], float]:
    table = await (await run.library()).idf(content_terms(question))
    return lambda term: table.get(term, 1.0)


async def _write(model: Chat, draft: Draft, strips: list[Strip]) -> bool | None:
    """Stream prose; a sentence is emitted once it is complete and what it cites supports it."""
    rows = by_origin(grouped(strips, _standing(draft))[:_SHOWN])
    rows, pictures = await look_at(draft.run, draft.question, rows, draft.rows)
    if not sees(model, draft.run):
        pictures = Pictures()
    shown = labelled(rows, lambda n, row: f"[{n}]\n{quote(_joined(row, draft.rows.get(row[0]['evidence'])))}")
    shown += pictures.told
    length = _LENGTHS.get(draft.run.context.sentences, f"at most {draft.run.context.sentences} sentences")
    if draft.run.context.answer_form == "short":
        length = "a few words: the name, number or phrase alone, no sentence around it"
    messages = load("generate", question=draft.question, evidence=shown, length=length)
    written = 0
    try:
        async for raw in complete_sentences(
            model.stream(messages, node="generate", meter=draft.run.meter, images=pictures.images)
        ):
            text = one_line(plain(raw), _LONGEST)
            if text.strip(" .!").upper() == "UNKNOWN":
                draft.abstain = draft.abstain or _unknown(draft, strips)
                continue
            if text:
                written += 1
                await _pass(draft, text, marks(raw), rows)
    except RagweaveError as error:
        if not draft.sentences:
            raise
        draft.run.note(f"The answer was cut short: {error}")
    if not draft.sentences and written:
        draft.abstain = phrase("unsupported", draft.question)
    await _tell_conflict(draft, strips)
    return True if written or draft.abstain else None


def _unknown(draft: Draft, strips: list[Strip]) -> str:
    best = max(strips, key=lambda s: (s["score"], s["id"]))
    return phrase("weak", draft.question, title=best["title"])


async def _pass(draft: Draft, text: str, cited: list[int], rows: list[list[Strip]]) -> None:
    """Emit a sentence where its cited evidence, else any evidence, supports it; drop it otherwise."""
    named = [s for n in cited if 1 <= n <= len(rows) for s in rows[n - 1]]
    for strips in filter(None, (named, [s for row in rows for s in row])):
        verdict = await verify(text, strips, draft.question, draft.run)
        if verdict.supported and times_agree(text, [strips[i] for i in verdict.by]):
            used = [strips[i] for i in verdict.by[:2]]
            real = [s for s in used if s["origin"] != "model"]
            rests = [(s, best_sentence(text, s["text"])) for s in real]
            draft.emit(text, "supported" if real else "model", rests, verdict.score)
            return
    draft.dropped += 1


def grouped(strips: list[Strip], standing: Mapping[str, float]) -> list[list[Strip]]:
    """Group strips by evidence, the best standing over all hops first; recalled passages stay last."""
    rows: dict[str, list[Strip]] = {}
    for s in strips:
        rows.setdefault(s["evidence"], []).append(s)

    def worth(row: list[Strip]) -> tuple[bool, float, float]:
        return row[0]["origin"] == "model", -standing.get(row[0]["evidence"], 0.0), -max(s["score"] for s in row)

    return sorted(rows.values(), key=worth)


def _standing(draft: Draft) -> dict[str, float]:
    return {i: e.get("standing", 0.0) for i, e in draft.rows.items()}


def _joined(row: list[Strip], whole: Evidence | None) -> str:
    return f"{headed(row[0]['title'], whole)}\n" + " […] ".join(s["text"] for s in row)


async def _tell_conflict(draft: Draft, strips: list[Strip]) -> None:
    """Note a disagreement between the library and the web that the writer kept quiet about."""
    cited = {c.origin for c in draft.citations}
    if not draft.sentences or len({s["origin"] for s in strips} & {"library", "web"}) < 2 or len(cited) == 2:
        return
    ranked = await asyncio.to_thread(rank, draft.question, strips, await _idf(draft.run, draft.question))
    if sides := conflict(draft.question, ranked):
        own, web = (e.text for e in sides)
        draft.run.note(f"Your library and the web answer this differently. The library: “{own}” The web: “{web}”")
