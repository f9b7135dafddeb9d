"""What a run would take before it begins: seconds, bytes, and the calls, tokens and cost of the models that are set."""

from __future__ import annotations

import math
import mmap
import re
import threading
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ragweave.corpora.formats.probe import PICTURE, probe
from ragweave.corpora.images.captions import wanted
from ragweave.corpora.images.look import PACKAGES
from ragweave.corpora.ingest.run import incomplete
from ragweave.corpora.ingest.walk import walk
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.catalog import check_name
from ragweave.corpora.store.files import Known, Stat, known_paths
from ragweave.corpora.store.prepared import params_hash
from ragweave.corpora.store.stores import stores
from ragweave.corpora.video.intake import Intake, companion, demuxer_of, installed, subtitles_of_others
from ragweave.corpora.video.items import CLIP_SECONDS
from ragweave.corpora.video.streams import Container, examine
from ragweave.models.asr import asr
from ragweave.models.caption import Captioner
from ragweave.models.chat_reply import IMAGE_TOKENS
from ragweave.models.errors import LibraryNotFound, RagweaveError, SourceError
from ragweave.models.settings import model_settings

_LINK = re.compile(rb"!\[|<img\b|<image\b", re.I)
_PDF = re.compile(rb"/Subtype\s*/Image\b")
_MEMBER = re.compile(r"(?:media|slides|images?)/[^/]+\.(?:png|jpe?g|webp|gif|tiff?|bmp|xml)", re.I)
_OTHERS = re.compile(r"/(?:media|images?)/[^/]+\.xml|_rels/")
LOOKING = 0.09
"""Seconds per second of film on two quiet cores: decoding 0.03, reading five frames of a clip 0.06."""
HEARING = {"pocketsphinx": 0.14, "whisper": 0.5, "endpoint": 0.03}
"""Seconds per second of speech; docs/video.md says where the first was measured, the others are guesses."""
_TEXT = 400_000
"""Bytes of text files read, embedded and stored in a second."""
_BYTES = 20_000
"""Bytes of frames, text and vectors per second of film that moves all the time; slides take a tenth."""
_SOUND_BYTES = 300
"""Bytes of text and vectors per second of sound."""
_CONTEXT_TOKENS, _REPLY_TOKENS = 500, 120
_FRAMES = 5


@dataclass(frozen=True, slots=True)
class Recorded:
    """One video or recording: `seconds` as its container claims, `speech` what gives its words, say "subtitles"."""

    path: str
    seconds: float
    picture: bool
    speech: str


@dataclass(slots=True)
class Estimate:
    """What a run would take: `seconds` on two cores, `bytes` stored and `pictures` asked about at most.

    `tokens` are those in and out of `calls` of the vision `model`; `cost` is None where it has no rate.
    """

    texts: int = 0
    text_bytes: int = 0
    pictures: int = 0
    recordings: list[Recorded] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    unchanged: int = 0
    seconds: float = 0.0
    bytes: int = 0
    model: str = ""
    calls: int = 0
    tokens: int = 0
    cost: float | None = None

    @property
    def hours(self) -> float:
        """Hours of film and sound."""
        return sum(r.seconds for r in self.recordings) / 3600


def estimate(paths: Sequence[Path], library: str, captioner: Captioner | None = None) -> Estimate:
    """Say what `index` would take for the same arguments; nothing is stored.

    Raises:
        RagweaveError: the settings cannot be used.
    """
    settings, held = corpora_settings(), stores()
    try:
        row = held.catalog.library(check_name(library))
        again = incomplete(held.catalog, row.id, settings.ocr_seconds)
        known = {path: k for path, k in known_paths(held.catalog, row.id).items() if k.source not in again}
        name = row.id
    except LibraryNotFound:
        known, name = {}, ""
    intake = Intake(settings, name, 1, captioner, threading.Event())
    files = [str(path) for path in walk([Path(p).expanduser().absolute() for p in paths]).files]
    beside = subtitles_of_others(files, lambda p: bool(demuxer_of(p))) if installed() else {}
    found = Estimate(model=captioner.name if captioner else "")
    if name and captioner:
        found.pictures = len(wanted(held, held.catalog.row(name), captioner.name))
    for path in (p for p in files if p not in beside):
        how = demuxer_of(path)
        if _is_known(path, known, intake, bool(how)):
            found.unchanged += 1
        elif how:
            _record(found, path, how)
        else:
            found.texts += 1
            found.text_bytes += Path(path).stat().st_size
            found.pictures += pictures_in(Path(path)) if captioner else 0
    _add_up(found)
    return found


def _is_known(path: str, known: dict[str, Known], intake: Intake, recording: bool) -> bool:
    before = known.get(path)
    if before is None:
        return False
    params = intake.params(path, params_hash()) if recording else params_hash()
    try:
        return before.params_hash == params and before.status != "failed" and before.stat.same(Stat.of(path))
    except OSError:
        return False


def _record(found: Estimate, path: str, how: str) -> None:
    try:
        container = examine(path, how)
    except RagweaveError as error:
        found.unreadable.append((path, str(error)))
        return
    speech = _speech(path, container)
    found.recordings.append(Recorded(path, container.duration, container.picture() is not None, speech))


def _speech(path: str, container: Container) -> str:
    if companion(path) or container.subtitles():
        return "subtitles"
    if container.sound() is None:
        return ""
    listens = asr()
    return listens.label if listens is not None else ""


def _add_up(found: Estimate) -> None:
    found.seconds = found.text_bytes / _TEXT
    found.bytes = found.text_bytes * 3
    clips = 0
    for r in found.recordings:
        looking = LOOKING * r.seconds if r.picture else 0.0
        # Looking and hearing go side by side: the slower of the two sets the pace.
        found.seconds += max(looking, HEARING.get(r.speech, 0.0) * r.seconds) + 1.0
        found.bytes += int(r.seconds * (_BYTES if r.picture else 0) + r.seconds * _SOUND_BYTES)
        clips += math.ceil(r.seconds / CLIP_SECONDS) if r.picture else 0
    if found.model:
        given = clips * (_FRAMES * IMAGE_TOKENS + _CONTEXT_TOKENS)
        given += found.pictures * (IMAGE_TOKENS + _CONTEXT_TOKENS)
        found.calls = clips + found.pictures
        said = found.calls * _REPLY_TOKENS
        found.tokens = given + said
        rate = model_settings().rate_table().get(found.model.partition(" at ")[0])
        if rate is not None:
            found.cost = (given * rate[0] + said * rate[1]) / 1e6


def pictures_in(path: Path) -> int:
    """Return the most pictures that reading a file would give, icons and masks among them; 0 where it cannot be read.

    Of a TIFF it is one, however many pages it has.
    """
    try:
        kind = probe(path)
        if kind == PICTURE:
            return 1
        if kind in PACKAGES:
            with zipfile.ZipFile(path) as package:
                return sum(bool(_MEMBER.search(n)) and not _OTHERS.search(n) for n in package.namelist())
        found = _PDF if kind == "pdf" else _LINK if kind in ("markdown", "html", "rst") else None
        if found is None:
            return 0
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return sum(1 for _ in found.finditer(data))
    except (SourceError, OSError, ValueError, zipfile.BadZipFile):
        return 0
