"""Check the answer of this turn, give its sentences their marks, and close the turn."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage

from ragweave.components.answer import Answer, Kind, told
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
from ragweave.components.stand_ins import told as told_stand_ins
from ragweave.corpora.types import LABELS
from ragweave.models.chat import chat
from ragweave.nodes.generate import open_builder
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import State, Update, known, message_id, numbered

_UNJUDGED = ("unchecked", "quoted")
"""Support of sentences whose confidence says nothing."""


async def check(state: State, runtime: NodeRuntime) -> Update:
    """Return the answer of this turn: its sentences, their marks and citations, or why there are none."""
    run = NodeRun("check", state, runtime, by="rule")
    foreign = _foreign(state)
    draft = await _marked(run, state, foreign)
    citations = _cited(draft, state)
    question, kept = state["question"], state.get("draft")
    why = "" if draft.sentences else (kept["why"] if kept else "") or UNSUPPORTED
    _note(run, draft)
    quotes = any(s.support == "quoted" for s in draft.sentences)
    kind: Kind = (
        "quotes" if quotes else "answer" if draft.sentences else "closest" if citations else "nothing"
    )
    text = told(draft.sentences, citations) if draft.sentences else f"{ABSTAIN} ({why})"
    update = run.done(_summary(draft.sentences, len(citations), why))
    notes = [*state.get("notes", []), *update.get("notes", [])]
    writer = chosen("writer", run.context)
    answer = Answer(
        question=question,
        text=text,
        sentences=tuple(draft.sentences),
        citations=citations,
        confidence=round(
            min((s.confidence for s in draft.sentences if s.support not in _UNJUDGED), default=0.0), 3
        ),
        abstained=not draft.sentences,
        kind=kind,
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
    # What was answered is no edit of the next turn.
    return {**update, "turn": {**state["turn"], "posed": question}, "answer": answer, "messages": [message]}


def _foreign(state: State) -> AIMessage | None:
    """Return the answer that another node than ours has written as a message, if the draft holds none."""
    draft, messages = state.get("draft"), state.get("messages", [])
    if (draft and (draft["sentences"] or draft["why"])) or not messages:
        return None
    last = messages[-1]
    return last if isinstance(last, AIMessage) and last.text.strip() else None


async def _marked(run: NodeRun, state: State, foreign: AIMessage | None) -> AnswerBuilder:
    """Return the draft of this turn with its marks; of a strict one what no source says is withheld."""
    strips = known(state, run.context.shown)
    builder = await open_builder(run, state, strips if foreign else ())
    if foreign:
        documents = [[s for s in strips if s["evidence"] == i] for i in numbered(state)]
        for raw in split(foreign.text):
            tell(raw, documents, builder)
        builder.close()
    rows = {e["id"]: e for e in state.get("evidence", [])}
    waiting = [n for n, s in enumerate(builder.sentences, 1) if s.support == "pending"]
    await mark_answer(run, state["question"], builder, rows)
    if run.context.check_by == "strict" and waiting:
        builder.release([n for n in waiting if builder.sentences[n - 1].support not in SHOWN_IF_STRICT])
        if not builder.sentences:
            builder.nearest()
    return builder


def _cited(draft: AnswerBuilder, state: State) -> tuple[Citation, ...]:
    """Return the sources that the sentences name; all of them if there is no sentence."""
    numbers = {n for s in draft.sentences for n in (*s.citations, *s.against)}
    return tuple(c for c in draft.citations if c.n in numbers or not draft.sentences)


def _note(run: NodeRun, draft: AnswerBuilder) -> None:
    """Record in words what limits the answer."""
    if published := told_stand_ins(run.context):
        run.note(published)
    if run.meter.refused:
        run.note(f"A limit of this run was reached: {run.meter.refused}.")
    if draft.dropped:
        run.note(WITHHELD.format(n=draft.dropped))
    if any(s.support == "quoted" for s in draft.sentences):
        run.note(QUOTED if chat() is not None else f"{QUOTED} {SET_UP}")
    elif run.context.check_by == "off" and any(s.support == "unchecked" for s in draft.sentences):
        run.note(UNCHECKED)


def _summary(draft: Sequence[Sentence], sources: int, why: str) -> str:
    """Say in words what the turn ends with."""
    if not draft:
        return f"abstained: {why}"
    noun = "quote" if any(s.support == "quoted" for s in draft) else "sentence"
    counts = ((len(draft), noun), (sources, "source"))
    said = ", ".join(f"{n} {name if n == 1 else name + 's'}" for n, name in counts)
    marks = counted_marks(s.support for s in draft)
    return f"{said}: {marks}" if marks else said


def where_searched(state: State) -> tuple[str, ...]:
    """Say where each round looked and why."""
    routed = [
        f"{', '.join(sorted(r['corpora'], key=LABELS.index)) or 'nothing'}: {r['why']}"
        for r in state["routes"]
    ]
    return tuple(dict.fromkeys(routed))
