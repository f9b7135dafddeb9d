"""Types that components exchange: evidence, its strips, and the sentences and citations of an answer.

The state of a run stores these rows, so they hold ids, locators and short text, but no pixels or whole
documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NotRequired

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from ragweave.corpora.types import Corpus, Label, Locator

TEXT_LIMIT = 2_000
"""Characters of text that one evidence row or strip may have in the state."""

Action = Literal["correct", "ambiguous", "incorrect"]
Step = Literal["correct", "ambiguous", "incorrect", "reword", "unsure", "web"]
"""Edges behind a verdict: the three actions of CRAG, a second search in other words (`reword`), an incorrect
result that nothing can repair (`unsure`), and the web."""
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
"""Mark of a sentence: a source says it; it follows from sources; it was computed from a table; sources
disagree on it; a source says otherwise; no source was found for it. Or it is the model's own knowledge, it
was not checked, it is quoted word for word, or its mark is still to come."""


class SourceRow(TypedDict):
    """A row of a table that a result is computed from."""

    row: int
    """Its number, from 1."""
    line: int
    """Line in its file, or 0."""
    page: int
    """Page, or 0."""
    item: str
    """Item that shows it, or empty."""
    chars: list[int]
    """[start, end) in the text of that item; empty if it is not certain."""


class Computed(TypedDict):
    """The result of a statement over a whole table."""

    statement: str
    """The statement as it was run: one SELECT."""
    table: int
    """Key of the table in the catalog; 0 is the library's list of files."""
    name: str
    """Name of the table in the statement."""
    condition: str
    """Condition of its WHERE, or empty."""
    counted: int | None
    """Rows that the condition matched; None if the statement does not allow to count them."""
    total: int
    """Rows of the table."""
    columns: list[str]
    rows: list[list[str | int | float | None]]
    more: bool
    """Whether further rows of the result are left out."""
    places: list[SourceRow]
    """The first rows that the result is computed from."""
    item: str
    """Item that shows the beginning of the table, or empty."""
    notes: list[str]
    """Notes about irregular values in the columns that the statement reads."""


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
    """Place that a citation of it opens."""
    query: str
    """Query of the hop that fetched it, which it is graded against instead of the question."""
    hop: int
    """Hop that fetched it, from 1."""
    score: float
    """Order among the candidates of its hop, higher is better."""
    relevance: float
    """Calibrated relevance to `query` in [-1, 1]."""
    date: str
    """ISO date of the document, or empty; the first day if only the month or the year is known."""
    dated: NotRequired[str]
    """The month or the year, if nothing more of the date is known."""
    also: NotRequired[list[Locator]]
    """Other places of the same text."""
    global_score: NotRequired[float]
    """Score for the question of the turn over all hops, set by `reason`. The best item by itself has 1; an
    item of a later hop gets a share of the scores that led to it."""
    seen: NotRequired[str]
    """What a vision model saw in the picture or in frames of the clip for the question; empty for nothing."""
    judged: NotRequired[float]
    """Relevance to `query` in [-1, 1] by the evaluator, if it judged the clip before `grade`."""
    looks: NotRequired[float]
    """Relevance of the picture by an image encoder, in [-1, 1]; `relevance` includes it."""
    told: NotRequired[float]
    """Relevance of the text about that picture."""
    fresh: NotRequired[float]
    """Weight by age, if newer documents are preferred; `relevance` includes it."""
    computed: NotRequired[Computed]
    """The result of a statement over a table, if this row is one."""


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
    """Other places of the same picture, if it was not found as evidence."""
    whole: NotRequired[bool]
    """Whether the text is the whole text of its document."""


ListKind = Literal["dense", "lexical", "visual", "pooled", "seen", "beside"]
"""Ranked by the text encoder, by words, by the image-text encoder, or by several channels at once. The last
two are not ranked: clips that a vision model described, and clips whose transcript is read in addition to the
evidence."""


class RankedList(TypedDict):
    """One ranked list that a retriever returned in this hop."""

    corpus: Corpus
    query: str
    kind: ListKind
    ids: list[str]
    scores: list[float]
    verdicts: NotRequired[list[float]]
    """Relevance to the query in [-1, 1], if the evaluator has judged the items already."""
    seen: NotRequired[list[str]]
    """What a vision model saw in each item; empty for nothing."""


class Route(TypedDict):
    """The corpora that one hop's query goes to."""

    hop: int
    corpora: list[Label]
    """Labels of the corpora, best first; `none` alone means no retrieval."""
    confidence: dict[str, float]
    """Calibrated probability per label, after masking."""
    by: str
    """Strategy that decided."""
    why: str
    """Reason, in words."""
    recordings: NotRequired[bool]
    """Whether a recording may have the answer, so that all retrievers of recordings are used."""


class Phrasings(TypedDict):
    """The queries of one hop."""

    hop: int
    query: str
    """The hop's own query."""
    also: list[str]
    """Further queries that the same reasoning turn wrote."""
    rewrites: list[str]
    """Further phrasings, without the query itself."""
    by: str
    """Strategy that wrote them, or why there are none."""


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
    """Whether the web may be searched, with or without asking the user."""
    again: list[Action]
    """Verdicts that lead to a second search in other words; empty if it was done or is not possible."""


class Hop(TypedDict):
    """The trace of one round (Auto-RAG): its query, evidence, and what was learnt."""

    n: int
    query: str
    also: NotRequired[list[str]]
    """Further queries of the same turn, searched in the same round."""
    rewrites: NotRequired[list[str]]
    """Rewrites of the query, searched because the round found nothing certain."""
    corpora: list[str]
    evidence: list[str]
    """Ids of the candidates graded in this hop."""
    action: str
    learnt: str
    """What this hop added, in words."""
    missing: str
    """What is still missing, in words; empty if the evidence is enough."""
    next: str
    """Next query, or empty."""
    by: str
    shown: NotRequired[list[str]]
    """Ids of the documents first shown to the model in this round, in the order of their numbers."""


class Citation(BaseModel):
    """One numbered source of an answer."""

    model_config = ConfigDict(frozen=True)

    n: int
    """Number shown in the text, from 1."""
    id: str
    """Evidence id, which `ragweave show` and the links of a server open."""
    title: str
    """Title of the document, picture, recording or web page."""
    locator: Locator
    """Its place, narrow enough to open it."""
    quote: str
    """The text that decided the mark of the sentence, at most 500 characters."""
    origin: Literal["library", "web"] = "library"
    """Origin of the text."""
    also: tuple[Locator, ...] = ()
    """Other places of the same text."""
    computed: Computed | None = None
    """The result of a statement over a whole table, if the quote is one."""


class Sentence(BaseModel):
    """One sentence of the answer, with its mark."""

    model_config = ConfigDict(frozen=True)

    text: str
    """The sentence, without citation marks."""
    support: Support
    """Its mark."""
    citations: tuple[int, ...] = ()
    """Numbers of its citations: first those that decide its mark, then others that the model cites."""
    against: tuple[int, ...] = ()
    """Numbers of the citations that say otherwise."""
    confidence: float = 0.0
    """In [0, 1] by its mark: 1 if a source says it, .7 if it follows, .5 if disputed or from the model."""
    sign: str = ""
    """Sign of its line: `-` or `2.` for a list item, `|` for a table row, `>` for a quote; prose has none."""
    marked: tuple[tuple[int, int], ...] = ()
    """[start, end) of each stretch of a quote that has words of the question."""
    says: str = ""
    """What another source says, word for word, if the sentence is contradicted or disputed."""
    why: str = ""
    """What is missing in the words that the checking model copied, or empty."""


class Reply(TypedDict):
    """The answer of a reasoning turn."""

    text: str
    """The answer in the model's words, with numbers of the evidence that it was shown."""
    shown: list[str]
    """Ids of that evidence, in the order of their numbers."""


def with_relevance(rows: Sequence[Evidence], scores: Sequence[float]) -> list[Evidence]:
    """Return rows with their relevance, from -1 to 1."""
    graded: list[Evidence] = []
    for row, score in zip(rows, scores, strict=True):
        graded.append(Evidence(**{**row, "relevance": round(score, 4)}))
    return graded
