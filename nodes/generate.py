"""Generate the answer sentence by sentence; each is checked before a reader sees it, and never taken back."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessageChunk
from langgraph.config import get_config
from langgraph.graph.message import push_message

from ragweave.minds.choices import offered
from ragweave.minds.contracts import Brief
from ragweave.minds.desk import reads
from ragweave.minds.evidence import Citation, Sentence, Strip, Support
from ragweave.minds.known import Checked
from ragweave.minds.mind import Made
from ragweave.minds.page import Claim, Page
from ragweave.nodes.answer import following
from ragweave.nodes.run import NodeRuntime, Run
from ragweave.nodes.state import State, Update, bound, known, message_id, of_hop


async def open_page(run: Run, state: State, strips: Sequence[Strip]) -> Page:
    """Return the page of the turn, with what is written on it already."""
    question = state["question"]
    rows = {e["id"]: e for e in state.get("evidence", [])}
    # What was read whole is cited by the sentence that says it.
    ids = list(dict.fromkeys([*(s["evidence"] for s in strips), *rows]))
    items = await (await run.library()).items(ids)

    async def check(text: str, against: Sequence[Strip]) -> Checked:
        return (await run.minds.checker(run, text, against, question)).value

    def emit(sentence: Sentence, citations: list[Citation]) -> None:
        said = sentence.model_dump(include={"text", "support", "sign", "marked"})
        run.event({"type": "sentence", **said, "citations": [c.model_dump() for c in citations]})
        before = page.sentences[-2].sign if len(page.sentences) > 1 else None
        title = citations[0].title if citations else ""
        if hasattr(get_config().get("callbacks"), "handlers"):
            chunk = AIMessageChunk(content=following(sentence, before, title), id=message_id(state))
            push_message(chunk, state_key=None)

    second = run.minds.second

    async def again(claims: Sequence[Claim]) -> list[Support]:
        assert second is not None
        made = await second(run, question, claims)
        run.fallback = run.fallback or made.fallback
        return made.value

    by, opinion = run.context.check_by, None if second is None else again
    page = Page(check, emit, rows, items, opinion, run.context.strict, by == "llm", by != "off")
    if draft := state.get("draft"):
        page.sentences = [Sentence.model_validate(s) for s in draft]
        page.citations = [Citation.model_validate(c) for c in state.get("citations", [])]
        page.dropped = state.get("dropped", 0)
    return page


def written(page: Page) -> Update:
    """Return what is kept of a page."""
    return {"draft": page.sentences, "citations": page.citations, "dropped": page.dropped}


async def generate(state: State, runtime: NodeRuntime) -> Update:
    """Return the checked sentences with their citations; an empty draft carries the reason.

    What the reasoning turn said while it was written is shown already, and only closed here.
    """
    run = Run("generate", state, runtime)
    question, strips = state["question"], known(state, run.context.shown)
    asked, choices = offered(run.context, question)
    routed = of_hop(state.get("routes"), run.hop)
    page = await open_page(run, state, strips)
    brief = Brief(
        question=asked,
        strips=strips,
        rows={e["id"]: e for e in state.get("evidence", [])},
        choices=choices,
        reply=state.get("reply"),
        lower=bound(state),
        chunks=state.get("chunks", []),
        searched=routed is None or routed["corpora"] != ["none"],
    )
    made = Made("", "llm") if page.sentences else await run.minds.writer(run, brief, page)
    why = "" if page.sentences else made.value
    if why and not page.citations and made.by == "llm":
        page.nearest()
    if run.meter.refused and not page.sentences and reads(run.context):
        why = f"{run.meter.refused} was spent before an answer could be written"
    n, noun = len(page.sentences), "quote" if any(s.support == "quoted" for s in page.sentences) else "sentence"
    summary = f"{n} {noun}{'s' * (n > 1)}" if n else f"nothing: {why}"
    if page.dropped:
        summary += f", {page.dropped} left out"
    return run.done(summary, made, mind="llm" if made.by == "llm" else "small", **written(page), abstain=why)
