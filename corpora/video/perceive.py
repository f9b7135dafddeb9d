"""Perceiving a recording: one pass over its picture, one over its sound, side by side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from ragweave.corpora.meta import guess_language
from ragweave.corpora.video.job import Stopped, Undecoded, Work
from ragweave.corpora.video.listen import Listened, Listener
from ragweave.corpora.video.look import Looker, Seen
from ragweave.corpora.video.recording import Recording
from ragweave.corpora.video.streams import Container


class Perceiver:
    """Perceives one recording.

    Attributes:
        warnings: what could not be perceived, in words, once `run` has returned.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self.warnings: list[str] = []

    def run(self) -> Recording:
        """Return everything known about the recording but its captions.

        Raises:
            SourceError: neither its picture nor its sound can be decoded, or the disk is full.
            RagweaveError: the ASR engine failed for good.
            Stopped: the run was stopped.
        """
        with ThreadPoolExecutor(2, thread_name_prefix="ragweave-perceive") as pool:
            looking, listening = pool.submit(self._look), pool.submit(self._listen)
            problems = [error for error in (looking.exception(), listening.exception()) if error is not None]
        broken = [error for error in problems if not isinstance(error, Undecoded)]
        if broken:
            raise next((e for e in broken if isinstance(e, Stopped)), broken[0])
        container = self._work.job.container
        if len(problems) == 2 or (problems and not (container.picture() and container.sound())):
            raise problems[0].__cause__ or problems[0]
        self.warnings += [str(error) for error in problems]
        seen = Seen() if looking.exception() else looking.result()
        heard = Listened() if listening.exception() else listening.result()
        self.warnings += self._remarks()
        told = [c.text for c in heard.cues] or [s.text for s in seen.shown]
        return Recording(
            title=self._work.job.title,
            duration=max(seen.duration, heard.duration, *(c.end for c in heard.cues), 0.0),
            cues=heard.cues,
            speech=heard.speech,
            shown=seen.shown,
            frames=seen.frames,
            quiet=heard.quiet,
            chapters=self._work.job.container.chapters,
            language=heard.language or guess_language(" ".join(told[:400])),
            about=about(self._work.job.container),
        )

    def _look(self) -> Seen:
        with self._work.lanes.looking:
            return Looker(self._work).look()

    def _listen(self) -> Listened:
        with self._work.lanes.listening:
            return Listener(self._work).listen()

    def _remarks(self) -> list[str]:
        container = self._work.job.container
        found = []
        for kind, chosen, verb in (("Video", container.picture(), "looked at"), ("Audio", container.sound(), "heard")):
            if container.count(kind) > 1 and chosen is not None:
                named = "pictures" if kind == "Video" else "sound tracks"
                found.append(f"it has {container.count(kind)} {named}; number {chosen.index} was {verb}")
        written = self._work.job.written or container.subtitles()
        if container.sound() and not written and self._work.senses.asr is None:
            found.append("nobody listened: RAGWEAVE_ASR is off, or the extra `video` is not installed")
        return found


_TOLD = ("artist", "author", "album", "show", "description", "synopsis", "comment")


def about(container: Container) -> str:
    """Return what the container says about itself beside its title, one sentence each."""
    told = [
        container.tags.get(k, "") for k in ("artist", "author", "album", "show", "description", "synopsis", "comment")
    ]
    return "\n\n".join(dict.fromkeys(t for t in told if len(t) > 2))
