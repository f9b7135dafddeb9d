"""What components read and write: evidence, strips of it, and the sentences and citations made from it.

Ids, locators and short text, never pixels, never whole documents: these rows are kept in the state of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NotRequired

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from ragweave.corpora.types import Corpus, Label, Locator

TEXT_LIMIT = 2_000
"""Characters of text that one evidence row or strip may carry in the state."""

Action = Literal["correct", "ambiguous", "incorrect"]
Step = Literal["correct", "ambiguous", "incorrect", "reword", "unsure", "web"]
"""Edges behind a verdict: the three actions of CRAG, an ambiguous one that is searched in other words, an incorrect one
with nothing left to repair it, and the web."""
Origin = Literal["library", "web", "model"]
Support = Literal[
    "verified",
    "follows",
    "computed",
    "disputed",
    "contradicted",
    "unverified",
    "model",
    "unchecked",
    "quoted",
    "pending",
]
"""What the check says of a sentence: a source says it; it follows from sources; it was computed from a table; one
source says it and another says otherwise; a source says otherwise; no source was found that says it. Or it is the
model's own knowledge, nobody checked it, it is quoted word for word, or its mark is still to come."""


class SourceRow(TypedDict):
    """A row of a table that a result rests on."""

    row: int
    """Its number, from 1."""
    line: int
    """Line in its file, or 0."""
    page: int
    """Page, or 0."""
    item: str
    """Item that shows it, or empty."""
    chars: list[int]
    """[start, end) in the text of that item; empty where it is not certain."""


class Computed(TypedDict):
    """What a statement over a whole table gave."""

    statement: str
    """As it was run: one SELECT."""
    table: int
    """Key of the table in the catalog; 0 is the library's list of files."""
    name: str
    """What the statement calls the table."""
    condition: str
    """What stands behind its WHERE, or empty."""
    counted: int | None
    """Rows that the condition matched; None where the statement does not let that be told."""
    total: int
    """Rows of the table."""
    columns: list[str]
    rows: list[list[str | int | float | None]]
    more: bool
    """Further rows of the result are left out."""
    places: list[SourceRow]
    """The first rows that the result rests on."""
    item: str
    """Item that shows the beginning of the table, or empty."""
    notes: list[str]
    """What is odd about the columns that the statement reads."""


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
    """ISO date of the document, or empty; the first day of what is known only to the month or the year."""
    dated: NotRequired[str]
    """The month or the year, where that is all that is known of the date."""
    also: NotRequired[list[Locator]]
    """Other places where the same text stands."""
    global_score: NotRequired[float]
    """Score for the question of the turn over all hops, set by `reason`: 1 is the best item by itself, and an item
    of a later hop earns a share of what led to it."""
    seen: NotRequired[str]
    """What a vision model saw in the frames of a clip, or in a picture, asked with the question; empty: nothing."""
    judged: NotRequired[float]
    """Relevance to `query` in [-1, 1] by the evaluator, where it judged the clip before `grade`; then it is not asked
    again."""
    looks: NotRequired[float]
    """Relevance of what a picture shows, by an image encoder, in [-1, 1]; `relevance` includes it."""
    told: NotRequired[float]
    """Relevance of what is written about that picture."""
    fresh: NotRequired[float]
    """Weight by age, where newer documents are preferred; `relevance` includes it."""
    computed: NotRequired[Computed]
    """What a statement over a table gave, whose result this row is."""


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
    also: NotRequired[list[Locator]]
    """Other places of the same picture, where it was not found as evidence."""
    whole: NotRequired[bool]
    """The text is all that its document says."""


ListKind = Literal["dense", "lexical", "visual", "pooled", "seen", "beside"]
"""By the text encoder, by the words, by the image-text encoder, or by several channels at once. The last two are not
ranked: clips that a vision model looked at, and clips whose transcript is read beside the evidence."""


class RankedList(TypedDict):
    """One ranked list that a retriever returned in this hop."""

    corpus: Corpus
    query: str
    kind: ListKind
    ids: list[str]
    scores: list[float]
    verdicts: NotRequired[list[float]]
    """Relevance to the query in [-1, 1], where the evaluator has judged the items already."""
    seen: NotRequired[list[str]]
    """What a vision model saw in each item; empty: nothing."""


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
    recordings: NotRequired[bool]
    """Whether a recording may be in question, so that all retrievers of recordings are asked."""


class Phrasings(TypedDict):
    """What one hop asks."""

    hop: int
    query: str
    """The hop's own query."""
    also: list[str]
    """Further queries that the same reasoning turn wrote."""
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
    web: bool
    """Whether the web may be searched, asked or not."""
    again: list[Action]
    """Verdicts upon which the query is searched once more, in other words; none if that was done or cannot be."""


class Hop(TypedDict):
    """The trace of one round (Auto-RAG): what was asked, found and learnt."""

    n: int
    query: str
    also: NotRequired[list[str]]
    """Further queries of the same turn, searched in the same round."""
    rewrites: NotRequired[list[str]]
    """Other words for the query, searched because the round found nothing sure."""
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
    by: str
    shown: NotRequired[list[str]]
    """Ids of the documents that the model was shown for the first time in this round, in the order of their numbers."""


class Citation(BaseModel):
    """One numbered source under an answer."""

    model_config = ConfigDict(frozen=True)

    n: int
    """Number shown in the text, from 1."""
    id: str
    """Evidence id: what `ragweave show` and a server's links open."""
    title: str
    """Title of the document, picture, recording or web page."""
    locator: Locator
    """Where it lies, narrow enough to open it."""
    quote: str
    """The text that decided the mark of the sentence, at most 500 characters."""
    origin: Literal["library", "web"] = "library"
    """Where the text came from."""
    also: tuple[Locator, ...] = ()
    """Other places where the same text stands."""
    computed: Computed | None = None
    """What a statement over a whole table gave, where the quote is its result."""


class Sentence(BaseModel):
    """One sentence of the answer, with its mark."""

    model_config = ConfigDict(frozen=True)

    text: str
    """The sentence, without citation marks."""
    support: Support
    """Its mark."""
    citations: tuple[int, ...] = ()
    """Numbers of its citations: first those that decide its mark, then others that the model names."""
    against: tuple[int, ...] = ()
    """Numbers of the citations that say otherwise."""
    confidence: float = 0.0
    """In [0, 1], by its mark: 1 if a source says it, .7 if it follows, .5 if sources disagree or the model knows it."""
    sign: str = ""
    """What makes it an item of a list, `-` or `2.`, `|` the row of a table, `>` a quote; prose has none."""
    marked: tuple[tuple[int, int], ...] = ()
    """[start, end) of each stretch of a quote that holds words of the question."""
    says: str = ""
    """What another source says, in its own words, if the sentence is contradicted or disputed."""
    why: str = ""
    """What the words that the checking model copied do not hold, or empty."""


class Reply(TypedDict):
    """What a reasoning turn answered."""

    text: str
    """In the model's words, with numbers of what it was shown."""
    shown: list[str]
    """Ids of the evidence that it was shown, in the order of their numbers."""


def with_relevance(rows: Sequence[Evidence], scores: Sequence[float]) -> list[Evidence]:
    """Return rows with their relevance, from -1 to 1."""
    graded: list[Evidence] = []
    for row, score in zip(rows, scores, strict=True):
        graded.append(Evidence(**{**row, "relevance": round(score, 4)}))
    return graded
