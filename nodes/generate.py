"""Generate the answer sentence by sentence; a sentence is never withdrawn, its mark follows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

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
from ragweave.models.text import counted
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
)
from ragweave.nodes.whole_documents import whole_documents


async def open_builder(run: NodeRun, state: State, strips: Sequence[Strip] = ()) -> AnswerBuilder:
    """Return the builder of the turn's answer, with the sentences that are already written.

    `strips` are documents that were read whole: a sentence cites the place in them that supports it.
    """
    rows = evidence_by_id(state)
    of_strips = [strip["evidence"] for strip in strips]
    ids = list(dict.fromkeys([*of_strips, *rows]))
    items = await (await run.library()).items(ids) if ids else {}
    stream = _Stream(run, message_id(state))
    checks = run.context.check_by
    builder = AnswerBuilder(stream.emit, rows, items, stream.mark, checks == "strict", checks != "off")
    stream.builder = builder
    draft = state.get("draft")
    if draft:
        builder.sentences = list(map(Sentence.model_validate, draft["sentences"]))
        builder.citations = list(map(Citation.model_validate, draft["citations"]))
        builder.dropped = draft["dropped"]
    return builder


class _Stream:
    """Streams sentences and their marks, as events and as messages of the graph."""

    builder: AnswerBuilder
    """The answer; set before the first sentence."""

    def __init__(self, run: NodeRun, message: str) -> None:
        self._run, self._message = run, message
        # Whether a note follows the last sentence: the next sentence then starts a paragraph.
        self._noted = False

    def emit(self, n: int, sentence: Sentence, citations: list[Citation]) -> None:
        """Stream sentence number n."""
        fields = sentence.model_dump(include={"text", "support", "sign", "marked"})
        self._send("sentence", n, fields, citations)
        before = self.builder.sentences[n - 2].sign if n > 1 and not self._noted else None
        text = following(sentence, before, citations[0].title if citations else "")
        self._push(f"\n\n{text}" if self._noted else text)
        self._noted = False

    def mark(self, n: int, sentence: Sentence, citations: list[Citation]) -> None:
        """Stream the mark of sentence number n."""
        fields = sentence.model_dump(include={"support", "says", "against", "confidence"})
        self._send("mark", n, fields, citations)
        note = behind(sentence)
        if note:
            self._noted = True
            self._push(f"\n\n{note}")

    def _send(self, kind: str, n: int, fields: dict[str, Any], citations: list[Citation]) -> None:
        dumped = [citation.model_dump() for citation in citations]
        self._run.event({"type": kind, "n": n, **fields, "citations": dumped})

    def _push(self, content: str) -> None:
        if _is_streamed():
            push_message(AIMessageChunk(content=content, id=self._message), state_key=None)


def _is_streamed() -> bool:
    """Return whether the messages of this run are streamed; a node alone has no run."""
    try:
        return hasattr(get_config().get("callbacks"), "handlers")
    except RuntimeError:
        return False


def written(builder: AnswerBuilder, by: Literal["extractive", "llm"], why: str = "") -> Draft:
    """Return the draft of a builder: its sentences, their writer, and why there are none."""
    return {
        **EMPTY,
        "sentences": builder.sentences,
        "citations": builder.citations,
        "dropped": builder.dropped,
        "by": by,
        "why": why,
    }


async def generate(state: State, runtime: NodeRuntime) -> Update:
    """Return the draft of an answer; an empty draft has the reason."""
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
    seen: list[Evidence] = []
    for i, text in builder.seen.items():
        if i in given.rows:
            seen.append(Evidence(**{**given.rows[i], "seen": text}))
    draft = written(builder, "llm" if made.by == "llm" else "extractive", why)
    return run.done(_summary(builder, why), made, draft=draft, evidence=seen)


async def _given(run: NodeRun, state: State, model: bool) -> tuple[GenerationInput, list[Strip]]:
    """Return the writer's input; a chat model reads documents whole if their passages are not enough."""
    question, strips = state["question"], known(state, run.context.shown)
    routed, draft = of_hop(state.get("routes"), run.hop), state.get("draft")
    rows = evidence_by_id(state)
    if model:
        ranked = [hop["evidence"] for hop in state.get("hops", [])] or [state.get("candidates", [])]
        strips = await read_whole(run, strips, rows, ranked, whole_documents(state), question)
    given = GenerationInput(
        question=question,
        strips=strips,
        rows=rows,
        reply=draft["reply"] if draft else None,
        turn=_last_message(state),
        lower=bound(state),
        chunks=_further_passages(state),
        searched=routed is None or routed["corpora"] != ["none"],
        queries=phrasings_of(state)["rewrites"],
    )
    return given, strips


def _last_message(state: State) -> str:
    """Return the text of the last message of the user, or ""."""
    for message in reversed(state.get("messages", [])):
        if isinstance(message, HumanMessage):
            return said(message)
    return ""


def _further_passages(state: State) -> list[str]:
    """Return the ids of the passages that retrieval adds for the writer."""
    ids: list[str] = []
    for row in state.get("found", []):
        if row["kind"] == "beside":
            ids += row["ids"]
    return ids


def _summary(builder: AnswerBuilder, why: str) -> str:
    """Summarise the draft in words."""
    count = len(builder.sentences)
    quotes = False
    for sentence in builder.sentences:
        if sentence.support == "quoted":
            quotes = True
    summary = counted(count, "quote" if quotes else "sentence") if count else f"nothing: {why}"
    return f"{summary}, {builder.dropped} left out" if builder.dropped else summary
