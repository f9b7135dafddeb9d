"""State of a run: ids, places and short texts; pixels and whole documents stay in the stores."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeVar

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from ragweave.components.answer import Answer, NodeUsage
from ragweave.components.evidence import (
    Citation,
    Evidence,
    Grade,
    Hop,
    Phrasings,
    RankedList,
    Reply,
    Route,
    Sentence,
    Strip,
)
from ragweave.components.passages import as_seen, as_strip
from ragweave.components.rewrite import Forms
from ragweave.corpora.types import Corpus, Label
from ragweave.models.relevance import LOWER

R = TypeVar("R", Route, Phrasings)
NO_ROUTER = "graph"
"""Who chose the corpora of a graph that has no router."""
Then = Literal["", "ask on", "recall", "write", "answered"]
Consent = Literal["granted", "refused", "unavailable"]


def merge_evidence(old: list[Evidence] | None, new: list[Evidence] | None) -> list[Evidence]:
    """Merge by id, keeping first position; a later row replaces an earlier one."""
    merged: dict[str, Evidence] = {}
    for row in [*(old or []), *(new or [])]:
        merged[row["id"]] = row
    return list(merged.values())


def merge_strips(old: list[Strip] | None, new: list[Strip] | None) -> list[Strip]:
    """Merge by id; of two scores for the same strip the higher one stays."""
    merged: dict[str, Strip] = {}
    for strip in old or []:
        merged[strip["id"]] = strip
    for strip in new or []:
        before = merged.get(strip["id"])
        if before is None or before["score"] < strip["score"]:
            merged[strip["id"]] = strip
    return list(merged.values())


class Turn(TypedDict):
    """One turn of a conversation."""

    id: str
    """Key of the turn's meter and of its answering message."""
    posed: str
    """Standalone question at the start or end of the turn; a question that was edited differs from it."""
    knobs: dict[str, Any]
    """Knobs at the start of the turn; a run that resumes it uses them unless it sets its own."""
    consent: Consent | None
    """Consent to web search."""
    plan: list[str]
    """Reasoning before the first search (Auto-RAG); empty in a graph that searches first."""


class Draft(TypedDict):
    """The answer so far."""

    sentences: list[Sentence]
    """In the order in which they were shown."""
    citations: list[Citation]
    """Numbered sources of the sentences."""
    by: Literal["extractive", "llm"]
    """Whether quotes or a chat model make up the answer."""
    dropped: int
    """Number of sentences withheld because only verified ones may be shown."""
    why: str
    """Reason why nothing was written, or ""."""
    reply: Reply | None
    """Answer of a reasoning turn that `generate` has not shown yet."""


EMPTY: Draft = {"sentences": [], "citations": [], "by": "extractive", "dropped": 0, "why": "", "reply": None}
"""An empty draft."""


class Input(TypedDict, total=False):
    """Input of a caller: a conversation whose last human turn is the question, or the question alone."""

    messages: Annotated[list[AnyMessage], add_messages]
    """Conversation so far."""
    question: str
    """The next question, if no messages are sent. During a run: the standalone question of this turn; a value
    set before the turn begins replaces the question of the messages."""


class RoundState(TypedDict, total=False):
    """State of one round of search, shared with the graph of the recordings."""

    turn: Turn
    """The current turn."""
    query: str
    """Query of the current hop; hop 1 asks the question itself."""
    hop: int
    """Current hop, from 1."""


class VideoResult(TypedDict, total=False):
    """Result of the search in the recordings, with keys of the enclosing graph."""

    found: Annotated[list[RankedList], operator.add]
    """Ranked lists of the current hop; `fuse` empties it."""
    routes: Annotated[list[Route], operator.add]
    """Corpora that each hop searched."""
    notes: Annotated[list[str], operator.add]
    """What could not be done, one sentence each."""
    usage: Annotated[list[NodeUsage], operator.add]
    """Seconds, calls and tokens of each node."""


class State(Input, RoundState, VideoResult, total=False):
    """State of the graph. `condense` resets the keys of a turn."""

    queries: Annotated[list[Phrasings], operator.add]
    """Further phrasings of each hop's query."""
    evidence: Annotated[list[Evidence], merge_evidence]
    """All evidence of this turn, merged by id."""
    candidates: list[str]
    """Ids of the current hop's best items, best first."""
    grade: Grade | None
    """Verdict over the current hop."""
    knowledge: Annotated[list[Strip], merge_strips]
    """Strips that were kept so far."""
    hops: Annotated[list[Hop], operator.add]
    """The trace: one row a round."""
    then: Then
    """Next step that `reason` chose; empty before it has decided."""
    draft: Draft | None
    """The answer as far as it is written."""
    answer: Answer | None
    """The answer of this turn."""


def of_hop(rows: Sequence[R] | None, hop: int) -> R | None:
    """Return the last row of a hop, or None."""
    for row in reversed(rows or ()):
        if row["hop"] == hop:
            return row
    return None


def evidence_by_id(state: State) -> dict[str, Evidence]:
    """Return all evidence of the turn by id."""
    found: dict[str, Evidence] = {}
    for row in state.get("evidence", []):
        found[row["id"]] = row
    return found


def best_of_hop(state: State) -> list[Evidence]:
    """Return the best items of the current hop, best first."""
    rows = evidence_by_id(state)
    return [rows[i] for i in state.get("candidates", []) if i in rows]


def known(state: State, limit: int) -> list[Strip]:
    """Return the strips that the run kept, or in a graph without grading its best `limit` evidence rows.

    Passages of the model's own knowledge come last.
    """
    knowledge = list(state.get("knowledge", []))
    if not knowledge and state.get("grade") is None:
        rows = sorted(state.get("evidence", []), key=lambda e: (-e["relevance"], -e["score"], e["id"]))
        for row in rows[:limit]:
            knowledge += [as_strip(row), *as_seen(row)]
    return sorted(knowledge, key=lambda s: s["origin"] == "model")


def numbered(state: State) -> list[str]:
    """Return the ids of the numbered documents; `[1]` in an answer names the first.

    These are the documents that the reasoning model read, or else the best items of the last hop.
    """
    shown: list[str] = []
    for hop in state.get("hops", []):
        shown += hop.get("shown", [])
    return shown or list(state.get("candidates", []))


def strips_by_document(strips: Sequence[Strip], ids: Sequence[str]) -> list[list[Strip]]:
    """Return the strips of each document, in the order of the ids."""
    documents: list[list[Strip]] = []
    for i in ids:
        own = []
        for strip in strips:
            if strip["evidence"] == i:
                own.append(strip)
        documents.append(own)
    return documents


def asked_together(state: State) -> str:
    """Return all queries of this hop as one text, for an evaluator that reads its items in one go."""
    return "; ".join([state["query"], *phrasings_of(state)["also"]])


def bound(state: State) -> float:
    """Return the relevance below which the evaluator of this hop calls a row irrelevant."""
    grade = state.get("grade")
    return grade["lower"] if grade else LOWER


def searched(state: State) -> list[Label]:
    """Return the corpora that the current hop searches, or has searched."""
    route = of_hop(state.get("routes"), state["hop"])
    return [c for c in route["corpora"] if c != "none"] if route else []


def phrasings_of(state: State) -> Phrasings:
    """Return the further phrasings of the current hop's query; empty if there are none."""
    written = of_hop(state.get("queries"), state["hop"])
    return written or Phrasings(hop=state["hop"], query=state["query"], also=[], rewrites=[], by="")


def recalls(state: State) -> int:
    """Return how many finished rounds asked for the model's own knowledge."""
    corpora = [hop["corpora"] for hop in state.get("hops", [])]
    return corpora.count(["model"])


def ended(state: State) -> Hop:
    """Return the trace of the round of search or recall that has just ended, before `reason` decides."""
    grade = state.get("grade")
    row: Hop = {
        "n": state["hop"],
        "query": state["query"],
        "also": [],
        "rewrites": [],
        "corpora": ["model"],
        "evidence": [],
        "action": "",
        "learnt": "",
        "missing": "",
        "next": "",
        "by": "",
    }
    if state.get("then") == "recall":
        return {**row, "evidence": _recalled(state)}
    phrased = phrasings_of(state)
    row["also"], row["rewrites"] = phrased["also"], phrased["rewrites"]
    row["corpora"] = [str(c) for c in searched(state)]
    row["evidence"] = [*state.get("candidates", []), *_of_web(state)]
    row["action"] = grade["action"] if grade else ""
    return row


def _recalled(state: State) -> list[str]:
    """Return the ids of the passages of the last recall; an id ends with the number of its recall."""
    own = f"-{recalls(state) + 1}"
    ids: list[str] = []
    for row in state.get("evidence", []):
        if row["origin"] == "model" and row["id"].endswith(own):
            ids.append(row["id"])
    return ids


def _of_web(state: State) -> list[str]:
    """Return the ids of what the current hop found on the web."""
    ids: list[str] = []
    for row in state.get("evidence", []):
        if row["origin"] == "web" and row["hop"] == state["hop"]:
            ids.append(row["id"])
    return ids


def message_id(state: State) -> str:
    """Return the id of the turn's answer; its chunks and the whole message share it."""
    return f"answer-{state['turn']['id']}"


Retriever = Literal["chunk", "entity", "visual", "speech", "video"]
"""Retrievers of the recordings; `video` ranks whole recordings."""


class VideoTask(RoundState, total=False):
    """A search in the recordings."""

    corpora: list[Corpus]
    """`clip`, `video`, or both; the default is both."""


class ClipSearch(VideoTask, total=False):
    """Input of the retrievers of the recordings."""

    sources: list[str]
    """Source ids to stay within; empty means all."""
    titles: list[str]
    """Titles of recordings to stay within; empty means all. One file may hold several recordings."""
    forms: Forms
    """The query's other forms, from `rewrite`."""


class ClipTask(ClipSearch):
    """Payload of one `Send`: one retriever with its queries."""

    retriever: Retriever


class ClipList(TypedDict):
    """Result of one retriever: ids of clips (of recordings for `video`), best first."""

    retriever: Retriever
    ids: list[str]


class VideoState(ClipSearch, VideoResult, total=False):
    """State of the search in the recordings."""

    ways: list[Retriever]
    """Retrievers of this run, set by `rewrite`; none if there is nothing to search."""
    ranked: Annotated[list[ClipList], operator.add]
    """One list for each retriever that found something."""
    clips: list[str]
    """Merged clips, best first."""
    scores: list[float]
    """Their scores."""


SAVED: tuple[type, ...] = (Answer, Citation, NodeUsage, Sentence)
"""Types of the state, other than plain data and messages, that a saver has to accept."""

Update = dict[str, Any]
"""What a node returns: a partial state."""


def new_turn() -> Update:
    """Return the state at the start of a turn, whatever the turn before left."""
    begun = State(hop=1, candidates=[], grade=None, then="", draft=None, answer=None)
    update: Update = {**begun}
    for key in ("routes", "queries", "found", "evidence", "knowledge", "hops"):
        update[key] = Overwrite([])
    return update
