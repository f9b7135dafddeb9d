"""Check the answer of this turn, mark its sentences, and close the turn."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage

from ragweave.components.answer import Answer, Kind, answer_text
from ragweave.components.answer_builder import SHOWN_IF_STRICT, AnswerBuilder
from ragweave.components.evidence import Citation, Sentence
from ragweave.components.marking import mark_answer
from ragweave.components.phrases import (
    ABSTAIN,
    QUOTED,
    SET_UP,
    UNCHECKED,
    UNSUPPORTED,
    WITHHELD,
    counted_marks,
)
from ragweave.components.prose import split, tell
from ragweave.components.run_context import chosen
from ragweave.components.stand_ins import told_of
from ragweave.corpora.types import LABELS
from ragweave.models.chat import chat
from ragweave.models.text import counted
from ragweave.nodes.generate import open_builder
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import (
    State,
    Update,
    evidence_by_id,
    known,
    message_id,
    numbered,
    strips_by_document,
)

_UNJUDGED = ("unchecked", "quoted")
"""Kinds of support that carry no confidence."""


async def check(state: State, runtime: NodeRuntime) -> Update:
    """Return the answer of this turn: its sentences, their marks and citations, or why there are none."""
    run = NodeRun("check", state, runtime, by="rule")
    foreign = _foreign(state)
    draft = await _marked(run, state, foreign)
    citations = _cited(draft)
    question, kept = state["question"], state.get("draft")
    why = "" if draft.sentences else (kept["why"] if kept else "") or UNSUPPORTED
    await _note(run, draft)
    text = answer_text(draft.sentences, citations) if draft.sentences else f"{ABSTAIN} ({why})"
    update = run.done(_summary(draft.sentences, len(citations), why))
    notes = [*state.get("notes", []), *update.get("notes", [])]
    writer = chosen("writer", run.context)
    answer = Answer(
        question=question,
        text=text,
        sentences=tuple(draft.sentences),
        citations=citations,
        confidence=_confidence(draft.sentences),
        abstained=not draft.sentences,
        kind=_kind(draft.sentences, citations),
        why=why,
        mode="llm" if foreign else kept["by"] if kept else "extractive",
        model=f"{writer.name} at {writer.host}" if writer is not None else "",
        preset=run.context.preset if run.context.preset != "none" else "",
        dropped=draft.dropped,
        notes=tuple(dict.fromkeys(notes)),
        searched=where_searched(state),
        usage=(*state.get("usage", []), *update["usage"]),
    )
    message = AIMessage(text, id=foreign.id if foreign else message_id(state))
    # The next turn must not take this question for an edited one.
    return {**update, "turn": {**state["turn"], "posed": question}, "answer": answer, "messages": [message]}


def _kind(sentences: Sequence[Sentence], citations: Sequence[Citation]) -> Kind:
    """Return what the turn ends with: quotes, an answer, the closest passages, or nothing."""
    if _quotes(sentences):
        return "quotes"
    if sentences:
        return "answer"
    return "closest" if citations else "nothing"


def _quotes(sentences: Sequence[Sentence]) -> bool:
    return _any_is("quoted", sentences)


def _any_is(support: str, sentences: Sequence[Sentence]) -> bool:
    for sentence in sentences:
        if sentence.support == support:
            return True
    return False


def _confidence(sentences: Sequence[Sentence]) -> float:
    """Return the lowest confidence of a judged sentence, 0 if there is none."""
    judged: list[float] = []
    for sentence in sentences:
        if sentence.support not in _UNJUDGED:
            judged.append(sentence.confidence)
    return round(min(judged, default=0.0), 3)


def _foreign(state: State) -> AIMessage | None:
    """Return the message in which a node of another graph answered, if the draft is empty."""
    draft, messages = state.get("draft"), state.get("messages", [])
    if (draft and (draft["sentences"] or draft["why"])) or not messages:
        return None
    last = messages[-1]
    return last if isinstance(last, AIMessage) and last.text.strip() else None


async def _marked(run: NodeRun, state: State, foreign: AIMessage | None) -> AnswerBuilder:
    """Return the draft of this turn with its marks; a strict run withholds what no source supports."""
    strips = known(state, run.context.shown)
    builder = await open_builder(run, state, strips if foreign else ())
    if foreign:
        documents = strips_by_document(strips, numbered(state))
        for raw in split(foreign.text):
            tell(raw, documents, builder)
        builder.close()
    waiting = []
    for n, s in enumerate(builder.sentences, 1):
        if s.support == "pending":
            waiting.append(n)
    await mark_answer(run, state["question"], builder, evidence_by_id(state))
    if run.context.check_by == "strict" and waiting:
        _withhold(builder, waiting)
    return builder


def _withhold(builder: AnswerBuilder, waiting: Sequence[int]) -> None:
    """Drop the waiting sentences whose mark a strict run does not show."""
    dropped: list[int] = []
    for n in waiting:
        if builder.sentences[n - 1].support not in SHOWN_IF_STRICT:
            dropped.append(n)
    builder.release(dropped)
    if not builder.sentences:
        builder.nearest()


def _cited(draft: AnswerBuilder) -> tuple[Citation, ...]:
    """Return the sources that the sentences cite; all sources if there is no sentence."""
    if not draft.sentences:
        return tuple(draft.citations)
    numbers: set[int] = set()
    for sentence in draft.sentences:
        numbers.update(sentence.citations)
        numbers.update(sentence.against)
    kept = []
    for c in draft.citations:
        if c.n in numbers:
            kept.append(c)
    return tuple(kept)


async def _note(run: NodeRun, draft: AnswerBuilder) -> None:
    """Add a note for each thing that limits the answer."""
    published = await told_of(run)
    if published:
        run.note(published)
    if run.meter.refused:
        run.note(f"A limit of this run was reached: {run.meter.refused}.")
    if draft.dropped:
        run.note(WITHHELD.format(n=draft.dropped))
    if _quotes(draft.sentences):
        run.note(QUOTED if chat() is not None else f"{QUOTED} {SET_UP}")
    elif run.context.check_by == "off" and _any_is("unchecked", draft.sentences):
        run.note(UNCHECKED)


def _summary(draft: Sequence[Sentence], sources: int, why: str) -> str:
    """Summarise the end of the turn for the trail of steps."""
    if not draft:
        return f"abstained: {why}"
    noun = "quote" if _quotes(draft) else "sentence"
    summary = f"{counted(len(draft), noun)}, {counted(sources, 'source')}"
    marks = counted_marks([s.support for s in draft])
    return f"{summary}: {marks}" if marks else summary


def where_searched(state: State) -> tuple[str, ...]:
    """Say where each round looked and why."""
    lines: list[str] = []
    for route in state["routes"]:
        corpora = ", ".join(sorted(route["corpora"], key=LABELS.index)) or "nothing"
        lines.append(f"{corpora}: {route['why']}")
    return tuple(dict.fromkeys(lines))
