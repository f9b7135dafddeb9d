"""Perceive a recording: one pass over its picture and one over its sound, in parallel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from ragweave.corpora.meta import guess_language
from ragweave.corpora.video.job import JobStopped, Work
from ragweave.corpora.video.listen import Listened, lasts, listen
from ragweave.corpora.video.look import RecordingSeen, look
from ragweave.corpora.video.perceived import Later
from ragweave.corpora.video.recording import Cue, Recording, last_end
from ragweave.models.errors import SourceError
from ragweave.models.text import clock

_ABOUT = ("artist", "author", "album", "show", "description", "synopsis", "comment")
"""Tags of a container that describe the recording, apart from its title."""
_SLACK = 2.0
"""Seconds by which lengths may differ: the usual interval of two frames."""
_SHORT = 0.02
"""Share of the stated length that may be missing."""
_SAMPLE = 400
"""Utterances, or texts on the screen, from which the language is guessed."""


def perceive(work: Work) -> tuple[Recording, list[str]]:
    """Return everything known about a recording except its captions, and sentences about what is missing.

    Raises:
        SourceError: neither its picture nor its sound can be decoded, or the disk is full.
        RagweaveError: the ASR engine failed permanently.
        JobStopped: the run was stopped.
    """
    seen, heard, problems = _both_passes(work)
    decoded = _decoded(work, seen, heard)
    cues, misfit = fitting(heard.cues, decoded)
    texts = [c.text for c in heard.cues]
    if not texts:
        texts = [s.text for s in seen.shown]
    recording = Recording(
        title=work.title,
        duration=decoded or last_end(cues),
        cues=cues,
        speech=heard.speech,
        heard_by=heard.by,
        shown=seen.shown,
        frames=seen.frames,
        chapters=work.container.chapters,
        language=heard.language or guess_language(" ".join(texts[:_SAMPLE])),
        about=_about(work.container.tags),
    )
    remarks = [f"{what}: {error}" for what, error in problems.items()]
    remarks += _length_remarks(work, decoded)
    remarks += misfit
    remarks += _stream_remarks(work, heard)
    return recording, remarks


def _both_passes(work: Work) -> tuple[RecordingSeen, Listened, dict[str, BaseException]]:
    """Return what was seen and heard, and the errors of a stream that cannot be decoded.

    Raises an error if no stream can be decoded, or if the error is not about the recording.
    """

    def looked() -> RecordingSeen:
        with work.looking:
            return look(work)

    def listened() -> Listened:
        with work.listening:
            return listen(work)

    with ThreadPoolExecutor(2, thread_name_prefix="ragweave-perceive") as pool:
        looking, listening = pool.submit(looked), pool.submit(listened)
        look_error, listen_error = looking.exception(), listening.exception()
    problems = {}
    if look_error is not None:
        problems["the picture was not looked at"] = look_error
    if listen_error is not None:
        problems["the sound was not heard"] = listen_error
    _raise_fatal(work, list(problems.values()))
    seen = RecordingSeen() if look_error else looking.result()
    heard = Listened() if listen_error else listening.result()
    return seen, heard, problems


def _raise_fatal(work: Work, errors: Sequence[BaseException]) -> None:
    """Raise an error that ends the job; if one of two streams cannot be decoded, the other is enough."""
    for error in errors:
        if isinstance(error, JobStopped):
            raise error
    for error in errors:
        if isinstance(error, Later) or not isinstance(error, SourceError):
            raise error
    both_streams = work.container.picture() and work.container.sound()
    if len(errors) == 2 or (errors and not both_streams):
        raise errors[0]


def _about(tags: dict[str, str]) -> str:
    """Return what the tags of a container say about the recording, one paragraph each."""
    paragraphs: dict[str, None] = {}
    for name in _ABOUT:
        text = tags.get(name, "")
        if len(text) > 2:
            paragraphs[text] = None
    return "\n\n".join(paragraphs)


def _length_remarks(work: Work, decoded: float) -> list[str]:
    """Return a sentence if clearly less could be decoded than the container states."""
    if decoded <= 0 or not _falls_short(work, decoded):
        return []
    claimed = clock(work.container.duration)
    return [f"it states a length of {claimed}, and {clock(decoded)} could be decoded: it may be broken off"]


def _stream_remarks(work: Work, heard: Listened) -> list[str]:
    """Return sentences about streams that were not read."""
    container = work.container
    remarks = []
    picture, sound = container.picture(), container.sound()
    kinds = Counter([stream.kind for stream in container.streams])
    pictures, tracks = kinds["Video"], kinds["Audio"]
    if picture is not None and pictures > 1:
        remarks.append(f"it has {pictures} pictures; number {picture.index} was looked at")
    # With subtitles, no sound track was heard.
    if sound is not None and tracks > 1 and heard.speech != "subtitles":
        remarks.append(f"it has {tracks} sound tracks; number {sound.index} was heard")
    has_subtitles = bool(work.written or container.subtitles())
    if sound is not None and not has_subtitles and work.asr is None:
        remarks.append(f"what is said in it was not heard: {work.unheard}")
    return remarks


def fitting(cues: Sequence[Cue], duration: float) -> tuple[tuple[Cue, ...], list[str]]:
    """Return the cues that lie within a recording, and a remark if others do not.

    Cues that begin after the end are left out, because no picture or sound belongs to them. The last words
    may be a little late. If the duration is 0, all cues stay.
    """
    if not duration:
        return tuple(cues), []
    within = []
    for cue in cues:
        if cue.start < duration + _SLACK:
            within.append(replace(cue, start=min(cue.start, duration), end=min(cue.end, duration)))
    late = len(cues) - len(within)
    if not late:
        return tuple(within), []
    last = clock(last_end(cues))
    remark = (
        f"the subtitles run to {last}, past the end of the recording at {clock(duration)}, and do not fit it:"
        f" {late} of {len(cues)} were left out"
    )
    return tuple(within), [remark]


def _decoded(work: Work, seen: RecordingSeen, heard: Listened) -> float:
    """Return the seconds that could be decoded.

    Sound that was not heard is decoded for its length only if the picture may be shorter.
    """
    decoded = max(seen.duration, heard.duration)
    if heard.duration:
        return decoded
    too_short = 0 < decoded and _falls_short(work, decoded)
    if last_end(heard.cues) > decoded or too_short:
        decoded = max(decoded, lasts(work))
    return decoded


def _falls_short(work: Work, decoded: float) -> bool:
    """Return whether clearly less could be decoded than the container states."""
    claimed = 0.0 if work.container.guessed else work.container.duration
    return claimed - decoded > max(_SLACK, _SHORT * claimed)
