"""Captions: what a vision model sees in each clip, asked for side by side and kept as they come."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace

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
    said = " ".join(c.text for c in recording.cues if span[0] <= c.start < span[1])
    parts = (("Recording", recording.title), ("Said", said), ("On the screen", shown))
    return spread(names, ROUGH), clip("\n".join(f"{name}: {text}" for name, text in parts if text), CONTEXT)
