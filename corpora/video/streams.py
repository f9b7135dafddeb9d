"""Read what ffmpeg reports about a container: its streams, chapters and tags."""

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
_LONGEST_TAG = 2_000
"""Characters of a tag that are kept."""
_KEPT_TAGS = (
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

Kind = Literal["Video", "Audio", "Subtitle"]


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream of a container.

    Attributes:
        index: its number in the container.
        kind: what it holds.
        default: whether players choose it by default.
        width: pixels of its picture.
        height: pixels of its picture.
        rate: frames per second, 0 if unknown.
    """

    index: int
    kind: Kind
    default: bool
    width: int = 0
    height: int = 0
    rate: float = 0.0


@dataclass(frozen=True, slots=True)
class Container:
    """A container as ffmpeg describes it.

    Attributes:
        duration: seconds that it states, or 0.
        streams: its streams without cover pictures.
        chapters: (start, end, title) of its chapters.
        tags: its own tags by lower-case names.
        guessed: whether ffmpeg estimated the duration from the size of the file.
    """

    duration: float
    streams: tuple[Stream, ...]
    chapters: tuple[tuple[float, float, str], ...] = ()
    tags: dict[str, str] = field(default_factory=dict)
    guessed: bool = False

    def _chosen(self, kind: Kind) -> Stream | None:
        """Return the default stream, else the one with the largest picture, else the first."""
        found = []
        for stream in self.streams:
            if stream.kind == kind:
                found.append(stream)
        return max(found, key=lambda s: (s.default, s.width * s.height, -s.index), default=None)

    def picture(self) -> Stream | None:
        """Return the picture stream to read."""
        return self._chosen("Video")

    def sound(self) -> Stream | None:
        """Return the sound stream to read."""
        return self._chosen("Audio")

    def subtitles(self) -> Stream | None:
        """Return the subtitles to read; subtitles that are pictures do not count."""
        return self._chosen("Subtitle")


def examine(path: str, demuxer: str) -> Container:
    """Describe a file.

    Raises:
        SourceError: it cannot be opened, or holds neither picture nor sound.
        MissingExtra: the extra `video` is not installed.
    """
    ended = run(reading(path, demuxer))
    if "Input #0" not in ended.log:
        raise failed(path, ended)
    found = described(ended.log)
    if found.picture() is None and found.sound() is None:
        raise failed(path, Ended(1, "does not contain any stream", False))
    return found


def described(log: str) -> Container:
    """Return the container that ffmpeg's messages about its input describe."""
    parser = _LogParser()
    for line in log.split("\n"):
        parser.read(line)
    chapters = []
    for start, end, title in parser.chapters:
        if end > start:
            chapters.append((start, end, title))
    guessed = "Estimating duration from bitrate" in log
    return Container(parser.duration, tuple(parser.streams), tuple(chapters), parser.tags, guessed)


@dataclass
class _LogParser:
    """Collects what the lines of ffmpeg's messages say."""

    duration: float = 0.0
    streams: list[Stream] = field(default_factory=list)
    chapters: list[tuple[float, float, str]] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    section: Literal["container", "chapter", "stream"] = "container"
    """What the tags of the next lines belong to."""

    def read(self, line: str) -> None:
        """Read one line."""
        duration = _DURATION.match(line)
        if duration:
            self.duration = int(duration[1]) * 3600 + int(duration[2]) * 60 + float(duration[3])
            return
        chapter = _CHAPTER.match(line)
        if chapter:
            self.chapters.append((max(0.0, float(chapter[1])), max(0.0, float(chapter[2])), ""))
            self.section = "chapter"
            return
        stream = _STREAM.match(line)
        if stream:
            self._add_stream(stream)
            self.section = "stream"
            return
        tag = _TAG.match(line)
        if tag:
            self._add_tag(tag[1].lower(), " ".join(tag[2].split())[:_LONGEST_TAG])

    def _add_stream(self, match: re.Match[str]) -> None:
        """Add a stream, unless it is a cover picture, or subtitles that are pictures."""
        kind: Kind = match[3]  # type: ignore[assignment]
        codec, details = match[4], match[5]
        if "(attached pic)" in details:
            return
        if kind == "Subtitle" and codec not in _TEXT_SUBTITLES:
            return
        size = _SIZE.search(details)
        width, height = (int(size[1]), int(size[2])) if size else (0, 0)
        found = _RATE.search(details)
        rate = float(found[1]) if found else 0.0
        self.streams.append(Stream(int(match[1]), kind, "(default)" in details, width, height, rate))

    def _add_tag(self, key: str, value: str) -> None:
        """Add a tag of the container, or the title of the last chapter."""
        if self.section == "container":
            if key in _KEPT_TAGS and value:
                self.tags.setdefault(key, value)
        elif self.section == "chapter" and key == "title":
            start, end, title = self.chapters[-1]
            if not title:
                self.chapters[-1] = (start, end, value)
