"""Generate the answer sentence by sentence; none is taken back, and its mark arrives after it."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessageChunk, HumanMessage
from langgraph.config import get_config
from langgraph.graph.message import push_message

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.attachments import said
from ragweave.components.choices import offered
from ragweave.components.component import Outcome
from ragweave.components.evidence import Citation, Evidence, Sentence, Strip
from ragweave.components.llm.documents import read_whole
from ragweave.components.protocols import GenerationInput
from ragweave.components.run_context import has_writer_model
from ragweave.nodes.answer import behind, following
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import State, Update, bound, known, message_id, of_hop, whole_documents


async def open_builder(run: NodeRun, state: State, strips: Sequence[Strip] = ()) -> AnswerBuilder:
    """Return where the turn's answer is written, with what is written already.

    `strips` are what was read whole: a sentence cites the place in them that says it.
    """
    rows = {e["id"]: e for e in state.get("evidence", [])}
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

    builder = AnswerBuilder(emit, rows, items, mark, run.context.strict, run.context.check_by != "off")
    builder.sentences = [Sentence.model_validate(s) for s in state.get("draft", [])]
    builder.citations = [Citation.model_validate(c) for c in state.get("citations", [])]
    builder.dropped = state.get("dropped", 0)
    return builder


def _is_streamed() -> bool:
    """Tell whether somebody reads the messages of this run; a node alone has no run."""
    try:
        return hasattr(get_config().get("callbacks"), "handlers")
    except RuntimeError:
        return False


def written(builder: AnswerBuilder) -> Update:
    """Return what is kept of a page."""
    return {"draft": builder.sentences, "citations": builder.citations, "dropped": builder.dropped}


async def generate(state: State, runtime: NodeRuntime) -> Update:
    """Return the sentences with their citations; an empty draft carries the reason.

    What `reason` said while it was written is shown already, and the run does not come here.
    """
    run = NodeRun("generate", state, runtime)
    question, strips = state["question"], known(state, run.context.shown)
    asked, choices = offered(run.context, question)
    routed, phrased = of_hop(state.get("routes"), run.hop), of_hop(state.get("queries"), run.hop)
    rows = {e["id"]: e for e in state.get("evidence", [])}
    builder = await open_builder(run, state, strips)
    told = bool(builder.sentences)
    if has_writer_model(run.context) and not told:
        ranked = [h["evidence"] for h in state.get("hops", [])] or [state.get("candidates", [])]
        strips = await read_whole(run, strips, rows, ranked, whole_documents(state, run.context.method.whole), question)
    given = GenerationInput(
        question=asked,
        strips=strips,
        rows=rows,
        choices=choices,
        reply=state.get("reply"),
        turn=next((said(m) for m in reversed(state.get("messages", [])) if isinstance(m, HumanMessage)), ""),
        lower=bound(state),
        chunks=state.get("chunks", []),
        searched=routed is None or routed["corpora"] != ["none"],
        queries=phrased["rewrites"] if phrased else (),
    )
    made = Outcome("", "llm") if told else await run.components.writer(run, given, builder)
    why = "" if builder.sentences else made.value
    if why and not builder.citations and made.by == "llm":
        builder.nearest()
    if run.meter.refused and not builder.sentences and has_writer_model(run.context):
        why = f"{run.meter.refused} was spent before an answer could be written"
    n, noun = len(builder.sentences), "quote" if any(s.support == "quoted" for s in builder.sentences) else "sentence"
    summary = f"{n} {noun}{'s' * (n > 1)}" if n else f"nothing: {why}"
    seen = [Evidence(**{**rows[i], "seen": text}) for i, text in builder.seen.items() if i in rows]
    if builder.dropped:
        summary += f", {builder.dropped} left out"
    return run.done(
        summary, made, mode="llm" if made.by == "llm" else "extractive", **written(builder), evidence=seen, abstain=why
    )
