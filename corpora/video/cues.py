"""Read transcripts: WebVTT, SubRip, and JSON or JSON Lines with times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ragweave.corpora.decode import read_text
from ragweave.corpora.meta import guess_language
from ragweave.corpora.video.json_transcript import is_json_transcript, is_jsonl_transcript, read_json
from ragweave.corpora.video.recording import Cue, Recording, last_end
from ragweave.corpora.video.sidecars import SUBTITLES
from ragweave.corpora.video.subtitles import ARROW, STAMP, read_cues
from ragweave.corpora.video.subtitles import timed_cues as timed_cues
from ragweave.corpora.video.title import titled
from ragweave.models.errors import SourceError

_SRT = re.compile(rf"\s*(?:\d+[ \t]*\n)?[ \t]*{STAMP}[ \t]*-->[ \t]*{STAMP}(?:[ \t]+\w+:\S+)*[ \t]*(?:\n|\Z)")
"""A first cue. Only settings may follow its times; a list of appointments has words after them."""
_CUE = re.compile(rf"^[ \t]*{STAMP}[ \t]*{ARROW}[ \t]*{STAMP}", re.M)
_LINES = (".jsonl", ".ndjson")
_NAMED = 10
"""Unreadable lines that a warning names; the others are counted."""
_SAMPLE_CUES = 400
"""Cues from which the language is guessed."""


def is_transcript(head: str, suffix: str) -> bool:
    """Return whether a text that begins with `head` is a transcript.

    JSON needs a file name with its own suffix. Credits and remarks may precede the first cue if the suffix is
    that of subtitles.
    """
    head = _unix_lines(head)
    suffix = suffix.lower()
    if _SRT.match(head):
        return True
    webvtt = head.lstrip().startswith("WEBVTT")
    named = suffix in SUBTITLES
    if webvtt and named:
        return True
    if (webvtt or named) and _CUE.search(head):
        return True
    if suffix in _LINES:
        return is_jsonl_transcript(head)
    return suffix == ".json" and is_json_transcript(head)


def read_transcript(path: Path) -> list[Recording]:
    """Return the recordings of a transcript without its warnings; see `transcript`."""
    return transcript(path)[0]


def transcript(path: Path) -> tuple[list[Recording], tuple[str, ...]]:
    """Return the recordings of a transcript, and warnings about what could not be read.

    Subtitles have one recording; a file of JSON rows may have several.

    Raises:
        SourceError: it holds no utterance with a time.
    """
    text = read_text(path).lstrip("\ufeff")
    if path.suffix.lower() in (*_LINES, ".json"):
        groups, unread = read_json(text, path.stem)
        found = [_recording(name, cues) for name, cues in groups]
        warnings = _line_warnings(unread)
    else:
        cues, remarks = read_cues(text)
        recording = _recording("", cues)
        found = [replace(recording, title=titled(recording, path.name))]
        warnings = list(remarks)
    recordings = []
    for recording in found:
        if recording.cues:
            recordings.append(recording)
    if not recordings:
        raise SourceError(
            f"{path.name} holds no utterance with a time", "check that it is a whole VTT, SRT or JSONL"
        )
    return recordings, tuple(warnings)


def _line_warnings(unread: Sequence[int]) -> list[str]:
    """Return a warning for each of the first unreadable lines, and one for the number of the others."""
    warnings = [f"line {number} is not JSON" for number in unread[:_NAMED]]
    if len(unread) > _NAMED:
        warnings.append(f"{len(unread) - _NAMED} more lines are not JSON")
    return warnings


def _unix_lines(text: str) -> str:
    """Return a text with Unix line ends; subtitles also come with those of Windows and old Macs."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _recording(title: str, cues: Sequence[Cue]) -> Recording:
    sample = [cue.text for cue in cues[:_SAMPLE_CUES]]
    language = guess_language(" ".join(sample))
    return Recording(title, last_end(cues), tuple(cues), "transcript", language=language)
