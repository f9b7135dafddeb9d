"""Perceiving a recording: one pass over its picture, one over its sound, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from ragweave.corpora.meta import guess_language
from ragweave.corpora.video.job import JobStopped, Work
from ragweave.corpora.video.listen import Listened, lasts, listen
from ragweave.corpora.video.look import RecordingSeen, look
from ragweave.corpora.video.perceived import Later
from ragweave.corpora.video.recording import Cue, Recording
from ragweave.models.errors import SourceError
from ragweave.models.text import clock

_TOLD = ("artist", "author", "album", "show", "description", "synopsis", "comment")
"""What of a container's own words says something beside its title."""
_SLACK = 2.0
"""Seconds by which lengths may differ: two frames lie as far apart."""
_SHORT = 0.02
"""Share of the stated length that may be missing."""


def perceive(work: Work) -> tuple[Recording, list[str]]:
    """Return everything known about a recording but its captions, and what could not be perceived, in words.

    Raises:
        SourceError: neither its picture nor its sound can be decoded, or the disk is full.
        RagweaveError: the ASR engine failed for good.
        Stopped: the run was stopped.
    """

    def looked() -> RecordingSeen:
        with work.looking:
            return look(work)

    def listened() -> Listened:
        with work.listening:
            return listen(work)

    with ThreadPoolExecutor(2, thread_name_prefix="ragweave-perceive") as pool:
        looking, listening = pool.submit(looked), pool.submit(listened)
        blind, deaf = looking.exception(), listening.exception()
    failed = {"the picture was not looked at": blind, "the sound was not heard": deaf}
    problems = {what: error for what, error in failed.items() if error is not None}
    # Where one stream cannot be decoded, the other may do.
    broken = [e for e in problems.values() if isinstance(e, Later) or not isinstance(e, SourceError)]
    if broken:
        raise next((e for e in broken if isinstance(e, JobStopped)), broken[0])
    container = work.container
    if len(problems) == 2 or (problems and not (container.picture() and container.sound())):
        raise next(iter(problems.values()))
    seen = RecordingSeen() if blind else looking.result()
    heard = Listened() if deaf else listening.result()
    told = [c.text for c in heard.cues] or [s.text for s in seen.shown]
    decoded = _decoded(work, seen, heard)
    cues, misfit = fitting(heard.cues, decoded)
    recording = Recording(
        title=work.title,
        duration=decoded or max((c.end for c in cues), default=0.0),
        cues=cues,
        speech=heard.speech,
        heard_by=heard.by,
        shown=seen.shown,
        frames=seen.frames,
        chapters=container.chapters,
        language=heard.language or guess_language(" ".join(told[:400])),
        about="\n\n".join(dict.fromkeys(t for k in _TOLD if len(t := container.tags.get(k, "")) > 2)),
    )
    remarks = [f"{what}: {error}" for what, error in problems.items()]
    if 0 < decoded and _falls_short(work, decoded):
        claimed = clock(container.duration)
        remarks.append(
            f"it states a length of {claimed}, and {clock(decoded)} could be decoded: it may be broken off"
        )
    remarks += misfit
    # Where subtitles say what is said, nobody listened to any track.
    sound = container.sound() if heard.speech != "subtitles" else None
    for kind, chosen, named, verb in (
        ("Video", container.picture(), "pictures", "looked at"),
        ("Audio", sound, "sound tracks", "heard"),
    ):
        if chosen is not None and (count := sum(s.kind == kind for s in container.streams)) > 1:
            remarks.append(f"it has {count} {named}; number {chosen.index} was {verb}")
    if container.sound() and not (work.written or container.subtitles()) and work.asr is None:
        remarks.append(f"what is said in it was not heard: {work.unheard}")
    return recording, remarks


def fitting(cues: Sequence[Cue], duration: float) -> tuple[tuple[Cue, ...], list[str]]:
    """Return the cues that lie within a recording, and a remark where others do not; all of them where it is 0 long.

    What begins behind the end is left out, for nothing can be shown of those seconds; the last words may be a
    little late.
    """
    within = [c for c in cues if not duration or c.start < duration + _SLACK]
    remarks = []
    if late := len(cues) - len(within):
        until, ends = clock(max(c.end for c in cues)), clock(duration)
        remarks.append(
            f"the subtitles go on to {until}, behind the end of the recording at {ends}, and do not fit it: "
            f"{late} of {len(cues)} were left out"
        )
    if duration:
        within = [replace(c, start=min(c.start, duration), end=min(c.end, duration)) for c in within]
    return tuple(within), remarks


def _decoded(work: Work, seen: RecordingSeen, heard: Listened) -> float:
    """Return the seconds that could be decoded; sound that nobody listened to only where the picture may be shorter."""
    decoded = max(seen.duration, heard.duration)
    ends = max((c.end for c in heard.cues), default=0.0)
    if not heard.duration and (ends > decoded or (0 < decoded and _falls_short(work, decoded))):
        decoded = max(decoded, lasts(work))
    return decoded


def _falls_short(work: Work, decoded: float) -> bool:
    """Tell whether clearly less could be decoded than the container states."""
    claimed = 0.0 if work.container.guessed else work.container.duration
    return claimed - decoded > max(_SLACK, _SHORT * claimed)
