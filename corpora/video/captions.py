"""Captions: what a vision model sees in each clip, asked for side by side and kept as they come."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragweave.corpora.video.items import ROUGH, spans_of, spread
from ragweave.corpora.video.job import Tell
from ragweave.corpora.video.perceived import Perceived
from ragweave.corpora.video.recording import Recording
from ragweave.models.errors import RagweaveError
from ragweave.models.text import clip

CONTEXT = 3_000
"""Characters of transcript and screen that a vision model is shown beside the frames."""

SILENT = "the vision model did not answer; the next run asks it again"

Ask = Callable[[Sequence[bytes], str, str], Awaitable[str | None]]
"""Returns what is seen in pictures beside a context, in the language of that name ("" for that of the context).

None where the model says nothing; raises a RagweaveError where it fails."""


@dataclass(frozen=True, slots=True)
class Captioner:
    """A vision model, ready to be asked.

    Attributes:
        name: model, host and language: captions by the same name are the same.
        ask: asks it.
        check: finds out that it answers; raises where it does not.
    """

    name: str
    ask: Ask
    check: Callable[[], Coroutine[Any, Any, None]]


def why_down(captioner: Captioner) -> str:
    """Return why a vision model cannot be asked, in words, or ""."""
    try:
        asyncio.run(captioner.check())
    except RagweaveError as error:
        return str(error)
    return ""


def written(
    recording: Recording, kept: Perceived, captioner: Captioner, seconds: float, tell: Tell, down: str = ""
) -> tuple[Recording, str]:
    """Return a recording with the captions of its clips, and what could not be captioned, in words, or "".

    Args:
        recording: what else is known about it.
        kept: captions that there are already, and the frames.
        captioner: the vision model.
        seconds: length of a clip.
        tell: told about progress.
        down: why the model cannot be asked; what is kept is used all the same.
    """
    spans = spans_of(recording, seconds)
    wanted = [_given(recording, span) for span in spans]
    found: list[str] = [""] * len(spans)
    done, why = 0, down
    lock = threading.Lock()

    async def one(n: int) -> None:
        nonlocal done, why
        images, context = wanted[n]
        if images:
            key = hashlib.sha256("\0".join([*images, context]).encode()).hexdigest()[:32]
            said = kept.get(f"caption {captioner.name}", key)
            if said is None and not down:
                paths = [p for name in images if (p := kept.frame(name)) is not None]
                try:
                    said = await captioner.ask([p.read_bytes() for p in paths], context, "")
                except RagweaveError as error:
                    why = str(error)
                if said:
                    kept.put(f"caption {captioner.name}", key, said)
            found[n] = said or ""
        with lock:
            done += 1
        tell("caption", done, len(spans))

    async def all_() -> None:
        await asyncio.gather(*(one(n) for n in range(len(spans))))

    asyncio.run(all_())
    missing = sum(not said and bool(images) for said, (images, _) in zip(found, wanted, strict=True))
    remark = f"{missing} of {len(spans)} clips have no caption: {why or SILENT}" if missing else ""
    return replace(recording, captions=tuple(found)), remark


def _given(recording: Recording, span: tuple[float, float]) -> tuple[list[str], str]:
    start, end = span
    names = list(dict.fromkeys(f.image for f in recording.frames if start <= f.time < end))
    said = " ".join(c.text for c in recording.cues if start <= c.start < end)
    shown = "\n".join(s.text for s in recording.shown if s.start < end and s.end >= start)
    parts = [
        f"Recording: {recording.title}",
        f"Said: {said}" if said else "",
        f"On the screen: {shown}" if shown else "",
    ]
    return spread(names, ROUGH), clip("\n".join(p for p in parts if p), CONTEXT)
