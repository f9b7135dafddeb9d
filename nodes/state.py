"""State of a run: ids, locators and short text, never pixels, never whole documents."""

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
from ragweave.models.relevance import LOWER, UPPER

R = TypeVar("R", Route, Phrasings)
_TEXTS = ("paragraph", "document")
WHOLE = 3
"""Best items of a round, of which the documents are read whole."""
NO_ROUTER = "graph"
"""Who chose the corpora of a graph that has no router."""
Then = Literal["", "ask on", "recall", "write", "answered"]
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


class Turn(TypedDict):
    """One turn of a conversation."""

    id: str
    """Names its meter, and the message that answers."""
    posed: str
    """Standalone question that the turn began with, or that it answered; an edited question differs from it."""
    knobs: dict[str, Any]
    """What the context set when the turn began; a run that goes on with it is set so where it does not say."""
    consent: Consent | None
    """Consent to web search."""
    plan: list[str]
    """What `reason` thought before the first search (Auto-RAG); empty in a graph that searches first."""


class Draft(TypedDict):
    """The answer as far as it is written."""

    sentences: list[Sentence]
    """In order, as they were shown."""
    citations: list[Citation]
    """The numbered sources of the sentences."""
    by: Literal["extractive", "llm"]
    """Who wrote it."""
    dropped: int
    """Sentences that were written and not shown, because only what is verified was asked for."""
    why: str
    """Why nothing was written, or empty."""
    reply: Reply | None
    """The answer of a reasoning turn that `generate` has yet to show."""


EMPTY: Draft = {"sentences": [], "citations": [], "by": "extractive", "dropped": 0, "why": "", "reply": None}
"""A draft of which nothing is written."""


class Input(TypedDict, total=False):
    """What a caller sends: the conversation, whose last human turn is the question; or the question alone."""

    messages: Annotated[list[AnyMessage], add_messages]
    """Conversation so far."""
    question: str
    """The next question, where no messages are sent. In a run the standalone question of this turn; what is put there
    before the turn begins takes the place of its words."""


class RoundState(TypedDict, total=False):
    """What a round of search knows, in the recordings as well."""

    turn: Turn
    """The turn that is answered."""
    query: str
    """The query of the current hop; hop 1 asks the question itself, without what is said around it."""
    hop: int
    """Current hop, from 1."""


class VideoResult(TypedDict, total=False):
    """What the search in the recordings gives back, and the state of the graph around it has as well."""

    found: Annotated[list[RankedList], operator.add]
    """Ranked lists of the current hop; emptied by `fuse`."""
    routes: Annotated[list[Route], operator.add]
    """Which corpora each hop searched."""
    notes: Annotated[list[str], operator.add]
    """What could not be done, in words."""
    usage: Annotated[list[NodeUsage], operator.add]
    """What each node spent."""


class State(Input, RoundState, VideoResult, total=False):
    """Everything a run knows. `condense` resets the keys of a turn."""

    queries: Annotated[list[Phrasings], operator.add]
    """What each hop asked beside its query."""
    evidence: Annotated[list[Evidence], merge_evidence]
    """Everything retrieved in this turn, merged by id."""
    candidates: list[str]
    """Ids of the current hop's best items, best first."""
    grade: Grade | None
    """Verdict over the current hop."""
    knowledge: Annotated[list[Strip], merge_strips]
    """Strips kept so far."""
    hops: Annotated[list[Hop], operator.add]
    """The trace: one row a round."""
    then: Then
    """Where `reason` sends the run next; empty before it has decided."""
    draft: Draft | None
    """The answer as far as it is written."""
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


def numbered(state: State) -> list[str]:
    """Return the ids of the documents in the order of their numbers: `[1]` in an answer names the first.

    They are those that the reasoning model was shown, or else the best items of the last hop.
    """
    shown = [i for hop in state.get("hops", []) for i in hop.get("shown", [])]
    return shown or list(state.get("candidates", []))


def asked_together(state: State) -> str:
    """Return all that this hop asks, for an evaluator that reads its items in one go."""
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
    """Return what the current hop asks beside its query; nothing unless somebody wrote it."""
    written = of_hop(state.get("queries"), state["hop"])
    return written or Phrasings(hop=state["hop"], query=state["query"], also=[], rewrites=[], by="")


def recalls(state: State) -> int:
    """Return how many passages of the model's own knowledge were asked for in the rounds that have ended."""
    return sum(h["corpora"] == ["model"] for h in state.get("hops", []))


def ended(state: State) -> Hop:
    """Return the round that has just ended, one of search or of recall, as far as it is known before it is decided."""
    rows, grade = state.get("evidence", []), state.get("grade")
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
        # A recalled passage has the number of its round in its id.
        own = f"-{recalls(state) + 1}"
        return {
            **row,
            "evidence": [e["id"] for e in rows if e["origin"] == "model" and e["id"].endswith(own)],
        }
    web = [e["id"] for e in rows if e["origin"] == "web" and e["hop"] == state["hop"]]
    phrased = phrasings_of(state)
    row["also"], row["rewrites"] = phrased["also"], phrased["rewrites"]
    row["corpora"] = [str(c) for c in searched(state)]
    row["evidence"] = [*state.get("candidates", []), *web]
    row["action"] = grade["action"] if grade else ""
    return row


def whole_documents(state: State) -> set[str]:
    """Return the ids of the documents that are read whole, among the best WHOLE items of each round.

    They are the first document of a round and each other one that is surely relevant: of a first round that
    was sent to documents sooner than to paragraphs, and of further rounds, for which passages were too
    little; and what a further round found again. Without a router documents are searched only if somebody
    asks for them.
    """
    sooner = _text_corpus_of_first_round(state)
    rows = {e["id"]: e for e in state.get("evidence", []) if e["corpus"] == "document"}
    rounds = [*(h["evidence"] for h in state.get("hops", [])), state.get("candidates", [])]
    chosen: set[str] = set()
    for ids in rounds:
        best = [rows[i] for i in ids[:WHOLE] if i in rows]
        for n, row in enumerate(best):
            able = row["hop"] > 1 or sooner in ("document", "")
            if able and (n == 0 or row["relevance"] >= UPPER):
                chosen.add(row["id"])
    for hop in state.get("hops", []):
        chosen |= {i for i in hop["evidence"] if i in rows and rows[i]["hop"] > hop["n"]}
    return chosen


def _text_corpus_of_first_round(state: State) -> str:
    """Return the corpus of text that the first round was sent to first; "" unless a router sent it."""
    for route in state.get("routes", []):
        if route["hop"] == 1 and route["by"] != NO_ROUTER:
            return next((c for c in route["corpora"] if c in _TEXTS), "none")
    return ""


def message_id(state: State) -> str:
    """Return the id of the turn's answer; its chunks and the whole message share it."""
    return f"answer-{state['turn']['id']}"


Retriever = Literal["chunk", "entity", "visual", "speech", "video"]
"""Ways into the recordings. `video` finds the recording."""


class VideoTask(RoundState, total=False):
    """What is asked of the recordings."""

    corpora: list[Corpus]
    """`clip`, `video`, or both; both if nothing is said."""


class ClipSearch(VideoTask, total=False):
    """What the retrievers of the recordings are given."""

    sources: list[str]
    """Source ids to stay within; empty means all."""
    titles: list[str]
    """Titles of recordings to stay within; empty means all. One file may hold several recordings."""
    forms: Forms
    """The query's other forms, from `rewrite`."""


class ClipTask(ClipSearch):
    """Payload of one `Send`: one retriever, with all that it asks."""

    retriever: Retriever


class ClipList(TypedDict):
    """What one retriever found: ids of clips (of recordings for `video`), best first."""

    retriever: Retriever
    ids: list[str]


class VideoState(ClipSearch, VideoResult, total=False):
    """State of the search in the recordings."""

    ways: list[Retriever]
    """Retrievers of this run, from `rewrite`; none if there is nothing to search."""
    ranked: Annotated[list[ClipList], operator.add]
    """One list per retriever; one that found nothing has none."""
    clips: list[str]
    """Merged clips, best first."""
    scores: list[float]
    """Their scores."""


SAVED: tuple[type, ...] = (Answer, Citation, NodeUsage, Sentence)
"""Types in the state beside plain data and messages: what a saver reads back."""

Update = dict[str, Any]
"""What a node returns: a partial state."""


def new_turn() -> Update:
    """Return what a turn begins with, whatever the turn before left."""
    begun = State(hop=1, candidates=[], grade=None, then="", draft=None, answer=None)
    joined = {key: Overwrite([]) for key in ("routes", "queries", "found", "evidence", "knowledge", "hops")}
    return {**begun, **joined}
