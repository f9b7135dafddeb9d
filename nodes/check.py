"""Close the turn with an answer whose sentences bear their marks, or with a reasoned abstention."""

from __future__ import annotations

from langchain_core.messages import AIMessage

from ragweave.components.evidence import Citation, Sentence
from ragweave.components.phrases import ABSTAIN, ORDERS, QUOTED, SET_UP, UNSUPPORTED, WITHHELD
from ragweave.components.run_context import chosen
from ragweave.components.stand_ins import told as told_stand_ins
from ragweave.corpora.hidden import addresses_machines
from ragweave.corpora.types import LABELS
from ragweave.models.chat import chat
from ragweave.nodes.answer import Answer, Kind, told
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import State, Update, message_id

_UNJUDGED = ("unchecked", "quoted")
"""Support of sentences whose confidence says nothing."""


async def check(state: State, runtime: NodeRuntime) -> Update:
    """Return the answer of this turn: its sentences, their citations, confidence, or why there are none."""
    run = NodeRun("check", state, runtime, by="rule")
    draft = [Sentence.model_validate(s) for s in state.get("draft", [])]
    cited = {n for s in draft for n in s.citations}
    kept = [Citation.model_validate(c) for c in state.get("citations", [])]
    citations = tuple(c for c in kept if c.n in cited or not draft)
    question = state["question"]
    why = "" if draft else state.get("abstain", "") or UNSUPPORTED
    if published := told_stand_ins(run.context):
        run.note(published)
    if run.meter.refused:
        run.note(f"A limit of this run was reached: {run.meter.refused}.")
    if dropped := state.get("dropped", 0):
        run.note(WITHHELD.format(n=dropped))
    texts = {e["id"]: e["text"] for e in state.get("evidence", [])}
    for c in citations:
        if addresses_machines(f"{c.title}\n{texts.get(c.id, '')}"):
            run.note(ORDERS.format(n=c.n, title=c.title))
    quotes = any(s.support == "quoted" for s in draft)
    if quotes:
        run.note(QUOTED if chat() is not None else f"{QUOTED} {SET_UP}")
    kind: Kind = "quotes" if quotes else "answer" if draft else "closest" if citations else "nothing"
    text = told(draft, citations) if draft else f"{ABSTAIN} ({why})"
    noun = "quote" if quotes else "sentence"
    counts = ((len(draft), noun), (len(citations), "source"))
    writer = chosen("writer", run.context)
    summary = ", ".join(f"{n} {name if n == 1 else name + 's'}" for n, name in counts) if draft else f"abstained: {why}"
    update = run.done(summary)
    notes = [*state.get("notes", []), *update.get("notes", [])]
    answer = Answer(
        question=question,
        text=text,
        sentences=tuple(draft),
        citations=citations,
        confidence=round(min((s.confidence for s in draft if s.support not in _UNJUDGED), default=0.0), 3),
        abstained=not draft,
        kind=kind,
        why=why,
        mode=state.get("mode", "extractive"),
        model=f"{writer.name} at {writer.host}" if writer is not None else "",
        preset=run.context.preset if run.context.preset != "none" else "",
        dropped=dropped,
        notes=tuple(dict.fromkeys(notes)),
        searched=searched(state),
        usage=(*state.get("usage", []), *update["usage"]),
    )
    # What was answered is no edit of the next turn.
    return {**update, "posed": question, "answer": answer, "messages": [AIMessage(text, id=message_id(state))]}


def searched(state: State) -> tuple[str, ...]:
    """Say where each round looked and why; a graph without a router always looks in the same places."""
    routes = state.get("routes", [])
    routed = [f"{', '.join(sorted(r['corpora'], key=LABELS.index)) or 'nothing'}: {r['why']}" for r in routes]
    asked = list(dict.fromkeys(t["corpus"] for t in state.get("tasks", [])))
    fixed = [f"{', '.join(asked)}: this graph asks no router"] if asked else []
    return tuple(dict.fromkeys(routed or fixed))
