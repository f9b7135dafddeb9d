"""From a video or recording to what is embedded and stored: what it is made of, perceived, cut, and put into items."""

from __future__ import annotations

import hashlib
import math
import threading
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

from ragweave.corpora.meta import iso_date
from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.sniff import HEAD, demuxer
from ragweave.corpora.store.files import File
from ragweave.corpora.store.prepared import Prepared, made_of
from ragweave.corpora.video.captions import captioned
from ragweave.corpora.video.cues import transcript
from ragweave.corpora.video.items import CLIP_SECONDS, items_of
from ragweave.corpora.video.job import FINE, Tell, Work
from ragweave.corpora.video.perceive import fitting, perceive
from ragweave.corpora.video.perceived import Later, Perceived, folder_of
from ragweave.corpora.video.quality import understood
from ragweave.corpora.video.recording import Cue, Frame, Recording
from ragweave.corpora.video.sidecars import companion, others, tagged
from ragweave.corpora.video.streams import examine
from ragweave.corpora.video.title import titled
from ragweave.models.asr import Asr, asr, why_none
from ragweave.models.caption import Captioner, why_down
from ragweave.models.errors import (
    InputError,
    MissingExtra,
    ModelError,
    RagweaveError,
    SourceError,
    WeightsError,
)
from ragweave.models.ocr import ocr

VERSION = 10
"""Raise it when the items of the same recording change."""
VIDEO, AUDIO = "video", "audio"
RECORDINGS = (VIDEO, AUDIO)
"""Kinds of the sources that are perceived, as the catalog names them."""
_INCOMPLETE = "incomplete"
"""File beside what was perceived: the vision model did not answer for every clip that the library holds."""
_UNHEARD = "unheard"
"""File beside what was perceived: the model that is set to hear could not be opened."""


def demuxer_of(path: str) -> str:
    """Return how a recording is opened, or "" for any other file and one that cannot be read."""
    try:
        with open(path, "rb") as file:
            return demuxer(file.read(HEAD))
    except OSError:
        return ""


def installed() -> bool:
    """Say whether the extra `video` is there, without importing it."""
    return find_spec("imageio_ffmpeg") is not None


@dataclass(eq=False)
class Intake:
    """Takes recordings in, up to three at a time, each in another stage. Safe among threads.

    Without a captioner clips have no captions.
    """

    settings: CorporaSettings
    library: str
    max_words: int
    captioner: Captioner | None
    stop: threading.Event
    understood: list[tuple[str, str]] = field(default_factory=list, init=False)
    """(path, how well it was understood) of each recording that was taken in."""
    _whole: set[str] = field(default_factory=set, init=False)
    """Sources that were read with every caption, and are perhaps not stored yet."""
    _down: str | None = field(default=None, init=False)
    _deaf: RagweaveError | None = field(default=None, init=False)
    """Why the model that is set to hear cannot be opened, found out once a run."""
    _checking: threading.Lock = field(default_factory=threading.Lock, init=False)
    _looking: threading.Lock = field(default_factory=threading.Lock, init=False)
    _listening: threading.Lock = field(default_factory=threading.Lock, init=False)

    def params(self, path: str, base: str) -> str:
        """Return the digest of everything beside its bytes that the items of a recording depend on."""
        listens, reads = asr(), ocr()
        written = ""
        for beside in (p for p in (companion(path), *others(path)) if p):
            try:
                written += hashlib.sha256(beside.read_bytes()).hexdigest()
            except OSError:
                continue
        parts = [base, str(VERSION), f"{CLIP_SECONDS:g}", str(FINE)]
        parts += [listens.name if listens else "", reads.name if reads else "", written]
        parts += [self.captioner.name if self.captioner else ""]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def ahead(self, path: str) -> list[tuple[str, float]]:
        """Return the stages that a recording will go through, and how much each has to do: seconds, or clips."""
        try:
            container = examine(path, demuxer_of(path))
        except (SourceError, MissingExtra):
            return []
        seen = container.picture() is not None
        written = companion(path) or container.subtitles()
        heard = container.sound() is not None and not written and asr() is not None
        clips = math.ceil(container.duration / CLIP_SECONDS) if seen and self.captioner is not None else 0
        found = [
            ("look", container.duration * seen),
            ("asr", container.duration * heard),
            ("caption", float(clips)),
        ]
        return [(stage, much) for stage, much in found if much]

    def read(self, file: File, media: Path, tell: Tell) -> Prepared:
        """Return the items of a recording, its frames in the folder `media`, which is made.

        Raises:
            SourceError: it cannot be decoded.
            Later: the disk is full, the extra `video` is not installed, or a model that is set fails.
            Stopped: the run was stopped.
        """
        try:
            recording, warnings = self._perceived(file, media, tell)
        except (MissingExtra, ModelError, WeightsError, InputError) as error:
            raise Later(error.what, error.remedy) from error
        self.understood.append((file.path, understood(recording, file.path)))
        items = items_of(file.source, file.path, recording)
        kind = VIDEO if recording.frames else AUDIO
        return made_of(
            kind, recording.title, items, self.max_words, language=recording.language, warnings=warnings
        )

    def _perceived(self, file: File, media: Path, tell: Tell) -> tuple[Recording, list[str]]:
        written, warnings = _written(companion(file.path))
        read = [_written(p) for p in others(file.path)]
        also = tuple(cue for cues, _ in read for cue in cues)
        warnings += [w for _, remarks in read for w in remarks]
        how = demuxer_of(file.path)
        try:
            container = examine(file.path, how)
        except SourceError as error:
            if not written:
                raise
            # The subtitles are whole: they can be searched, and say when.
            lost = Recording("", written[-1].end, written, "subtitles", language=tagged(file.path), also=also)
            return replace(lost, title=titled(lost, file.path)), [
                *warnings,
                f"only its subtitles were read: {error}",
            ]
        listens, unheard = (None, "") if written or container.sound() is None else self._listening_by()
        title = container.tags.get("title", "")
        kept = Perceived(folder_of(self.settings.home, self.library, file.sha256))
        try:
            kept.begin(file.path)
            work = Work(
                path=file.path,
                demuxer=how,
                sha256=file.sha256,
                container=container,
                title=title if len(title) > 2 else "",
                kept=kept,
                tell=tell,
                asr=listens,
                unheard=unheard,
                ocr=ocr(),
                written=written,
                stop=self.stop,
                looking=self._looking,
                listening=self._listening,
            )
            recording, unperceived = perceive(work)
            language = (written and tagged(file.path)) or recording.language
            title = recording.title or titled(recording, file.path)
            also, misfit = fitting(also, recording.duration)
            recording = replace(recording, title=title, language=language, also=also)
            recording, missing = self._captioned(file.source, recording, kept, tell)
            deaf = listens is None and self._deaf is not None
            _mark(kept.folder / _UNHEARD, deaf and container.sound() is not None and not recording.speech)
            kept.give_frames([f.image for f in recording.frames], media)
        finally:
            kept.close()
        frames = tuple(Frame(f.time, f"{file.source}/{f.image}") for f in recording.frames)
        date = next((d for k in ("creation_time", "date") if (d := iso_date(container.tags.get(k)))), None)
        warnings += [*missing, *dict.fromkeys([*unperceived, *misfit])]
        return replace(recording, frames=frames, date=date), warnings

    def _listening_by(self) -> tuple[Asr | None, str]:
        """Return what hears, or why nothing does; a model that cannot be had costs a recording its words alone.

        Raises:
            RagweaveError: a server that hears does not answer, or a setting names nothing that is known.
        """
        listens = asr()
        if listens is None:
            why, remedy = why_none()
            return None, f"{why}; {remedy}"
        with self._checking:
            if self._deaf is None:
                try:
                    listens.check()
                except (WeightsError, MissingExtra) as error:
                    self._deaf = error
        return (None, str(self._deaf)) if self._deaf is not None else (listens, "")

    def incomplete(self, sha256: str) -> bool:
        """Whether words or captions of a recording are missing that another run may get."""
        folder = folder_of(self.settings.home, self.library, sha256)
        captions = self.captioner is not None and (folder / _INCOMPLETE).exists()
        return captions or (self._deaf is None and (folder / _UNHEARD).exists())

    def stored(self, file: File) -> None:
        """Note that a recording is in the library as it was read: until then its captions may be missing there."""
        if file.source in self._whole:
            marker = folder_of(self.settings.home, self.library, file.sha256) / _INCOMPLETE
            with suppress(OSError):  # it is read once more
                marker.unlink(missing_ok=True)

    def _captioned(
        self, source: str, recording: Recording, kept: Perceived, tell: Tell
    ) -> tuple[Recording, list[str]]:
        """Return a recording with what a vision model says of its clips, and what it could not say."""
        missing = ""
        if self.captioner is not None:
            with self._checking:
                if self._down is None:  # found out once a run, before the first frame is sent
                    self._down = why_down(self.captioner)
            recording, missing = captioned(recording, kept, self.captioner, tell, self._down)
        if missing:
            self._whole.discard(source)
            (kept.folder / _INCOMPLETE).touch()
        else:
            self._whole.add(source)
        return recording, [missing] if missing else []


def _mark(file: Path, wanted: bool) -> None:
    if wanted:
        file.touch()
    else:
        file.unlink(missing_ok=True)


def _written(beside: Path | None) -> tuple[tuple[Cue, ...], list[str]]:
    if beside is None:
        return (), []
    try:
        found, remarks = transcript(beside)
        return found[0].cues, [f"of {beside.name}: {remark}" for remark in remarks]
    except SourceError as error:
        return (), [f"the subtitles beside it were not used: {error}"]
