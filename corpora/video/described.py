"""Captions: what a vision model sees in each clip, asked for side by side and kept as they come."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass, replace

from ragweave.corpora.phrases import clock
from ragweave.corpora.video.items import ROUGH, spans_of, spread
from ragweave.corpora.video.job import Tell
from ragweave.corpora.video.perceived import Perceived
from ragweave.corpora.video.recording import Recording
from ragweave.models.caption import CONTEXT, SILENT, Captioner
from ragweave.models.errors import RagweaveError
from ragweave.models.text import clip


def captioned(
    recording: Recording, kept: Perceived, captioner: Captioner, tell: Tell, down: str = ""
) -> tuple[Recording, str]:
    """Return a recording with the captions of its clips, and what could not be captioned, in words, or "".

    `down` says why the model cannot be asked; what is kept is used all the same.
    """
    spans = spans_of(recording)
    wanted = [_given(recording, span) for span in spans]
    stage = f"caption {captioner.name}"
    done, why = 0, down

    async def one(images: list[str], context: str) -> str:
        nonlocal done, why
        key = hashlib.sha256("\0".join([*images, context]).encode()).hexdigest()[:32]
        said = kept.get(stage, key) if images else ""
        if said is None and not down:
            paths = [p for name in images if (p := kept.frame(name)) is not None]
            try:
                said = await captioner.ask([p.read_bytes() for p in paths], context, "")
            except RagweaveError as error:
                why = str(error)
            if said:
                kept.put(stage, key, said)
        done += 1
        tell("caption", done, len(spans))
        return said or ""

    async def all_() -> list[str]:
        return await asyncio.gather(*(one(*given) for given in wanted))

    found = asyncio.run(all_())
    missing = sum(not said and bool(images) for said, (images, _) in zip(found, wanted, strict=True))
    remark = f"{missing} of {len(spans)} clips have no caption: {why or SILENT}" if missing else ""
    return replace(recording, captions=tuple(found)), remark


def _given(recording: Recording, span: tuple[float, float]) -> tuple[list[str], str]:
    """Return the frames of a clip that a model is shown, and what it is told beside them."""
    names = list(dict.fromkeys(f.image for f in recording.frames if span[0] <= f.time < span[1]))
    shown = "\n".join(s.text for s in recording.shown_in(span))
    parts = (("Recording", recording.title), ("Said", recording.said_in(span)), ("On the screen", shown))
    return spread(names, ROUGH), clip("\n".join(f"{name}: {text}" for name, text in parts if text), CONTEXT)


SHOWN = 24_000
"""Characters of a recording that a model is shown; of a longer one the beginning of every clip."""
_LEAST = 20
"""Words from which there is anything to sum up."""


@dataclass(frozen=True, slots=True)
class Overview:
    """What a model says of a whole recording; chapters are (second, title), in order."""

    title: str = ""
    summary: str = ""
    chapters: tuple[tuple[float, str], ...] = ()
    phrases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Summariser:
    """A language model, ready to be asked; what was written under one name is the same.

    `ask` returns what it says of a recording's words with their times, None where that cannot be used, and raises a
    typed error where the model fails.
    """

    name: str
    ask: Callable[[str], Coroutine[None, None, Overview | None]]


def told(recording: Recording, kept: Perceived, summariser: Summariser) -> tuple[Recording, str]:
    """Return a recording with what the model says of it, and why it says nothing, in words, or "".

    The model is asked at most once; what it wrote before is kept.
    """
    text = words_of(recording)
    if len(text.split()) < _LEAST:
        return recording, ""
    stage, key = f"overview {summariser.name}", hashlib.sha256(text.encode()).hexdigest()[:32]
    row = kept.get(stage, key)
    if row is None:
        try:
            found = asyncio.run(summariser.ask(text))
        except RagweaveError as error:
            return recording, f"the whole is told in its own words: {error}"
        if found is None:
            return recording, "the whole is told in its own words: the model's reply could not be read"
        row = asdict(found)
        kept.put(stage, key, row)
    return _with(recording, row), ""


def words_of(recording: Recording) -> str:
    """Return what was said and shown, clip by clip with its time, at most `SHOWN` characters."""
    spans = spans_of(recording)
    share = SHOWN // max(1, len(spans))
    rows = []
    for start, end in spans:
        said = recording.said_in((start, end))
        shown = " / ".join(" ".join(s.text.split()) for s in recording.shown if start <= s.start < end)
        if text := " | ".join(filter(None, (said, f"on the screen: {shown}" if shown else ""))):
            rows.append(clip(f"[{clock(start)}] {text}", share))
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
