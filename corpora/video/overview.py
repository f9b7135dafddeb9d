"""A recording as a whole in a language model's words: asked once, kept with what was perceived, and never needed.

Where no model is set, it fails, or its reply cannot be used, the whole is told in the recording's own words
(`corpora/video/summary.py`).
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace

from ragweave.corpora.video.items import spans_of
from ragweave.corpora.video.perceived import Perceived
from ragweave.corpora.video.recording import Recording
from ragweave.corpora.video.summary import timestamp
from ragweave.models.errors import RagweaveError
from ragweave.models.text import clip

SHOWN = 24_000
"""Characters of a recording that a model is shown; of a longer one the beginning of every clip."""
_LEAST = 20
"""Words from which there is anything to sum up."""


@dataclass(frozen=True, slots=True)
class Overview:
    """What a model says of a whole recording.

    Attributes:
        title: what it would be called.
        summary: a paragraph.
        chapters: (second, title), in order.
        phrases: key phrases.
    """

    title: str = ""
    summary: str = ""
    chapters: tuple[tuple[float, str], ...] = ()
    phrases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Summariser:
    """A language model, ready to be asked.

    Attributes:
        name: model and host: what was written under the same name is the same.
        ask: returns what it says of a recording's words with their times, None where that cannot be used; raises a
            typed error where the model fails.
    """

    name: str
    ask: Callable[[str], Awaitable[Overview | None]]


_current: Summariser | None = None


def use(summariser: Summariser | None) -> None:
    """Set the summariser of this process."""
    global _current
    _current = summariser


def current() -> Summariser | None:
    """Return the summariser of this process, or None."""
    return _current


def told(recording: Recording, kept: Perceived, summariser: Summariser, seconds: float) -> tuple[Recording, str]:
    """Return a recording with what the model says of it, and why it says nothing, in words, or "".

    Args:
        recording: everything else that is known of it.
        kept: what was written of it before.
        summariser: the model; it is asked at most once.
        seconds: length of a clip.
    """
    text = words_of(recording, seconds)
    if len(text.split()) < _LEAST:
        return recording, ""
    stage, key = f"overview {summariser.name}", hashlib.sha256(text.encode()).hexdigest()[:32]
    row = kept.get(stage, key)
    if row is None:
        try:
            found = asyncio.run(_asked(summariser, text))
        except RagweaveError as error:
            return recording, f"the whole is told in its own words: {error}"
        if found is None:
            return recording, "the whole is told in its own words: the model's reply could not be read"
        row = asdict(found)
        kept.put(stage, key, row)
    return _with(recording, row), ""


async def _asked(summariser: Summariser, text: str) -> Overview | None:
    return await summariser.ask(text)


def words_of(recording: Recording, seconds: float) -> str:
    """Return what was said and shown, clip by clip with its time, at most `SHOWN` characters."""
    spans = spans_of(recording, seconds)
    share = SHOWN // max(1, len(spans))
    rows = []
    for start, end in spans:
        said = " ".join(c.text for c in recording.cues if start <= c.start < end)
        shown = " / ".join(" ".join(s.text.split()) for s in recording.shown if start <= s.start < end)
        if text := " | ".join(filter(None, (said, f"on the screen: {shown}" if shown else ""))):
            rows.append(clip(f"[{timestamp(start)}] {text}", share))
    return "\n".join(rows)


def _with(recording: Recording, row: dict[str, object]) -> Recording:
    """Add what a model wrote; the container's own chapters stay, and no chapter lies outside the recording."""
    made = Overview(**row)  # type: ignore[arg-type]
    last = max([recording.duration, *(c.end for c in recording.cues)])
    opens = sorted({float(at): title for at, title in made.chapters if 0 <= at < last}.items())
    ends = [*(at for at, _ in opens[1:]), last]
    chapters = tuple((at, end, title) for (at, title), end in zip(opens, ends, strict=True)) if len(opens) > 1 else ()
    about = "\n\n".join(filter(None, (recording.about, made.title, made.summary)))
    return replace(
        recording,
        about=about,
        chapters=recording.chapters or chapters,
        phrases=tuple(made.phrases) or recording.phrases,
    )
