"""Perceiving a recording: one pass over its picture, one over its sound, side by side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from ragweave.corpora.meta import guess_language
from ragweave.corpora.video.job import Stopped, Undecoded, Work
from ragweave.corpora.video.listen import Listened, Listener
from ragweave.corpora.video.look import Looker, Seen
from ragweave.corpora.video.recording import Recording

_TOLD = ("artist", "author", "album", "show", "description", "synopsis", "comment")
"""What of a container's own words says something beside its title."""


def perceive(work: Work) -> tuple[Recording, list[str]]:
    """Return everything known about a recording but its captions, and what could not be perceived, in words.

    One pass over its picture and one over its sound run side by side.

    Raises:
        SourceError: neither its picture nor its sound can be decoded, or the disk is full.
        RagweaveError: the ASR engine failed for good.
        Stopped: the run was stopped.
    """

    def look() -> Seen:
        with work.lanes.looking:
            return Looker(work).look()

    def listen() -> Listened:
        with work.lanes.listening:
            return Listener(work).listen()

    with ThreadPoolExecutor(2, thread_name_prefix="ragweave-perceive") as pool:
        looking, listening = pool.submit(look), pool.submit(listen)
        problems = [error for error in (looking.exception(), listening.exception()) if error is not None]
    broken = [error for error in problems if not isinstance(error, Undecoded)]
    if broken:
        raise next((e for e in broken if isinstance(e, Stopped)), broken[0])
    container = work.job.container
    if len(problems) == 2 or (problems and not (container.picture() and container.sound())):
        raise problems[0].__cause__ or problems[0]
    seen = Seen() if looking.exception() else looking.result()
    heard = Listened() if listening.exception() else listening.result()
    told = [c.text for c in heard.cues] or [s.text for s in seen.shown]
    recording = Recording(
        title=work.job.title,
        duration=max(seen.duration, heard.duration, *(c.end for c in heard.cues), 0.0),
        cues=heard.cues,
        speech=heard.speech,
        shown=seen.shown,
        frames=seen.frames,
        quiet=heard.quiet,
        chapters=container.chapters,
        language=heard.language or guess_language(" ".join(told[:400])),
        about="\n\n".join(dict.fromkeys(t for k in _TOLD if len(t := container.tags.get(k, "")) > 2)),
    )
    return recording, [*map(str, problems), *_remarks(work)]


def _remarks(work: Work) -> list[str]:
    container = work.job.container
    found = []
    for kind, chosen, verb in (("Video", container.picture(), "looked at"), ("Audio", container.sound(), "heard")):
        if container.count(kind) > 1 and chosen is not None:
            named = "pictures" if kind == "Video" else "sound tracks"
            found.append(f"it has {container.count(kind)} {named}; number {chosen.index} was {verb}")
    if container.sound() and not (work.job.written or container.subtitles()) and work.senses.asr is None:
        found.append("nobody listened: RAGWEAVE_ASR is off, or the extra `video` is not installed")
    return found
