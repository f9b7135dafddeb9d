"""Who may decide what: a protocol per decision, and what it is given and gives back."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from typing_extensions import TypedDict

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.attachments import Attachment
from ragweave.components.component import Outcome
from ragweave.components.evidence import Evidence, Reply, Strip
from ragweave.components.knowledge import Decision, Knowledge
from ragweave.components.run_context import RunContext
from ragweave.corpora.types import Item, Label
from ragweave.models.relevance import LOWER, Passage


class Talk(NamedTuple):
    """What was said before a question.

    Attributes:
        messages: (who, text) of each message.
        previous: the question before, or "".
    """

    messages: list[tuple[str, str]]
    previous: str


class Condenser(Protocol):
    """Makes a follow-up a question that stands by itself."""

    async def __call__(self, run: RunContext, question: str, talk: Talk) -> Outcome[str]:
        """Return the question; `talk` is what came before it."""
        ...


class Seer(Protocol):
    """Makes a question that comes with pictures one that can be understood without them."""

    async def __call__(self, run: RunContext, question: str, pictures: Sequence[Attachment]) -> Outcome[str]:
        """Return the question."""
        ...


class Routed(NamedTuple):
    """Labels, best first, the confidence of each label that could be had, and the reason in words."""

    labels: list[Label]
    confidence: dict[str, float]
    why: str


class Router(Protocol):
    """Chooses the corpora that a query is sent to, of those in which something is held (UniversalRAG)."""

    async def __call__(self, run: RunContext, query: str, held: Collection[Label]) -> Outcome[Routed]: ...


class QueryExpander(Protocol):
    """Puts a query into other words (RAG-Fusion)."""

    @property
    def alone(self) -> bool:
        """Whether it can make no phrasings, so that no first look is worth its time."""
        ...

    async def __call__(self, run: RunContext, query: str) -> Outcome[list[str]]:
        """Return further phrasings, without the query itself."""
        ...


class WebQuerist(Protocol):
    """Writes what is typed into a search engine."""

    async def __call__(self, run: RunContext, question: str) -> Outcome[str]:
        """Return the query."""
        ...


@dataclass(frozen=True)
class Graded:
    """Relevance of items in [-1, 1] to their query, and the thresholds that belong to its evaluator (CRAG).

    Attributes:
        scores: one per item.
        upper: from here on an item is relevant.
        lower: below, it is not.
    """

    scores: list[float]
    upper: float
    lower: float


class Evaluator(Protocol):
    """Grades what a hop brought against its query (CRAG, section 4.2).

    `reread` are the ids of items whose text has changed since `fuse` scored them.
    """

    async def __call__(
        self, run: RunContext, query: str, items: Sequence[Evidence], reread: Collection[str]
    ) -> Outcome[Graded]: ...


class PassageEvaluator(Protocol):
    """Scores passages that no hop has scored, in [-1, 1]: strips, pages of the web."""

    async def __call__(self, run: RunContext, query: str, passages: Sequence[Passage]) -> Outcome[list[float]]: ...


class Reasoner(Protocol):
    """Decides between two rounds: what was learnt, and the next query or that it is enough (Auto-RAG)."""

    async def __call__(self, run: RunContext, known: Knowledge) -> Outcome[Decision]: ...


class Recaller(Protocol):
    """Writes down what a model itself knows; "" where it knows nothing (Auto-RAG, Algorithm 2)."""

    async def __call__(self, run: RunContext, question: str, query: str) -> Outcome[str]: ...


@dataclass(frozen=True)
class GenerationInput:
    """What a writer writes from.

    Attributes:
        question: question of the turn, without the answers that it states to choose from.
        strips: what is known, recalled passages last.
        rows: evidence of the turn, by id.
        turn: the question as it was asked, without what condensing put in front of it.
        choices: answers to choose from.
        searched: something was to be searched.
        chunks: ids of the clips that are read beside the strips, in the order of their chunks.
        reply: the answer of the reasoning turn, where there is one.
        lower: relevance below which the last evaluator calls a row irrelevant.
        queries: what the question was rewritten to.
    """

    question: str
    strips: Sequence[Strip]
    rows: Mapping[str, Evidence]
    choices: tuple[str, ...]
    searched: bool
    chunks: Sequence[str] = ()
    reply: Reply | None = None
    turn: str = ""
    lower: float = LOWER
    queries: Sequence[str] = ()

    @property
    def own(self) -> list[Strip]:
        """The strips that are no model's memory."""
        return [s for s in self.strips if s["origin"] != "model"]


class Generator(Protocol):
    """Writes the answer onto a page; says why, where the evidence carries none."""

    async def __call__(self, run: RunContext, given: GenerationInput, builder: AnswerBuilder) -> Outcome[str]: ...


class Forms(TypedDict):
    """A query in the forms that the retrievers of recordings ask for."""

    statement: str
    """Declarative sentence, for entities."""
    scene: str
    """What would be seen, for pictures."""
    keywords: list[str]
    """Words that would be said or shown."""


class Rewriter(Protocol):
    """Rewrites a query for recordings (VideoRAG, section 3.2)."""

    async def __call__(self, run: RunContext, query: str) -> Outcome[Forms]: ...


@dataclass(frozen=True)
class Kept:
    """The places of the clips that stay, in order.

    Attributes:
        places: of the clips, from 0.
        verdicts: relevance in [-1, 1] of every clip, where the evaluator that is asked last judged them; else empty.
    """

    places: list[int]
    verdicts: list[float] = field(default_factory=list)


class ClipFilter(Protocol):
    """Filters clips (VideoRAG, section 3.2)."""

    async def __call__(self, run: RunContext, query: str, passages: Sequence[Passage]) -> Outcome[Kept]: ...


class Looker(Protocol):
    """Looks at frames of clips with the question in mind: what is seen, by clip (VideoRAG, section 3.3)."""

    async def __call__(
        self, run: RunContext, query: str, keywords: Sequence[str], clips: Sequence[Item]
    ) -> Outcome[dict[str, str]]: ...


@dataclass(frozen=True)
class Components:
    """Who decides in a run."""

    condenser: Condenser
    seer: Seer
    router: Router
    expander: QueryExpander
    web_querist: WebQuerist
    evaluator: Evaluator
    strip_evaluator: PassageEvaluator
    """Judges strips and pages of the web."""
    reasoner: Reasoner
    recaller: Recaller | None
    """None where no model is there to recall anything."""
    writer: Generator
    rewriter: Rewriter
    clip_filter: ClipFilter
    """Follows the evaluator."""
    looker: Looker
