"""Index a video or sound recording: examine it, perceive it, cut it into clips, and return its items."""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
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
from ragweave.corpora.video.streams import Container, examine
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
"""Kinds of sources that are recordings, as the catalog names them."""
_INCOMPLETE = "incomplete"
"""Marker file in the folder of a recording: the library lacks captions because the vision model failed."""
_UNHEARD = "unheard"
"""Marker file in the folder of a recording: the chosen ASR engine could not be opened."""


def demuxer_of(path: str) -> str:
    """Return ffmpeg's demuxer for a recording, or "" for any other file and one that cannot be read."""
    try:
        with open(path, "rb") as file:
            return demuxer(file.read(HEAD))
    except OSError:
        return ""


def installed() -> bool:
    """Return whether the extra `video` is installed, without importing it."""
    return find_spec("imageio_ffmpeg") is not None


@dataclass(frozen=True, slots=True)
class _Subtitles:
    """The subtitle files of a recording: its own, those in further languages, and warnings about them."""

    own: tuple[Cue, ...]
    further: tuple[Cue, ...]
    warnings: tuple[str, ...]


@dataclass(eq=False)
class Intake:
    """Indexes recordings, up to three in parallel, each in another stage; safe to share among threads.

    Without a captioner, clips have no captions.
    """

    settings: CorporaSettings
    library: str
    max_words: int
    captioner: Captioner | None
    stop: threading.Event
    understood: list[tuple[str, str]] = field(default_factory=list, init=False)
    """(path, how well it was understood) of each recording that was indexed."""
    _fully_captioned: set[str] = field(default_factory=set, init=False)
    """Sources that were read with every caption and are perhaps not stored yet."""
    _captioner_error: str | None = field(default=None, init=False)
    """Why the vision model cannot be reached, "" if it can; None before the first check of a run."""
    _asr_error: RagweaveError | None = field(default=None, init=False)
    """Why the chosen ASR engine cannot be opened."""
    _checking: threading.Lock = field(default_factory=threading.Lock, init=False)
    _looking: threading.Lock = field(default_factory=threading.Lock, init=False)
    _listening: threading.Lock = field(default_factory=threading.Lock, init=False)

    def params(self, path: str, base: str) -> str:
        """Return a digest of everything that the items of a recording depend on, apart from its bytes."""
        own = companion(path)
        subtitles = [own] if own is not None else []
        digests = ""
        for file in [*subtitles, *others(path)]:
            with suppress(OSError):
                digests += hashlib.sha256(file.read_bytes()).hexdigest()
        engine, reader = asr(), ocr()
        parts = [
            base,
            str(VERSION),
            f"{CLIP_SECONDS:g}",
            str(FINE),
            engine.name if engine else "",
            reader.name if reader else "",
            digests,
            self.captioner.name if self.captioner else "",
        ]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def ahead(self, path: str) -> list[tuple[str, float]]:
        """Return the stages that a recording will go through, each with its amount in seconds or clips."""
        try:
            container = examine(path, demuxer_of(path))
        except (SourceError, MissingExtra):
            return []
        duration = container.duration
        if not duration:
            return []
        stages = []
        has_picture = container.picture() is not None
        has_subtitles = bool(companion(path) or container.subtitles())
        if has_picture:
            stages.append(("look", duration))
        if container.sound() is not None and not has_subtitles and asr() is not None:
            stages.append(("asr", duration))
        if has_picture and self.captioner is not None:
            stages.append(("caption", float(math.ceil(duration / CLIP_SECONDS))))
        return stages

    def read(self, file: File, media: Path, tell: Tell) -> Prepared:
        """Return the items of a recording and write its frames to the folder `media`, which is created.

        Raises:
            SourceError: it cannot be decoded.
            Later: the disk is full, the extra `video` is not installed, or a chosen model fails.
            JobStopped: the run was stopped.
        """
        try:
            recording, warnings = self._recording(file, media, tell)
        except (MissingExtra, ModelError, WeightsError, InputError) as error:
            raise Later(error.what, error.remedy) from error
        self.understood.append((file.path, understood(recording, file.path)))
        items = items_of(file.source, file.path, recording)
        kind = VIDEO if recording.frames else AUDIO
        return made_of(
            kind, recording.title, items, self.max_words, language=recording.language, warnings=warnings
        )

    def _recording(self, file: File, media: Path, tell: Tell) -> tuple[Recording, list[str]]:
        """Return a recording, and warnings about it; if it cannot be opened, only its subtitles."""
        subtitles = _subtitles_of(file.path)
        how = demuxer_of(file.path)
        try:
            container = examine(file.path, how)
        except SourceError as error:
            if not subtitles.own:
                raise
            recording = _subtitles_alone(file.path, subtitles)
            return recording, [*subtitles.warnings, f"only its subtitles were read: {error}"]
        engine: Asr | None = None
        unheard = ""
        if not subtitles.own and container.sound() is not None:
            engine, unheard = self._engine()
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
                asr=engine,
                unheard=unheard,
                ocr=ocr(),
                written=subtitles.own,
                stop=self.stop,
                looking=self._looking,
                listening=self._listening,
            )
            recording, warnings = self._perceived(file, work, subtitles)
            frames = _give_frames(recording, kept, file.source, media)
        finally:
            kept.close()
        return replace(recording, frames=frames, date=_date(container)), warnings

    def _perceived(self, file: File, work: Work, subtitles: _Subtitles) -> tuple[Recording, list[str]]:
        """Perceive and caption a recording; return it with warnings about it."""
        recording, remarks = perceive(work)
        language = recording.language
        if subtitles.own:
            language = tagged(file.path) or language
        title = recording.title or titled(recording, file.path)
        also, misfit = fitting(subtitles.further, recording.duration)
        recording = replace(recording, title=title, language=language, also=also)
        recording, missing = self._captioned(file.source, recording, work)
        could_not_hear = work.asr is None and self._asr_error is not None
        has_unheard_sound = work.container.sound() is not None and not recording.speech
        _mark(work.kept.folder / _UNHEARD, could_not_hear and has_unheard_sound)
        return recording, [*subtitles.warnings, *missing, *dict.fromkeys([*remarks, *misfit])]

    def _engine(self) -> tuple[Asr | None, str]:
        """Return the ASR engine, or why there is none; without its weights, a recording only lacks its words.

        Raises:
            RagweaveError: an ASR server does not answer, or a setting has an unknown value.
        """
        engine = asr()
        if engine is None:
            why, remedy = why_none()
            return None, f"{why}; {remedy}"
        with self._checking:
            if self._asr_error is None:
                try:
                    engine.check()
                except (WeightsError, MissingExtra) as error:
                    self._asr_error = error
        if self._asr_error is not None:
            return None, str(self._asr_error)
        return engine, ""

    def incomplete(self, sha256: str) -> bool:
        """Return whether a recording lacks speech or captions that another run may add."""
        folder = folder_of(self.settings.home, self.library, sha256)
        if self.captioner is not None and (folder / _INCOMPLETE).exists():
            return True
        return self._asr_error is None and (folder / _UNHEARD).exists()

    def stored(self, file: File) -> None:
        """Note that the library now holds a recording as it was read, with all captions that were found."""
        if file.source in self._fully_captioned:
            marker = folder_of(self.settings.home, self.library, file.sha256) / _INCOMPLETE
            with suppress(OSError):  # The next run then reads the recording again.
                marker.unlink(missing_ok=True)

    def _captioned(self, source: str, recording: Recording, work: Work) -> tuple[Recording, list[str]]:
        """Return a recording with captions of its clips, and a sentence if captions are missing."""
        missing = ""
        if self.captioner is not None:
            with self._checking:
                if self._captioner_error is None:  # Check once a run, before the first frame is sent.
                    self._captioner_error = why_down(self.captioner)
            recording, missing = captioned(
                recording, work.kept, self.captioner, work.tell, self._captioner_error
            )
        if missing:
            self._fully_captioned.discard(source)
            (work.kept.folder / _INCOMPLETE).touch()
            return recording, [missing]
        self._fully_captioned.add(source)
        return recording, []


def _give_frames(recording: Recording, kept: Perceived, source: str, media: Path) -> tuple[Frame, ...]:
    """Put the frames of a recording into the folder of its source; return them with their new names."""
    names = []
    frames = []
    for frame in recording.frames:
        names.append(frame.image)
        frames.append(Frame(frame.time, f"{source}/{frame.image}"))
    kept.give_frames(names, media)
    return tuple(frames)


def _mark(file: Path, wanted: bool) -> None:
    """Create or remove a marker file."""
    if wanted:
        file.touch()
    else:
        file.unlink(missing_ok=True)


def _date(container: Container) -> datetime | None:
    """Return when a recording was made, if its container says so."""
    for name in ("creation_time", "date"):
        date = iso_date(container.tags.get(name))
        if date:
            return date
    return None


def _subtitles_alone(path: str, subtitles: _Subtitles) -> Recording:
    """Return a recording that cannot be opened: its subtitles can still be searched, and state times."""
    own = subtitles.own
    recording = Recording("", own[-1].end, own, "subtitles", language=tagged(path), also=subtitles.further)
    return replace(recording, title=titled(recording, path))


def _subtitles_of(path: str) -> _Subtitles:
    """Read the subtitle files of a recording."""
    own: tuple[Cue, ...] = ()
    warnings: list[str] = []
    file = companion(path)
    if file is not None:
        own, remarks = _cues_of(file)
        warnings += remarks
    further: list[Cue] = []
    for file in others(path):
        cues, remarks = _cues_of(file)
        further += cues
        warnings += remarks
    return _Subtitles(own, tuple(further), tuple(warnings))


def _cues_of(file: Path) -> tuple[tuple[Cue, ...], Sequence[str]]:
    """Return the cues of a subtitle file, and warnings about it."""
    try:
        found, remarks = transcript(file)
    except SourceError as error:
        return (), [f"its subtitles were not used: {error}"]
    return found[0].cues, [f"of {file.name}: {remark}" for remark in remarks]
