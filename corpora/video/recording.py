"""Define a recording and its parts: utterances, text on the screen, frames, chapters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Literal

Speech = Literal["", "subtitles", "transcript", "whisper", "endpoint"]
"""Where the words come from; "" if there is no speech, or if the sound was not heard."""


@dataclass(frozen=True, slots=True)
class Cue:
    """One utterance between two seconds of the recording, on one line.

    Attributes:
        start: second at which it begins.
        end: second at which it ends.
        text: its words.
        speaker: name of the speaker, "" if unknown.
        confidence: confidence of the speech recognition from 0 to 1; 1 for text that people wrote.
        words: (start, end, word) of each word, if known.
        sure: confidence of each word, if known.
    """

    start: float
    end: float
    text: str
    speaker: str = ""
    confidence: float = 1.0
    words: tuple[tuple[float, float, str], ...] = ()
    sure: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """Text on the screen, from the first second at which it was seen to the last."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture at a second, by its file; pictures that look alike share one file."""

    time: float
    image: str


@dataclass(frozen=True, slots=True)
class Recording:
    """Everything known about one recording before it is cut into items; parts are in order of time.

    Attributes:
        title: its title.
        duration: seconds.
        cues: its speech.
        speech: where the cues come from.
        shown: text on the screen.
        frames: pictures at a fixed interval.
        chapters: (start, end, title) from the container.
        captions: caption of each clip, by number.
        also: its speech in further languages.
        language: ISO 639-1 code, "" if unknown.
        about: what the container says about the recording.
        heard_by: engine and model that transcribed the speech.
        date: when it was made.
    """

    title: str
    duration: float
    cues: tuple[Cue, ...] = ()
    speech: Speech = ""
    shown: tuple[Shown, ...] = ()
    frames: tuple[Frame, ...] = ()
    chapters: tuple[tuple[float, float, str], ...] = ()
    captions: tuple[str, ...] = ()
    also: tuple[Cue, ...] = ()
    language: str = ""
    about: str = ""
    heard_by: str = ""
    date: datetime | None = None

    def shown_in(self, span: tuple[float, float]) -> list[Shown]:
        """Return the text on the screen in a stretch of time."""
        start, end = span
        found = []
        for shown in self.shown:
            if shown.start < end and shown.end >= start:
                found.append(shown)
        return found


def last_end(cues: Iterable[Cue]) -> float:
    """Return the second at which the last utterance ends, 0 if there is none."""
    latest = 0.0
    for cue in cues:
        latest = max(latest, cue.end)
    return latest


def called(path: str) -> str:
    """Return the words of a file name, as the title of a recording that states none.

    >>> called("agent327_barbershop.mp4")
    'agent 327 barbershop'
    """
    stem = PurePath(path).stem
    return " ".join(_RUN_ON.sub(" ", stem.replace("_", " ")).split()) or stem


_RUN_ON = re.compile(r"(?<=[^\W\d]{3})(?=\d)")
"""The place between a word and a number without a space."""
