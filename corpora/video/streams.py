"""What a container holds: its streams, its chapters and what it says about itself, read from ffmpeg's own account."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from ragweave.corpora.video.ffmpeg import Ended, failed, reading, run

_DURATION = re.compile(r"^\s*Duration: (\d+):(\d\d):(\d\d(?:\.\d+)?)")
_STREAM = re.compile(
    r"^\s*Stream #0:(\d+)(?:\[[^\]]*\])?(?:\((\w+)\))?: (Video|Audio|Subtitle): ([^\s,]+)(.*)$"
)
_SIZE = re.compile(r"[ ,](\d{1,5})x(\d{1,5})(?=[ ,\[]|$)")
_RATE = re.compile(r", ([\d.]+) fps")
_TAG = re.compile(r"^\s{2,}([A-Za-z_][\w -]{0,40}?)\s*: (.*)$")
_CHAPTER = re.compile(r"^\s*Chapter #0:\d+: start (-?[\d.]+), end (-?[\d.]+)")
_TEXT_SUBTITLES = ("mov_text", "subrip", "srt", "webvtt", "ass", "ssa", "text")
_TOLD = (
    "title",
    "artist",
    "author",
    "album",
    "comment",
    "description",
    "synopsis",
    "show",
    "date",
    "creation_time",
)


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream: its number, whether it is marked to play, its pixels, and its frames a second, 0 if unknown."""

    index: int
    kind: Literal["Video", "Audio", "Subtitle"]
    default: bool
    width: int = 0
    height: int = 0
    rate: float = 0.0


@dataclass(frozen=True, slots=True)
class Container:
    """A container as ffmpeg describes it: seconds that it claims or 0, streams without covers, chapters, tags.

    Of a file that states no length the seconds are `guessed`, from its size.
    """

    duration: float
    streams: tuple[Stream, ...]
    chapters: tuple[tuple[float, float, str], ...] = ()
    tags: dict[str, str] = field(default_factory=dict)
    guessed: bool = False

    def _chosen(self, kind: str) -> Stream | None:
        """Return the stream marked to play, else the largest picture, else the first."""
        found = [s for s in self.streams if s.kind == kind]
        return max(found, key=lambda s: (s.default, s.width * s.height, -s.index), default=None)

    def picture(self) -> Stream | None:
        """Return the picture to look at."""
        return self._chosen("Video")

    def sound(self) -> Stream | None:
        """Return the sound to listen to."""
        return self._chosen("Audio")

    def subtitles(self) -> Stream | None:
        """Return the subtitles to read; pictures of text are none."""
        return self._chosen("Subtitle")


def examine(path: str, demuxer: str) -> Container:
    """Describe a file.

    Raises:
        SourceError: it cannot be opened, or holds neither picture nor sound.
        MissingExtra: the extra `video` is not installed.
    """
    ended = run(reading(path, demuxer))
    found = described(ended.log if "Input #0" in ended.log else "")
    if not any(s.kind in ("Video", "Audio") for s in found.streams):
        raise failed(
            path, ended if "Input #0" not in ended.log else Ended(1, "does not contain any stream", False)
        )
    return found


def described(log: str) -> Container:
    """Read ffmpeg's account of its input."""
    duration = 0.0
    streams: list[Stream] = []
    chapters: list[tuple[float, float, str]] = []
    tags: dict[str, str] = {}
    place = "container"
    for line in log.split("\n"):
        if m := _DURATION.match(line):
            duration = int(m[1]) * 3600 + int(m[2]) * 60 + float(m[3])
        elif m := _CHAPTER.match(line):
            chapters.append((max(0.0, float(m[1])), max(0.0, float(m[2])), ""))
            place = "chapter"
        elif m := _STREAM.match(line):
            place = "stream"
            if "(attached pic)" not in m[5] and (m[3] != "Subtitle" or m[4] in _TEXT_SUBTITLES):
                size = _SIZE.search(m[5])
                width, height = (int(size[1]), int(size[2])) if size else (0, 0)
                kind: Literal["Video", "Audio", "Subtitle"] = m[3]  # type: ignore[assignment]
                rate = _RATE.search(m[5])
                streams.append(
                    Stream(
                        int(m[1]), kind, "(default)" in m[5], width, height, float(rate[1]) if rate else 0.0
                    )
                )
        elif m := _TAG.match(line):
            key, value = m[1].lower(), " ".join(m[2].split())[:2_000]
            if place == "chapter" and key == "title" and chapters and not chapters[-1][2]:
                chapters[-1] = (chapters[-1][0], chapters[-1][1], value)
            elif place == "container" and key in _TOLD and value:
                tags.setdefault(key, value)
    guessed = "Estimating duration from bitrate" in log
    return Container(duration, tuple(streams), tuple(c for c in chapters if c[1] > c[0]), tags, guessed)
