"""Check each sentence against its evidence, and close the turn with an answer or a reasoned abstention."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from ragweave.corpora.types import LABELS, Locator
from ragweave.minds.context import Context
from ragweave.minds.evidence import Citation, Sentence, Strip
from ragweave.models.chat import Chat
from ragweave.models.relevance import Passage
from ragweave.models.support import Verdict, stands_in, support
from ragweave.models.text import clip
from ragweave.nodes.answer import Answer
from ragweave.nodes.phrases import phrase
from ragweave.nodes.run import Run
from ragweave.nodes.state import State, Update
from ragweave.prompts import load, quote

_SHOWN = 1_500
"""Characters of a strip that a model checks against."""


async def verify(sentence: str, strips: Sequence[Strip], question: str, run: Run) -> Verdict:
    """Judge whether the strips support a sentence: relevance, and agreement of numbers, dates, names and negation.

    With `check_by=llm` a chat model has to agree as well: it sees who did what to whom, which the small check does
    not. A sentence that stands in its evidence word for word needs no second opinion.
    """
    passages = [Passage(s["title"], s["text"]) for s in strips]
    verdict = await asyncio.to_thread(support, sentence, passages, question)
    model = run.chat("judge", run.context.check_by)
    if not verdict.supported or model is None or any(stands_in(sentence, passages[i].text) for i in verdict.by):
        return verdict
    by = run.by
    agreed = await run.decide(
        model, lambda m: _agrees(m, run, sentence, [passages[i] for i in verdict.by], question), _unheard
    )
    # The node's maker is who wrote, not who checked.
    run.by = by
    return verdict if agreed else Verdict(False, 0.0, (), "The model that checks finds it unsupported.")


async def _agrees(model: Chat, run: Run, sentence: str, evidence: Sequence[Passage], question: str) -> bool | None:
    shown = "\n\n".join(quote(f"{p.title}\n{clip(p.text, _SHOWN)}") for p in evidence)
    messages = load("check", question=question, sentence=sentence, evidence=shown)
    label = await model.label(messages, ["supported", "unsupported"], node=run.node, meter=run.meter)
    return None if label is None else label == "supported"


async def _unheard() -> bool:
    """Let the small check stand where the model gives no verdict that can be read."""
    return True


async def check(state: State, runtime: Runtime[Context]) -> Update:
    """Return the answer of this turn: the sentences that passed, their citations, confidence, or why there are none."""
    run = Run.of("check", state, runtime)
    run.by = "rule"
    draft = [Sentence.model_validate(s) for s in state.get("draft", [])]
    cited = {n for s in draft for n in s.citations}
    kept = [Citation.model_validate(c) for c in state.get("citations", [])]
    citations = tuple(c for c in kept if c.n in cited)
    question = state["question"]
    why = "" if draft else state.get("abstain", "") or phrase("unsupported", question)
    if run.meter.refused:
        run.note(f"A limit of this run was reached: {run.meter.refused}.")
    text = shown(draft) if draft else f"{phrase('abstain', question)} ({why})"
    writer = run.chat("writer")
    update = run.done(f"{len(draft)} sentences, {len(citations)} sources" if draft else f"abstained: {why}")
    notes = [*state.get("notes", []), *update.get("notes", [])]
    answer = Answer(
        question=question,
        text=text,
        sentences=tuple(draft),
        citations=citations,
        confidence=round(min((s.confidence for s in draft), default=0.0), 3),
        abstained=not draft,
        why=why,
        mind=state.get("mind", "small"),
        model=f"{writer.name} at {writer.host}" if writer is not None else "",
        dropped=state.get("dropped", 0),
        notes=tuple(dict.fromkeys(notes)),
        searched=searched(state),
        usage=(*state.get("usage", []), *update["usage"]),
    )
    message = AIMessage(content=text, id=message_id(state))
    return {**update, "answer": answer, "messages": [message]}


def searched(state: State) -> tuple[str, ...]:
    """Say where each round looked and why; a graph without a router always looks in the same places."""
    routed = [
        f"{', '.join(sorted(r['corpora'], key=LABELS.index)) or 'nothing'}: {r['why']}" for r in state.get("routes", [])
    ]
    asked = list(dict.fromkeys(t["corpus"] for t in state.get("tasks", [])))
    fixed = [f"{', '.join(asked)}: this graph asks no router"] if asked else []
    return tuple(dict.fromkeys(routed or fixed))


def message_id(state: State) -> str:
    """Return the id of the turn's answer; its chunks and the whole message share it."""
    return f"answer-{state['turn']}"


def shown(sentences: Sequence[Sentence]) -> str:
    """Join sentences with their citation marks."""
    return " ".join(marked(s) for s in sentences)


def marked(sentence: Sentence) -> str:
    """Return a sentence followed by its citation marks."""
    signs = "".join(f"[{n}]" for n in sentence.citations)
    return f"{sentence.text} {signs}".strip()


def citation_of(strip: Strip, n: int, quote: str, also: Sequence[Locator] = ()) -> Citation:
    """Build a numbered citation that opens the strip; `also` are the other places of the same text."""
    return Citation(
        n=n,
        id=strip["evidence"],
        title=strip["title"],
        locator=strip["locator"],
        quote=quote[:500],
        also=tuple(also),
        origin="web" if strip["origin"] == "web" else "library",
    )
