"""Subtitles that lie beside a recording: of the same name, perhaps with a tag for the language before the ending."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

SUBTITLES = (".vtt", ".srt")
_TAG = re.compile(r"[a-z]{2,8}(?:[-_][a-z0-9]{2,8})*(?:\.[a-z]{2,8})?", re.I)
"""`zh`, `zh-CN`, `pt-BR`, `eng`, `forced`, `en.forced`."""
_CODES = {
    code: two
    for row in (
        "en eng|de ger deu|fr fre fra|es spa|it ita|pt por|nl dut nld|ja jpn|ko kor|zh chi zho chs cht|ru"
        " rus|pl pol|sv swe|da dan|no nor|fi fin|cs cze ces|tr tur|ar ara|el gre ell"
    ).split("|")
    for two, *codes in [row.split()]
    for code in codes
}
"""Codes of three letters that tags have, as those of two."""
FURTHER = 2
"""Further languages that are searched: a disc may hold twenty."""
_PARTLY = re.compile(r"\b(?:forced|signs|songs)\b", re.I)
"""Tags of subtitles that leave out what is said in the language of the film."""


def companions(path: str) -> list[tuple[Path, str]]:
    """Return the subtitles beside a recording, each with its tag; none where the folder cannot be listed.

    Those without a tag come first, then whole ones in English, then the others by name.
    """
    base = Path(path)
    try:
        able = [p for p in base.parent.iterdir() if p.suffix.lower() in SUBTITLES and p.is_file()]
    except OSError:
        return []
    found = [(p, tag) for p in able if (tag := _tag_of(p, base.stem)) is not None]

    def order(row: tuple[Path, str]) -> tuple[bool, bool, bool, str]:
        return bool(_PARTLY.search(row[1])), bool(row[1]), not row[1].lower().startswith("en"), row[0].name

    return sorted(found, key=order)


def companion(path: str) -> Path | None:
    """Return the subtitles that are read with a recording, or None."""
    return next((p for p, _ in companions(path)), None)


def others(path: str) -> list[Path]:
    """Return the whole subtitles beside a recording in further languages, one of each, `FURTHER` at most.

    Two files of one language are two versions of the same words.
    """
    known = {tagged(path) or "en"}
    out = []
    for p, tag in companions(path)[1:]:
        if (language := language_of(tag)) and language not in known and not _PARTLY.search(tag):
            known.add(language)
            out.append(p)
    return out[:FURTHER]


def tagged(path: str) -> str:
    """Return the language that the tag of a recording's subtitles states, "" where they have none."""
    return next((language_of(tag) for _, tag in companions(path)), "")


def language_of(tag: str) -> str:
    """Return the ISO 639-1 code of a tag, or "".

    >>> [language_of(t) for t in ("zh-CN", "eng", "en.forced", "forced", "")]
    ['zh', 'en', 'en', '', '']
    """
    first = re.split(r"[-_.]", tag.lower())[0]
    return _CODES.get(first, first if len(first) == 2 else "")


def _tag_of(subtitles: Path, stem: str) -> str | None:
    """Return the tag of subtitles of a recording, "" where they have none, and None where they are of another."""
    if subtitles.stem == stem:
        return ""
    tag = subtitles.stem.removeprefix(f"{stem}.")
    return tag if tag != subtitles.stem and _TAG.fullmatch(tag) else None


def subtitles_of_others(paths: list[str], is_recording: Callable[[str], bool]) -> dict[str, str]:
    """Return the subtitle files that belong to a recording beside them, and the name of that recording."""
    named = {str(Path(p).with_suffix("")): p for p in paths if not p.lower().endswith(SUBTITLES)}
    found = {}
    for path in (p for p in paths if p.lower().endswith(SUBTITLES)):
        stem = Path(path).with_suffix("")
        for candidate in (stem, stem.with_suffix(""), stem.with_suffix("").with_suffix("")):
            other = named.get(str(candidate))
            if (
                other is not None
                and is_recording(other)
                and _tag_of(Path(path), Path(other).stem) is not None
            ):
                found[path] = Path(other).name
                break
    return found
