"""State of a run: ids, locators and short text, never pixels, never whole documents."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, TypeVar

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from langgraph.types import Overwrite
from typing_extensions import TypedDict

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
from ragweave.components.protocols import Forms
from ragweave.corpora.types import Corpus
from ragweave.models.relevance import LOWER, UPPER
from ragweave.nodes.answer import Answer, NodeUsage

R = TypeVar("R", Route, Phrasings)
_TEXTS = ("paragraph", "document")
Then = Literal["ask on", "recall", "write", "answered"]
Consent = Literal["granted", "refused", "unavailable"]


def merge_evidence(old: list[Evidence] | None, new: list[Evidence] | None) -> list[Evidence]:
    """Merge by id, keeping first position; a later row replaces an earlier one."""
    return list({e["id"]: e for e in [*(old or []), *(new or [])]}.values())


def merge_strips(old: list[Strip] | None, new: list[Strip] | None) -> list[Strip]:
    """Merge by id; of two scores for the same strip the higher one stays."""
    merged = {s["id"]: s for s in old or []}
    for s in new or []:
        if s["id"] not in merged or merged[s["id"]]["score"] < s["score"]:
            merged[s["id"]] = s
    return list(merged.values())


class RetrieveTask(TypedDict):
    """Payload of one `Send`: every phrasing of one corpus."""

    corpus: Corpus
    queries: list[str]
    hop: int
    sources: list[str]
    titles: list[str]
    plain: NotRequired[bool]
    """Whether recordings are searched like any other corpus, because none is in question."""
    knobs: NotRequired[dict[str, Any]]


class Input(TypedDict, total=False):
    """What a caller sends: the conversation, whose last human turn is the question; or the question alone."""

    messages: Annotated[list[AnyMessage], add_messages]
    """Conversation so far."""
    question: str
    """The next question, where no messages are sent. In a run the standalone question of this turn; what is put there
    before the turn begins takes the place of its words."""


class RoundState(TypedDict, total=False):
    """What a round of search knows, in the recordings as well."""

    turn: str
    """Id of this turn; names its meter."""
    knobs: dict[str, Any]
    """What the context set when this turn began; a run that goes on with it is set so where it does not say."""
    query: str
    """The query of the current hop; hop 1 asks the question itself, without what is said around it."""
    hop: int
    """Current hop, from 1."""


class VideoResult(TypedDict, total=False):
    """What the search in the recordings gives back, and the state of the graph around it has as well."""

    found: Annotated[list[RankedList], operator.add]
    """Ranked lists of the current hop; emptied by `fuse`."""
    looked: dict[str, str]
    """What a vision model saw in the frames of clips, by clip id."""
    chunks: list[str]
    """Clips of the chunks of transcript that are read beside the evidence, by id."""
    notes: Annotated[list[str], operator.add]
    """What could not be done, in words."""
    usage: Annotated[list[NodeUsage], operator.add]
    """What each node spent."""


class State(Input, RoundState, VideoResult, total=False):
    """Everything a run knows. Per-turn keys are reset by `condense`."""

    posed: str
    """The standalone question as the turn was given it, and at its end as it was answered; by it one that was edited in
    before a turn is told from one left over."""
    also: list[str]
    """Further queries that the same reasoning turn wrote for this hop."""
    rewrite: bool
    """Whether this hop's query is rewritten beside routing; edges read it here: editing a state gives no context."""
    plans: bool
    """Whether the reasoning model plans before the first search; read by edges, too."""
    recalls: int
    """Parametric passages written so far."""
    routes: Annotated[list[Route], operator.add]
    """One routing decision per hop."""
    queries: Annotated[list[Phrasings], operator.add]
    """What each hop asked."""
    tasks: list[RetrieveTask]
    """What `plan` sends to the retrievers of the current hop; empty means that nothing is to be searched."""
    evidence: Annotated[list[Evidence], merge_evidence]
    """Everything retrieved in this turn, merged by id."""
    candidates: list[str]
    """Ids of the current hop's best items, best first."""
    grade: Grade | None
    """Verdict over the current hop."""
    knowledge: Annotated[list[Strip], merge_strips]
    """Strips kept so far."""
    plan: list[str]
    """What `reason` thought before the first search, where it stands before it."""
    hops: Annotated[list[Hop], operator.add]
    """The trace."""
    enough: bool
    """Set by `reason`: no further hop is wanted."""
    then: Then
    """Where `reason` sends the run next."""
    reply: Reply | None
    """The answer of the reasoning turn, where it gave one."""
    consent: Consent | None
    """Consent to web search in this turn."""
    draft: list[Sentence]
    """Checked sentences in order, as they were emitted."""
    citations: list[Citation]
    """The numbered sources of the draft."""
    mode: Literal["extractive", "llm"]
    """Who wrote the draft."""
    dropped: int
    """Sentences written but not shown, because nothing supported them."""
    abstain: str
    """Why nothing was written, or empty."""
    answer: Answer | None
    """The answer of this turn."""


def of_hop(rows: Sequence[R] | None, hop: int) -> R | None:
    """Return what was last decided for a hop, or None."""
    return next((row for row in reversed(rows or ()) if row["hop"] == hop), None)


def known(state: State, limit: int) -> list[Strip]:
    """Return what the run knows: the strips it kept, or in a graph that does not grade its best evidence rows.

    Recalled passages always come last.
    """
    knowledge = state.get("knowledge", [])
    if not knowledge and state.get("grade") is None:
        rows = sorted(state.get("evidence", []), key=lambda e: (-e["relevance"], -e["score"], e["id"]))
        knowledge = [s for e in rows[:limit] for s in (as_strip(e), *as_seen(e))]
    return sorted(knowledge, key=lambda s: s["origin"] == "model")


def asked_together(state: State) -> str:
    """Return all that this hop asks, for an evaluator that reads its items in one go."""
    return "; ".join([state["query"], *state.get("also", [])])


def bound(state: State) -> float:
    """Return the relevance below which the evaluator of this hop calls a row irrelevant."""
    grade = state.get("grade")
    return grade["lower"] if grade else LOWER


def ended(state: State) -> Hop:
    """Return the round that has just ended, one of search or of recall, as far as it is known before it is decided."""
    rows, grade, tasks = state.get("evidence", []), state.get("grade"), state.get("tasks", [])
    recalling = state.get("recalls", 0) > sum(h["corpora"] == ["model"] for h in state.get("hops", []))
    if recalling:
        # A recalled passage has the number of its round in its id.
        ids = [e["id"] for e in rows if e["origin"] == "model" and e["id"].endswith(f"-{state['recalls']}")]
    else:
        web = [e["id"] for e in rows if e["origin"] == "web" and e["hop"] == state["hop"]]
        ids = [*state.get("candidates", []), *web]
    phrased = of_hop(state.get("queries"), state["hop"])
    rewrites = phrased["rewrites"] if phrased else []
    return {
        "n": state["hop"],
        "query": state["query"] if recalling or not tasks else tasks[0]["queries"][0],
        "also": [] if recalling else state.get("also", []),
        "rewrites": [] if recalling else rewrites,
        "corpora": ["model"] if recalling else [t["corpus"] for t in tasks],
        "evidence": ids,
        "action": grade["action"] if grade and not recalling else "",
        "learnt": "",
        "missing": "",
        "next": "",
        "by": "",
    }


def whole_documents(state: State, most: int) -> set[str]:
    """Return the ids of the documents that are read whole, among the best `most` items of each round.

    They are the first document of a round and each other one that is surely relevant: of a first round that was sent to
    documents sooner than to paragraphs, and of further rounds, for which passages were too little; and what a further
    round found again. Without a router documents are searched only where somebody asks for them.
    """
    sent = {row["hop"]: row["corpora"] for row in state.get("routes", []) if row["hop"] == 1}
    first = {hop: next((c for c in corpora if c in _TEXTS), "") for hop, corpora in sent.items()}
    rows = {e["id"]: e for e in state.get("evidence", []) if e["corpus"] == "document"}
    rounds = [*(h["evidence"] for h in state.get("hops", [])), state.get("candidates", [])]
    best = [[rows[i] for i in ids[:most] if i in rows] for ids in rounds]
    chosen = (e for found in best for n, e in enumerate(found) if not n or e["relevance"] >= UPPER)
    again = {i for h in state.get("hops", []) for i in h["evidence"] if i in rows and rows[i]["hop"] > h["n"]}
    return again | {e["id"] for e in chosen if first.get(e["hop"], "document") == "document"}


def message_id(state: State) -> str:
    """Return the id of the turn's answer; its chunks and the whole message share it."""
    return f"answer-{state['turn']}"


Retriever = Literal["chunk", "entity", "visual", "speech", "video"]
"""Ways into the recordings. `video` finds the recording."""


class VideoTask(RoundState, total=False):
    """What `plan` sends to the recordings."""

    corpora: list[Corpus]
    """`clip`, `video`, or both."""
    sources: list[str]
    """Source ids to stay within; empty means all."""
    titles: list[str]
    """Titles of recordings to stay within; empty means all. One file may hold several recordings."""
    forms: Forms
    """The query's other forms, from `rewrite`."""


class ClipTask(VideoTask):
    """Payload of one `Send`: one retriever, with all that it asks."""

    retriever: Retriever


class ClipList(TypedDict):
    """What one retriever found: ids of clips (of recordings for `video`), best first."""

    retriever: Retriever
    ids: list[str]


class VideoState(VideoTask, VideoResult, total=False):
    """State of the search in the recordings."""

    ways: list[Retriever]
    """Retrievers of this run, from `rewrite`."""
    lists: Annotated[list[ClipList], operator.add]
    """One list per retriever; one that found nothing has none."""
    clips: list[str]
    """Merged clips, best first."""
    scores: list[float]
    """Their scores."""


SAVED: tuple[type, ...] = (Answer, Citation, NodeUsage, Sentence)
"""Types in the state beside plain data and messages: what a saver reads back."""

Update = dict[str, Any]
"""What a node returns: a partial state."""


def anew() -> Update:
    """Return what a turn begins with, whatever the turn before left."""
    begun = State(hop=1, recalls=0, enough=False, looked={}, plan=[], mode="extractive", dropped=0, abstain="")
    empty = State(candidates=[], tasks=[], chunks=[], draft=[], citations=[])
    absent = State(grade=None, reply=None, consent=None, answer=None)
    joined = {key: Overwrite([]) for key in ("routes", "queries", "found", "evidence", "knowledge", "hops")}
    return {**begun, **empty, **absent, **joined}
