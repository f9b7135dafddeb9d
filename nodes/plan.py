"""Plan the hop's searches: the only dispatcher of the graph."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.types import Send

from ragweave.corpora.types import CORPORA, Corpus
from ragweave.corpora.video.scope import Scope, named_scope, scope_of
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import RetrieveTask, RoundState, State, Update, of_hop

WITHOUT_ROUTER: tuple[Corpus, ...] = ("paragraph", "image", "clip")
"""What a graph without a router searches: the finest granularity of each modality."""
RECORDINGS: tuple[Corpus, ...] = ("clip", "video")
"""Corpora that the retrievers of the recordings search together."""
IN_QUESTION = 0.2
"""Share of the router's confidence from which a recording is in question."""


async def plan(state: State, runtime: NodeRuntime) -> Update:
    """Return one task per corpus, each with every phrasing; none where no retrieval is wanted."""
    return await _plan(state, runtime, WITHOUT_ROUTER)


async def plan_recordings(state: State, runtime: NodeRuntime) -> Update:
    """Return the tasks of a graph that only searches recordings."""
    return await _plan(state, runtime, RECORDINGS)


async def _plan(state: State, runtime: NodeRuntime, without_router: Sequence[Corpus]) -> Update:
    run = NodeRun("plan", state, runtime, by="rule")
    corpora = await _corpora(state, run, without_router)
    library, context = await run.library(), run.context
    scope: Scope | None = Scope()
    if corpora:
        scope, notes = await scope_of(library, context.sources, context.videos, context.collection)
        run.notes += notes
    if scope is None:
        corpora, scope = [], Scope()
    told = await named_scope(library, state["query"], scope) if {*RECORDINGS} & {*corpora} else scope
    plain = told is scope and not in_question(state, run)
    asked = of_hop(state.get("queries"), run.hop)
    rewrites = asked["rewrites"] if asked else []
    queries = [state["query"], *state.get("also", []), *rewrites]
    if rewrites and not context.method.original_weight:
        queries = [*rewrites]  # the program of RAG-Fusion does not search the question itself
    tasks = [
        RetrieveTask(
            corpus=c, queries=queries, hop=run.hop, sources=[*within.sources], titles=[*within.titles], plain=plain
        )
        for c in corpora
        for within in [told if c in RECORDINGS else scope]
    ]
    phrased = f"{len(queries)} phrasing{'s' if len(queries) > 1 else ''}"
    summary = f"search {', '.join(corpora)} with {phrased}" if tasks else "nothing to search"
    return run.done(summary, data={"corpora": corpora, "queries": queries}, tasks=tasks)


async def _corpora(state: State, run: NodeRun, without_router: Sequence[Corpus]) -> list[Corpus]:
    if run.context.max_hops == 0:
        return []
    if (routed := of_hop(state.get("routes"), run.hop)) is not None:
        return [c for c in CORPORA if c in routed["corpora"]]
    held = await (await run.library()).counts()
    if without_router is RECORDINGS and not any(held.get(c) for c in RECORDINGS):
        run.note("The library holds no recordings; index a video, a sound file or a transcript with times.")
    wanted = run.context.corpora or without_router
    return [c for c in CORPORA if c in wanted and held.get(c)]


def in_question(state: State, run: NodeRun) -> bool:
    """Tell whether the hop may be about a recording, so that all retrievers of recordings are worth their time.

    It is unless the small router gives recordings next to nothing, and the run neither names one nor takes the thorough
    way or a published one.
    """
    context, routed = run.context, of_hop(state.get("routes"), run.hop)
    if routed is None or routed["by"] != "local" or context.depth == "thorough" or context.method.form != "own":
        return True
    if context.videos or context.from_time is not None or context.to_time is not None:
        return True
    return sum(routed["confidence"].get(c, 0.0) for c in RECORDINGS) >= IN_QUESTION


def dispatch(state: State) -> list[Send] | str:
    """Send one task per corpus, or go straight on where there is nothing to search."""
    return [_sent(state, task) for task in state["tasks"]] or "generate"


def _sent(state: State, task: RetrieveTask) -> Send:
    return Send("retrieve", {**task, "knobs": state.get("knobs", {})})


def dispatch_recordings(state: State) -> list[Send] | str:
    """Send clips and videos together to the retrievers of recordings, and one task per other corpus to `retrieve`.

    Further phrasings of the query are searched in the recordings as in any other corpus: by words and by meaning.
    """
    tasks = state["tasks"]
    recorded = [t for t in tasks if t["corpus"] in RECORDINGS and not t.get("plain")]
    sent = [_sent(state, t) for t in tasks if t not in recorded]
    if recorded:
        first, known = recorded[0], {key: value for key, value in state.items() if key in RoundState.__annotations__}
        within = {"sources": first["sources"], "titles": first["titles"]}
        sent.append(Send("retrieve_video", {**known, **within, "corpora": [t["corpus"] for t in recorded]}))
        if further := [q for q in first["queries"] if q != state["query"]]:
            sent += [_sent(state, {**t, "queries": further}) for t in recorded]
    return sent or "generate"
