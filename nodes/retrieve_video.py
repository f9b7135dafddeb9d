"""Search the recordings: recast, ask every channel, pool, judge, look closer (VideoRAG, sections 3.2 and 3.3)."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from typing_extensions import TypedDict

from ragweave.corpora.types import Corpus
from ragweave.minds.evidence import RankedList, Timeline
from ragweave.nodes.answer import NodeUsage
from ragweave.nodes.state import extend

Channel = Literal["chunk", "entity", "visual", "speech", "video", "timeline"]
"""Ways into the recordings. `video` finds the recording, `timeline` answers what only the order of things tells."""

CHANNELS: tuple[Channel, ...] = get_args(Channel)


class Recast(TypedDict):
    """A question in the forms that the channels ask for."""

    statement: str
    """Declarative sentence, for entities."""
    scene: str
    """What would be seen, for pictures."""
    keywords: list[str]
    """Words that would be said or shown."""


class VideoTask(TypedDict, total=False):
    """What `plan` sends to the recordings."""

    turn: str
    """Id of the turn; names its meter."""
    query: str
    """The query of the hop."""
    question: str
    """The question of the turn."""
    hop: int
    """Hop, from 1."""
    corpora: list[Corpus]
    """`clip`, `video`, or both."""
    sources: list[str]
    """Source ids to stay within; empty means all."""
    titles: list[str]
    """Titles of recordings to stay within; empty means all. One file may hold several recordings."""


class ChannelTask(VideoTask):
    """Payload of one `Send`: one channel, with all that it asks."""

    channel: Channel
    recast: Recast


class ChannelList(TypedDict):
    """What one channel found: ids of clips (of recordings for `video`), best first."""

    channel: Channel
    ids: list[str]


class VideoState(VideoTask, total=False):
    """State of the search in the recordings."""

    recast: Recast
    """The question's other forms."""
    lists: Annotated[list[ChannelList], extend]
    """One list per channel; a channel that found nothing has none."""
    clips: list[str]
    """Pooled clips, best first."""
    scores: list[float]
    """Their pooled scores."""
    found: Annotated[list[RankedList], extend]
    """What goes back to the graph outside."""
    looked: dict[str, str]
    """What a vision model saw in a clip's frames, by clip id."""
    timeline: Timeline | None
    """What the timeline says, where the question asks it."""
    notes: Annotated[list[str], extend]
    """What could not be done, in words."""
    usage: Annotated[list[NodeUsage], extend]
    """What each node spent."""


class VideoResult(TypedDict, total=False):
    """What the search in the recordings gives back."""

    found: Annotated[list[RankedList], extend]
    looked: dict[str, str]
    timeline: Timeline | None
    notes: Annotated[list[str], extend]
    usage: Annotated[list[NodeUsage], extend]
