"""Find the subtitle files of a recording: same folder, same name, perhaps with a language tag."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

SUBTITLES = (".vtt", ".srt")
FURTHER = 2
"""Further languages that are searched: a disc may hold twenty."""

_TAG = re.compile(r"[a-z]{2,8}(?:[-_][a-z0-9]{2,8})*(?:\.[a-z]{2,8})?", re.I)
"""`zh`, `zh-CN`, `pt-BR`, `eng`, `forced`, `en.forced`."""
_PARTIAL = re.compile(r"\b(?:forced|signs|songs)\b", re.I)
"""Tags of subtitles that leave out speech in the language of the film."""
_LANGUAGES = (
    "en eng|de ger deu|fr fre fra|es spa|it ita|pt por|nl dut nld|ja jpn|ko kor|zh chi zho chs cht|ru"
    " rus|pl pol|sv swe|da dan|no nor|fi fin|cs cze ces|tr tur|ar ara|el gre ell"
)
"""For each language its code of two letters, then its codes of three letters."""


def _two_letter_codes() -> dict[str, str]:
    """Return the code of two letters for each code of three letters."""
    codes = {}
    for row in _LANGUAGES.split("|"):
        two, *longer = row.split()
        for code in longer:
            codes[code] = two
    return codes


_CODES = _two_letter_codes()


def companions(path: str) -> list[tuple[Path, str]]:
    """Return the subtitle files of a recording, each with its tag; none if the folder cannot be listed.

    Files without a tag come first, then complete ones in English, then the others by name. Partial ones are
    last.
    """
    base = Path(path)
    found = []
    try:
        for file in base.parent.iterdir():
            if file.suffix.lower() not in SUBTITLES or not file.is_file():
                continue
            tag = _tag_of(file, base.stem)
            if tag is not None:
                found.append((file, tag))
    except OSError:
        return []
    return sorted(found, key=_rank)


def _rank(row: tuple[Path, str]) -> tuple[bool, bool, bool, str]:
    """Return the sort key of a subtitle file with its tag."""
    file, tag = row
    is_partial = bool(_PARTIAL.search(tag))
    is_english = tag.lower().startswith("en")
    return is_partial, bool(tag), not is_english, file.name


def companion(path: str) -> Path | None:
    """Return the subtitles that are read with a recording, or None."""
    found = companions(path)
    return found[0][0] if found else None


def others(path: str) -> list[Path]:
    """Return complete subtitles of a recording in at most `FURTHER` further languages, one file of each.

    Two files of one language are two versions of the same words.
    """
    known = {tagged(path) or "en"}
    out = []
    for file, tag in companions(path)[1:]:
        language = language_of(tag)
        if not language or language in known or _PARTIAL.search(tag):
            continue
        known.add(language)
        out.append(file)
    return out[:FURTHER]


def tagged(path: str) -> str:
    """Return the language in the tag of a recording's subtitles, "" if they have no tag."""
    found = companions(path)
    return language_of(found[0][1]) if found else ""


def language_of(tag: str) -> str:
    """Return the ISO 639-1 code of a tag, or "".

    >>> [language_of(t) for t in ("zh-CN", "eng", "en.forced", "forced", "")]
    ['zh', 'en', 'en', '', '']
    """
    first = re.split(r"[-_.]", tag.lower())[0]
    if first in _CODES:
        return _CODES[first]
    return first if len(first) == 2 else ""


def _tag_of(subtitles: Path, stem: str) -> str | None:
    """Return the tag of the subtitles of a recording.

    It is "" if they have no tag, and None if they belong to another recording.
    """
    if subtitles.stem == stem:
        return ""
    tag = subtitles.stem.removeprefix(f"{stem}.")
    if tag == subtitles.stem or not _TAG.fullmatch(tag):
        return None
    return tag


def subtitles_of_others(paths: list[str], is_recording: Callable[[str], bool]) -> dict[str, str]:
    """Return the subtitle files that belong to a recording among `paths`, with the name of that recording."""
    subtitles = []
    by_base = {}
    for path in paths:
        if path.lower().endswith(SUBTITLES):
            subtitles.append(path)
        else:
            by_base[str(Path(path).with_suffix(""))] = path
    found = {}
    for path in subtitles:
        recording = _recording_of(path, by_base, is_recording)
        if recording is not None:
            found[path] = Path(recording).name
    return found


def _recording_of(path: str, by_base: dict[str, str], is_recording: Callable[[str], bool]) -> str | None:
    """Return the recording of a subtitle file, or None.

    Args:
        path: the subtitle file.
        by_base: other files by their paths without a suffix.
        is_recording: whether a file is a recording.
    """
    base = Path(path).with_suffix("")
    # A tag has at most two parts.
    for candidate in (base, base.with_suffix(""), base.with_suffix("").with_suffix("")):
        other = by_base.get(str(candidate))
        if other is None or not is_recording(other):
            continue
        if _tag_of(Path(path), Path(other).stem) is not None:
            return other
    return None
