"""What a run would take before it begins: hours of film, nodes, calls, tokens and cost of the models that it asks."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ragweave.corpora.chunks import CHUNK_TOKENS
from ragweave.corpora.formats.probe import PICTURE
from ragweave.corpora.images.captions import wanted
from ragweave.corpora.ingest.run import incomplete, roots_of
from ragweave.corpora.ingest.stages import TRANSCRIPT, kind_of
from ragweave.corpora.ingest.walk import walk
from ragweave.corpora.knowledge.facts import Extractor
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.catalog import check_name
from ragweave.corpora.store.files import Known, Stat, known_paths
from ragweave.corpora.store.prepared import params_hash
from ragweave.corpora.store.stores import stores
from ragweave.corpora.video.cues import read_transcript
from ragweave.corpora.video.estimate import EACH, FILM, LISTENED, LOOKING, hearing, spoken_in, wall, words_from
from ragweave.corpora.video.intake import Intake, demuxer_of, installed
from ragweave.corpora.video.items import CLIP_SECONDS, ROUGH
from ragweave.corpora.video.sidecars import subtitles_of_others
from ragweave.corpora.video.streams import examine
from ragweave.models.caption import Captioner
from ragweave.models.chat_reply import IMAGE_TOKENS, tokens_of
from ragweave.models.errors import LibraryNotFound, RagweaveError
from ragweave.models.settings import model_settings

_LISTENED_IN_ALL, _LEAST = 3600.0, 30.0
"""Seconds of sound that are searched for speech, of all recordings together and of each at least."""
CHUNKS = 14
"""Chunks that are read for entities in an hour of speech (130 hours of podcasts are 1,835, docs/video.md)."""
_CONTEXT_TOKENS, _REPLY_TOKENS = 500, 120
_FACTS_TOKENS = 400
"""Tokens that entities and relations of one chunk take, a guess; its prompt takes as many beside the chunk."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One video or recording: `seconds` as its container claims, `speech` what gives its words, say "subtitles".

    `spoken` are the seconds of speech in it, where an ASR engine is to hear them, as parts of it tell.
    """

    path: str
    seconds: float
    picture: bool
    speech: str
    spoken: float = 0.0


@dataclass(frozen=True, slots=True)
class ModelCalls:
    """Calls of one model, and their tokens in and out; the cost is None where the model has no rate."""

    what: Literal["captions", "entities"]
    model: str
    calls: int
    tokens: int
    cost: float | None

    @property
    def told(self) -> str:
        """All of it in words."""
        price = "its rate is not set (RAGWEAVE_RATES)" if self.cost is None else f"{self.cost:.2f} at your rates"
        return f"{self.what.capitalize()} by {self.model}: {self.calls:,} calls, about {self.tokens:,} tokens, {price}"


@dataclass(slots=True)
class Estimate:
    """What a run would take: `seconds` for the recordings on free cores, `pictures` asked about.

    Pictures inside texts are not among these. `asked` is what models are asked; transcripts that stand alone are
    texts, and `spoken` their tokens.
    """

    texts: int = 0
    text_bytes: int = 0
    spoken: int = 0
    pictures: int = 0
    recordings: list[Recorded] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    unchanged: int = 0
    seconds: float = 0.0
    asked: list[ModelCalls] = field(default_factory=list)

    @property
    def hours(self) -> float:
        """Hours of film and sound."""
        return sum(r.seconds for r in self.recordings) / 3600


def estimate(
    paths: Sequence[Path], library: str, captioner: Captioner | None = None, extractor: Extractor | None = None
) -> Estimate:
    """Say what `index` would take for the same arguments; nothing is stored.

    Raises:
        RagweaveError: the settings cannot be used, or nothing lies at a path.
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
    files = [str(path) for path in walk(roots_of(paths) if paths else []).files]
    beside = subtitles_of_others(files, lambda p: bool(demuxer_of(p))) if installed() else {}
    found = Estimate()
    if name and captioner:
        found.pictures = len(wanted(held, held.catalog.row(name), captioner.name))
    kinds = {p: demuxer_of(p) for p in files if p not in beside}
    most = max(_LEAST, min(LISTENED, _LISTENED_IN_ALL / max(1, sum(map(bool, kinds.values())))))
    for path, how in kinds.items():
        if _is_known(path, known, intake, bool(how)):
            found.unchanged += 1
        elif how:
            _record(found, path, how, most)
        else:
            found.texts += 1
            kind = _kind(path)
            found.text_bytes += Path(path).stat().st_size
            found.pictures += bool(captioner) and kind == PICTURE
            found.spoken += _spoken(path) if extractor and kind == TRANSCRIPT else 0
    clips = _take(found)
    if captioner:
        given = (clips * ROUGH + found.pictures) * IMAGE_TOKENS + (clips + found.pictures) * _CONTEXT_TOKENS
        found.asked.append(_asked("captions", captioner.name, clips + found.pictures, given, _REPLY_TOKENS))
    if extractor:
        heard = sum(r.seconds for r in found.recordings if r.speech) * CHUNKS / 3600
        written = found.spoken + (clips * _REPLY_TOKENS if captioner else 0)
        chunks = math.ceil(heard + written / CHUNK_TOKENS)
        given = chunks * (CHUNK_TOKENS + _FACTS_TOKENS)
        found.asked.append(_asked("entities", extractor.name, chunks, given, _FACTS_TOKENS))
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


def _kind(path: str) -> str:
    try:
        return kind_of(Path(path))
    except RagweaveError:
        return ""


def _spoken(path: str) -> int:
    try:
        return sum(tokens_of(cue.text) for recording in read_transcript(Path(path)) for cue in recording.cues)
    except RagweaveError:
        return 0


def _record(found: Estimate, path: str, how: str, most: float) -> None:
    try:
        container = examine(path, how)
    except RagweaveError as error:
        found.unreadable.append((path, str(error)))
        return
    speech = words_from(path, container)
    spoken = spoken_in(path, how, container, most) if speech not in ("", "subtitles") else 0.0
    found.recordings.append(Recorded(path, container.duration, container.picture() is not None, speech, spoken))


def _take(found: Estimate) -> int:
    """Add up the seconds that recordings take; return their clips with a picture."""
    clips = 0
    for r in found.recordings:
        # Looking and hearing go side by side: the slower of the two sets the pace, or what both take of the cores.
        looking, heard = LOOKING * r.seconds if r.picture else 0.0, hearing(r.speech, r.seconds, r.spoken)
        taken = heard + (FILM * r.seconds if r.picture else 0.0)
        found.seconds += wall(r.speech, looking, heard, taken) + EACH
        clips += math.ceil(r.seconds / CLIP_SECONDS) if r.picture else 0
    return clips


def _asked(what: Literal["captions", "entities"], name: str, calls: int, given: int, reply: int) -> ModelCalls:
    rate = model_settings().rate_table().get(name.partition(" at ")[0])
    cost = None if rate is None else (given * rate[0] + calls * reply * rate[1]) / 1e6
    return ModelCalls(what, name, calls, given + calls * reply, cost)
