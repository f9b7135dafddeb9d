"""Generate the answer sentence by sentence; none is taken back, and its mark arrives after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from langchain_core.messages import AIMessageChunk, HumanMessage
from langgraph.config import get_config
from langgraph.graph.message import push_message

from ragweave.components.answer import behind, following
from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.attachments import said
from ragweave.components.documents import read_whole
from ragweave.components.evidence import Citation, Evidence, Sentence, Strip
from ragweave.components.generation_input import GenerationInput
from ragweave.components.run_context import has_writer_model
from ragweave.components.write import write_answer
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import (
    EMPTY,
    Draft,
    State,
    Update,
    bound,
    evidence_by_id,
    known,
    message_id,
    of_hop,
    phrasings_of,
    whole_documents,
)


async def open_builder(run: NodeRun, state: State, strips: Sequence[Strip] = ()) -> AnswerBuilder:
    """Return where the turn's answer is written, with what is written already.

    `strips` are what was read whole: a sentence cites the place in them that says it.
    """
    rows = evidence_by_id(state)
    ids = list(dict.fromkeys([*(s["evidence"] for s in strips), *rows]))
    items = await (await run.library()).items(ids) if ids else {}
    noted = list[str]()  # behind the last sentence; the next one begins a paragraph

    def emit(n: int, sentence: Sentence, citations: list[Citation]) -> None:
        said = sentence.model_dump(include={"text", "support", "sign", "marked"})
        cited = [c.model_dump() for c in citations]
        run.event({"type": "sentence", "n": n, **said, "citations": cited})
        before = builder.sentences[n - 2].sign if n > 1 and not noted else None
        push("\n\n" * len(noted[:1]) + following(sentence, before, citations[0].title if citations else ""))
        noted.clear()

    def mark(n: int, sentence: Sentence, citations: list[Citation]) -> None:
        said = sentence.model_dump(include={"support", "says", "against", "confidence"})
        run.event({"type": "mark", "n": n, **said, "citations": [c.model_dump() for c in citations]})
        if words := behind(sentence):
            noted.append(words)
            push(f"\n\n{words}")

    def push(content: str) -> None:
        if _is_streamed():
            push_message(AIMessageChunk(content=content, id=message_id(state)), state_key=None)

    checks = run.context.check_by
    builder = AnswerBuilder(emit, rows, items, mark, checks == "strict", checks != "off")
    if draft := state.get("draft"):
        builder.sentences = [Sentence.model_validate(s) for s in draft["sentences"]]
        builder.citations = [Citation.model_validate(c) for c in draft["citations"]]
        builder.dropped = draft["dropped"]
    return builder


def _is_streamed() -> bool:
    """Tell whether somebody reads the messages of this run; a node alone has no run."""
    try:
        return hasattr(get_config().get("callbacks"), "handlers")
    except RuntimeError:
        return False


def written(builder: AnswerBuilder, by: Literal["extractive", "llm"], why: str = "") -> Draft:
    """Return what is kept of a page: who wrote it, and why nothing is on it."""
    return {
        **EMPTY,
        "sentences": builder.sentences,
        "citations": builder.citations,
        "dropped": builder.dropped,
        "by": by,
        "why": why,
    }


async def generate(state: State, runtime: NodeRuntime) -> Update:
    """Return the draft of an answer that nobody has written yet; an empty one carries the reason."""
    run = NodeRun("generate", state, runtime)
    model = has_writer_model(run.context)
    given, strips = await _given(run, state, model)
    builder = await open_builder(run, state, strips)
    made = await write_answer(run, given, builder)
    why = "" if builder.sentences else made.value
    if why and not builder.citations and made.by == "llm":
        builder.nearest()
    if run.meter.refused and not builder.sentences and model:
        why = f"{run.meter.refused} was spent before an answer could be written"
    seen = [
        Evidence(**{**given.rows[i], "seen": text}) for i, text in builder.seen.items() if i in given.rows
    ]
    draft = written(builder, "llm" if made.by == "llm" else "extractive", why)
    return run.done(_summary(builder, why), made, draft=draft, evidence=seen)


async def _given(run: NodeRun, state: State, model: bool) -> tuple[GenerationInput, list[Strip]]:
    """Return what the writer writes from; a chat model reads documents whole that passages are not enough of."""
    question, strips = state["question"], known(state, run.context.shown)
    routed, draft = of_hop(state.get("routes"), run.hop), state.get("draft")
    rows = evidence_by_id(state)
    if model:
        ranked = [h["evidence"] for h in state.get("hops", [])] or [state.get("candidates", [])]
        strips = await read_whole(run, strips, rows, ranked, whole_documents(state), question)
    given = GenerationInput(
        question=question,
        strips=strips,
        rows=rows,
        reply=draft["reply"] if draft else None,
        turn=next((said(m) for m in reversed(state.get("messages", [])) if isinstance(m, HumanMessage)), ""),
        lower=bound(state),
        chunks=[i for row in state.get("found", []) if row["kind"] == "beside" for i in row["ids"]],
        searched=routed is None or routed["corpora"] != ["none"],
        queries=phrasings_of(state)["rewrites"],
    )
    return given, strips


def _summary(builder: AnswerBuilder, why: str) -> str:
    """Say in words what was written."""
    n = len(builder.sentences)
    noun = "quote" if any(s.support == "quoted" for s in builder.sentences) else "sentence"
    summary = f"{n} {noun}{'s' * (n > 1)}" if n else f"nothing: {why}"
    return f"{summary}, {builder.dropped} left out" if builder.dropped else summary
