"""Caption clips: a vision model describes each clip; the requests run in parallel, and each reply is kept."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, replace

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
    """Return a recording with the captions of its clips, and a sentence about missing captions, or "".

    `down` says why the model cannot be reached. In that case only kept captions are used.
    """
    spans = spans_of(recording)
    requests = [_request(recording, span) for span in spans]
    run = _Run(kept, captioner, tell, len(spans), down, why=down)

    async def caption_all() -> list[str]:
        return await asyncio.gather(*map(run.caption, requests))

    captions = asyncio.run(caption_all())
    missing = 0
    for caption, request in zip(captions, requests, strict=True):
        if request.images and not caption:
            missing += 1
    remark = f"{missing} of {len(spans)} clips have no caption: {run.why or SILENT}" if missing else ""
    return replace(recording, captions=tuple(captions)), remark


@dataclass(frozen=True, slots=True)
class _Request:
    """The frames of a clip that the model sees, and the text that it reads with them."""

    images: list[str]
    context: str

    @property
    def key(self) -> str:
        """Return the key under which its caption is kept."""
        return hashlib.sha256("\0".join([*self.images, self.context]).encode()).hexdigest()[:32]


@dataclass
class _Run:
    """The captions of one recording in progress; `why` is the last error."""

    kept: Perceived
    captioner: Captioner
    tell: Tell
    total: int
    down: str
    why: str
    done: int = 0

    async def caption(self, request: _Request) -> str:
        """Return the caption of a clip, "" if there is none."""
        caption = ""
        if request.images:
            stage = f"caption {self.captioner.name}"
            kept = self.kept.get(stage, request.key)
            if kept is not None:
                caption = kept
            elif not self.down:
                caption = await self._ask(request)
                if caption:
                    self.kept.put(stage, request.key, caption)
        self.done += 1
        self.tell("caption", self.done, self.total)
        return caption

    async def _ask(self, request: _Request) -> str:
        """Return the model's reply, "" if it fails."""
        pictures = []
        for name in request.images:
            path = self.kept.frame(name)
            if path is not None:
                pictures.append(path.read_bytes())
        try:
            return await self.captioner.ask(pictures, request.context, "") or ""
        except RagweaveError as error:
            self.why = str(error)
            return ""


def _request(recording: Recording, span: tuple[float, float]) -> _Request:
    """Return the request for the caption of a clip."""
    start, end = span
    images: dict[str, None] = {}
    for frame in recording.frames:
        if start <= frame.time < end:
            images[frame.image] = None
    cues = []
    for cue in recording.cues:
        if start <= cue.start < end:
            cues.append(cue.text)
    said = " ".join(cues)
    screens = []
    for screen in recording.shown_in(span):
        screens.append(screen.text)
    shown = "\n".join(screens)
    lines = []
    for name, text in (("Recording", recording.title), ("Said", said), ("On the screen", shown)):
        if text:
            lines.append(f"{name}: {text}")
    return _Request(spread(list(images), ROUGH), clip("\n".join(lines), CONTEXT))
