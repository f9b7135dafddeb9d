"""Who may decide what: a protocol per decision, and what it is given and gives back."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from typing_extensions import TypedDict

from ragweave.corpora.types import Item, Label
from ragweave.minds.attached import Attached
from ragweave.minds.desk import Desk
from ragweave.minds.evidence import Evidence, Hop, Strip, Support, Timeline
from ragweave.minds.known import Decision, Known
from ragweave.minds.mind import Made
from ragweave.models.relevance import Passage


class Talk(NamedTuple):
    """What was said before a question.

    Attributes:
        messages: (who, text) of each message.
        previous: the question before, as it was asked.
        answered: the same, as it was answered: standing by itself.
        cited: title that its answer cited first, or empty.
    """

    messages: list[tuple[str, str]]
    previous: str
    answered: str
    cited: str


class Condenser(Protocol):
    """Makes a follow-up a question that stands by itself."""

    async def __call__(self, desk: Desk, asked: str, talk: Talk) -> Made[str]:
        """Return the question; `talk` is what came before it."""
        ...


class Seer(Protocol):
    """Makes a question that comes with pictures one that can be understood without them."""

    async def __call__(self, desk: Desk, question: str, pictures: Sequence[Attached]) -> Made[str]:
        """Return the question."""
        ...


class Routed(NamedTuple):
    """Labels, best first, the confidence of each label that could be had, and the reason in words."""

    labels: list[Label]
    confidence: dict[str, float]
    why: str


class Router(Protocol):
    """Chooses the corpora that a query is sent to (UniversalRAG)."""

    async def __call__(self, desk: Desk, query: str, held: Collection[Label]) -> Made[Routed]:
        """Return the corpora; `held` are those in which the library holds something."""
        ...


class Expander(Protocol):
    """Puts a query into other words (RAG-Fusion)."""

    @property
    def alone(self) -> bool:
        """Whether it can make no phrasings, so that no first look is worth its time."""
        ...

    async def __call__(self, desk: Desk, query: str) -> Made[list[str]]:
        """Return further phrasings, without the query itself."""
        ...


class WebQuerist(Protocol):
    """Writes what is typed into a search engine."""

    async def __call__(self, desk: Desk, question: str) -> Made[str]:
        """Return the query."""
        ...


@dataclass(frozen=True)
class Graded:
    """Relevance of items in [-1, 1] to their query, and the thresholds that belong to its evaluator (CRAG).

    Attributes:
        scores: one per item.
        upper: from here on an item is relevant.
        lower: below, it is not.
        looked: what a vision model saw in items that were looked at for the verdict, by id.
    """

    scores: list[float]
    upper: float
    lower: float
    looked: dict[str, str] = field(default_factory=dict)


class Evaluator(Protocol):
    """Grades what a hop brought against its query (CRAG, section 4.2)."""

    async def __call__(
        self, desk: Desk, query: str, items: Sequence[Evidence], reread: Collection[str]
    ) -> Made[Graded]:
        """Return the grades; `reread` are the ids of items whose text has changed since `fuse` scored them."""
        ...


class PassageEvaluator(Protocol):
    """Scores passages that no hop has scored: strips, pages of the web, clips."""

    async def __call__(self, desk: Desk, query: str, passages: Sequence[Passage]) -> Made[list[float]]:
        """Return their relevance in [-1, 1]."""
        ...


class Reasoner(Protocol):
    """Decides between two rounds: what was learnt, and the next query or that it is enough (Auto-RAG)."""

    async def __call__(self, desk: Desk, known: Known) -> Made[Decision]:
        """Return the decision of the round that has just ended, or the first query."""
        ...


class Recaller(Protocol):
    """Writes down what a model itself knows (Auto-RAG, Algorithm 2)."""

    async def __call__(self, desk: Desk, question: str, query: str) -> Made[str]:
        """Return one passage, or "" where it knows nothing."""
        ...


@dataclass(frozen=True)
class Checked:
    """What the check says of one sentence.

    Attributes:
        supported: the evidence says it.
        score: 0 to 1.
        by: indices of the evidence that supports it, best first; empty when it is not supported.
        why: what is missing, as a short sentence; empty when it is supported.
    """

    supported: bool
    score: float
    by: tuple[int, ...]
    why: str


class Checker(Protocol):
    """Judges whether evidence supports a sentence: numbers, dates, names, negation, and most of what it says."""

    async def __call__(self, desk: Desk, sentence: str, strips: Sequence[Strip], question: str) -> Made[Checked]:
        """Return the verdict; `question` is what the sentence answers."""
        ...


@dataclass(frozen=True)
class Brief:
    """What a writer writes from.

    Attributes:
        question: question of the turn, without the answers that it states to choose from.
        strips: what is known, recalled passages last.
        rows: evidence of the turn, by id.
        hops: its rounds.
        best: highest relevance of anything found to the question itself, in [-1, 1].
        timeline: what the timeline of the recordings says, where the question asks it.
        choices: answers to choose from.
        searched: something was to be searched.
    """

    question: str
    strips: Sequence[Strip]
    rows: Mapping[str, Evidence]
    hops: Sequence[Hop]
    best: float
    timeline: Timeline | None
    choices: tuple[str, ...]
    searched: bool

    @property
    def own(self) -> list[Strip]:
        """The strips that are no model's memory."""
        return [s for s in self.strips if s["origin"] != "model"]


class Page(Protocol):
    """Where a writer writes. What is shown is never taken back."""

    @property
    def shown(self) -> int:
        """Sentences shown so far."""
        ...

    @property
    def origins(self) -> Collection[str]:
        """Where the citations so far come from."""
        ...

    async def offer(
        self, text: str, *sides: Sequence[Strip], rests: Sequence[Strip] = (), confidence: float | None = None
    ) -> None:
        """Show a sentence if a check finds that the first or a further side supports it.

        Args:
            text: the sentence.
            sides: evidence that it is checked against, one side after the other.
            rests: what it is said to rest on; otherwise the evidence that supports it.
            confidence: its confidence; otherwise that of the check.
        """
        ...

    def show(self, text: str, support: Support, rests: Sequence[Strip], confidence: float, about: str = "") -> None:
        """Show a sentence that needs no check; of what it rests on, the part nearest to `about` is quoted, or all."""
        ...


@dataclass(frozen=True)
class Written:
    """Why nothing was written, or empty."""

    why: str = ""


class Writer(Protocol):
    """Writes the answer onto a page."""

    async def __call__(self, desk: Desk, brief: Brief, page: Page) -> Made[Written]:
        """Write; nothing, with the reason, where the evidence carries no answer."""
        ...


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

    async def __call__(self, desk: Desk, query: str) -> Made[Forms]:
        """Return its forms."""
        ...


class ClipFilter(Protocol):
    """Filters clips (VideoRAG, section 3.2)."""

    async def __call__(self, desk: Desk, query: str, passages: Sequence[Passage]) -> Made[list[int]]:
        """Return the places of those that stay, in order."""
        ...


class Looker(Protocol):
    """Looks at the frames of clips with the question in mind (VideoRAG, section 3.3)."""

    async def __call__(
        self, desk: Desk, query: str, keywords: Sequence[str], clips: Sequence[Item]
    ) -> Made[dict[str, str]]:
        """Return what is seen that bears on the query, by clip."""
        ...


@dataclass(frozen=True)
class Minds:
    """Who decides in a run."""

    condenser: Condenser
    seer: Seer
    router: Router
    expander: Expander
    web_querist: WebQuerist
    evaluator: Evaluator
    strip_evaluator: PassageEvaluator
    """Judges strips and pages of the web."""
    reasoner: Reasoner
    recaller: Recaller | None
    """None where no model is there to recall anything."""
    writer: Writer
    checker: Checker
    rewriter: Rewriter
    clip_filter: ClipFilter
    """Follows the evaluator."""
    looker: Looker
