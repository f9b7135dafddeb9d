"""State of a run: ids, locators and short text, never pixels, never whole documents."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypeVar

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from ragweave.corpora.types import Corpus, Label, Locator
from ragweave.nodes.answer import Answer, Citation, NodeUsage, Sentence

TEXT_LIMIT = 2_000
"""Characters of text that one evidence row or strip may carry in the state."""

Action = Literal["correct", "ambiguous", "incorrect"]
Then = Literal["more", "recall", "generate"]
Origin = Literal["library", "web", "model"]


class Evidence(TypedDict):
    """One retrieved item."""

    id: str
    """Item id in the catalog, or an id of a web page or recalled passage."""
    corpus: str
    """Corpus it came from; `web` or `model` for the other origins."""
    origin: Origin
    """Library, web, or the model's own knowledge."""
    title: str
    """Title of its document."""
    text: str
    """Text or the part that matched, at most TEXT_LIMIT characters."""
    locator: Locator
    """Opens it."""
    query: str
    """The query of the hop that fetched it: it is graded against this, not against the question."""
    hop: int
    """Hop that fetched it, from 1."""
    score: float
    """Order among the candidates of its hop, higher is better."""
    relevance: float
    """Calibrated relevance to `query` in [-1, 1]."""
    date: str
    """ISO date of the document, or empty."""
    also: NotRequired[list[Locator]]
    """Other places where the same text stands."""
    standing: NotRequired[float]
    """Standing with the question of the turn over all hops, set by `reason`: 1 is the best item by itself, and an item
    of a later hop earns a share of what led to it."""
    seen: NotRequired[str]
    """What a vision model saw in the frames of a clip, or in a picture, asked with the question; empty: nothing."""
    looks: NotRequired[float]
    """Relevance of what a picture shows, by an image encoder, in [-1, 1]; `relevance` includes it."""
    told: NotRequired[float]
    """Relevance of what is written about that picture."""
    fresh: NotRequired[float]
    """Weight by age, where newer documents are preferred; `relevance` includes it."""


class Strip(TypedDict):
    """One strip of knowledge that survived refinement (CRAG, section 4.4)."""

    id: str
    """`<evidence id>#<start>-<end>`."""
    evidence: str
    """Id of the evidence it was cut from."""
    text: str
    """The strip."""
    title: str
    """Title of its document."""
    locator: Locator
    """Narrowed to the strip."""
    origin: Origin
    """Library, web, or the model's own knowledge."""
    query: str
    """Query of the hop that kept it."""
    hop: int
    """Hop that kept it."""
    score: float
    """Calibrated relevance to `query` in [-1, 1]."""


class Timeline(TypedDict):
    """What the timeline of the recordings says to a question that only their order answers."""

    kind: str
    """What was asked (`nodes/moments.py: Kind`)."""
    thing: str
    """What it was asked about, as the question names it."""
    other: str
    """The other thing, for `order`."""
    late: bool
    """For `order`: the later one is wanted."""
    moments: list[Strip]
    """The moments in the order of the timeline: mentions, or what stands after, before or around one."""
    others: list[Strip]
    """Mentions of the other thing, for `order`; the moment that was asked from, for `after` and `before`."""
    total: int
    """All mentions, also where only the first ones are listed."""


ListKind = Literal["dense", "lexical", "visual", "pooled"]
"""By the text encoder, by the words, by the image-text encoder, or by several channels at once."""


class RankedList(TypedDict):
    """One ranked list that a retriever returned in this hop."""

    corpus: Corpus
    query: str
    kind: ListKind
    ids: list[str]
    scores: list[float]


class Route(TypedDict):
    """Where one hop's query goes."""

    hop: int
    corpora: list[Label]
    """Labels to serve, best first; `none` alone means no retrieval."""
    confidence: dict[str, float]
    """Calibrated probability per label, after masking."""
    by: str
    """Maker that decided."""
    why: str
    """Reason, in words."""


class Phrasings(TypedDict):
    """What one hop asks."""

    hop: int
    query: str
    """The hop's own query."""
    rewrites: list[str]
    """Further phrasings, without the query itself."""
    by: str
    """Maker, or why none were made."""


class Grade(TypedDict):
    """CRAG's verdict over one hop's candidates."""

    hop: int
    action: Action
    best: float
    """Highest relevance in [-1, 1]."""
    upper: float
    lower: float
    by: str


class Hop(TypedDict):
    """The trace of one round (Auto-RAG): what was asked, found and learnt."""

    n: int
    query: str
    corpora: list[str]
    evidence: list[str]
    """Ids of the candidates graded in this hop."""
    action: str
    learnt: str
    """What this hop added, in words."""
    missing: str
    """What is still not known, in words; empty when it is enough."""
    next: str
    """Next query, or empty."""
    lead: str
    """Id of the evidence that the next query was made from, or empty."""
    by: str


V = TypeVar("V")


def merge_evidence(old: list[Evidence] | None, new: list[Evidence] | None) -> list[Evidence]:
    """Merge by id, keeping first position; a later row replaces an earlier one."""
    merged = {e["id"]: e for e in old or []}
    for e in new or []:
        merged[e["id"]] = e
    return list(merged.values())


def merge_strips(old: list[Strip] | None, new: list[Strip] | None) -> list[Strip]:
    """Merge by id; of two scores for the same strip the higher one stays."""
    merged = {s["id"]: s for s in old or []}
    for s in new or []:
        if s["id"] not in merged or merged[s["id"]]["score"] < s["score"]:
            merged[s["id"]] = s
    return list(merged.values())


def highest(old: float, new: float) -> float:
    """Keep the larger."""
    return max(old, new)


def extend(old: list[V] | None, new: list[V] | None) -> list[V]:
    """Append; used for the rows that parallel branches add."""
    return [*(old or []), *(new or [])]


class RetrieveTask(TypedDict):
    """Payload of one `Send`: every phrasing of one corpus, with all knobs the node needs."""

    library: str
    corpus: Corpus
    queries: list[str]
    hop: int
    sources: list[str]
    titles: list[str]


class Input(TypedDict):
    """What a caller sends: the conversation; the last human turn is the question."""

    messages: Annotated[list[AnyMessage], add_messages]
    """Conversation so far."""


class State(TypedDict, total=False):
    """Everything a run knows. Per-turn keys are reset by `frame`."""

    messages: Annotated[list[AnyMessage], add_messages]
    """Conversation so far."""
    turn: str
    """Id of this turn; names its meter."""
    question: str
    """The standalone question of this turn."""
    query: str
    """The query of the current hop; hop 1 asks the question itself."""
    hop: int
    """Current hop, from 1."""
    recalls: int
    """Parametric passages written so far."""
    routes: Annotated[list[Route], extend]
    """One routing decision per hop."""
    queries: Annotated[list[Phrasings], extend]
    """What each hop asked."""
    found: Annotated[list[RankedList], extend]
    """Ranked lists of the current hop; emptied by `fuse`."""
    looked: dict[str, str]
    """What a vision model saw in the frames of clips, by clip id."""
    timeline: Timeline | None
    """What the timeline of the recordings says, where the question asks it."""
    tasks: list[RetrieveTask]
    """What `plan` sends to the retrievers of the current hop; empty means that nothing is to be searched."""
    evidence: Annotated[list[Evidence], merge_evidence]
    """Everything retrieved in this turn, merged by id."""
    candidates: list[str]
    """Ids of the current hop's best items, best first."""
    best: Annotated[float, highest]
    """Highest relevance of anything found to the question itself, in [-1, 1]."""
    grade: Grade | None
    """Verdict over the current hop."""
    knowledge: Annotated[list[Strip], merge_strips]
    """Strips kept so far."""
    hops: Annotated[list[Hop], extend]
    """The trace."""
    enough: bool
    """Set by `reason`: no further hop is wanted."""
    then: Then
    """Where `reason` sends the run next."""
    consent: Literal["granted", "refused", "unavailable"] | None
    """Consent to web search in this turn."""
    draft: list[Sentence]
    """Checked sentences in order, as they were emitted."""
    citations: list[Citation]
    """The numbered sources of the draft."""
    mind: Literal["small", "llm"]
    """Who wrote the draft."""
    dropped: int
    """Sentences written but not shown, because nothing supported them."""
    abstain: str
    """Why nothing was written, or empty."""
    notes: Annotated[list[str], extend]
    """What could not be done, in words."""
    usage: Annotated[list[NodeUsage], extend]
    """What each node spent."""
    answer: Answer | None
    """The answer of this turn."""


def on_timeline(state: State) -> bool:
    """Tell whether the timeline answers the question of this turn."""
    told = state.get("timeline")
    return told is not None and bool(told["moments"])


Update = dict[str, Any]
"""What a node returns: a partial state."""
