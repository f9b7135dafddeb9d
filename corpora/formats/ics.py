"""Read calendars (iCalendar) and contacts (vCard), each entry under its name."""

from __future__ import annotations

import quopri
import re
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

from ragweave.corpora.blocks import Block, Lines, Parsed
from ragweave.corpora.decode import decode, read_text
from ragweave.models.calendar import ENGLISH

_LABELS = {
    "DUE": "Due",
    "COMPLETED": "Completed",
    "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendee",
    "STATUS": "Status",
    "CATEGORIES": "Categories",
    "URL": "Url",
    "NOTE": "Note",
    "DESCRIPTION": "Description",
    "NICKNAME": "Nickname",
    "TITLE": "Title",
    "ROLE": "Role",
    "ANNIVERSARY": "Anniversary",
    "DTSTART": "Start",
    "DTEND": "End",
    "RRULE": "Repeats",
    "LOCATION": "Place",
    "ORG": "Organization",
    "TEL": "Phone",
    "EMAIL": "E-mail",
    "ADR": "Address",
    "BDAY": "Birthday",
}
"""Fields that are read, and how they are called; what is for programs (ids, stamps, pictures) is left out."""
_DATES = ("DTSTART", "DTEND", "DUE", "COMPLETED", "BDAY", "ANNIVERSARY")
_ENTRIES = ("VEVENT", "VTODO", "VJOURNAL", "VCARD")
_REPEATS = {
    "FREQ": "",
    "BYDAY": "on",
    "COUNT": "times",
    **{day[:2].upper(): day.capitalize() for day in ENGLISH[12:]},
}
_FIELD = re.compile(r"(?:[\w-]+\.)?([\w-]+)((?:;(?:\"[^\"]*\"|[^\":;])*)*):(.*)", re.S)
_STATED = re.compile(r"\b(?:CN|TZID)=\"?([^\";:]+)", re.I)
_KEPT = re.compile(r"\b(?:home|work|cell|fax)\b", re.I)
_WHEN = re.compile(r"(?<!\d)(\d{4}|-)-?(\d\d)-?(\d\d)(?:T(\d\d):?(\d\d)(?::?\d\d)?(Z)?\S*)?")


def parse(path: Path) -> Parsed:
    """Read the entries of a calendar or of a file of contacts; alarms inside an entry are left out."""
    return read(read_text(path), path)


def read(text: str, path: Path) -> Parsed:
    """Read the text of a calendar from a file of that path."""
    calendar = _Calendar(path)
    for line, match in _fields(text.replace("\r\n", "\n")):
        calendar.take(line, match)
    blocks = [block for block in calendar.blocks if block.text]
    return Parsed(calendar.title, tuple(blocks), listed=True)


class _Calendar:
    """Collects the entries of a calendar."""

    def __init__(self, path: Path) -> None:
        self.title = ""
        self.blocks: list[Block] = []
        self._path = path
        self._inside = [""]
        """The kinds of the open components, outermost first."""
        self._heading = ""
        self._begun = 0
        self._lines = Lines()

    def take(self, line: int, match: re.Match[str]) -> None:
        """Take a field."""
        name, given, value = match[1].upper(), match[2], match[3]
        if "QUOTED-PRINTABLE" in given.upper():
            value = decode(quopri.decodestring(value.encode("ascii", "replace")), self._path)
        if name == "BEGIN":
            self._begin(value.upper(), line)
        elif name == "END" and len(self._inside) > 1:
            if self._inside.pop() in _ENTRIES:
                self.blocks += [Block(self._heading, "heading", 1, self._begun), self._lines.block("list")]
        elif name == "X-WR-CALNAME":
            self.title = _unescaped(value)
        elif self._inside[-1] in _ENTRIES and name in ("SUMMARY", "FN"):
            self._heading = " ".join(_unescaped(value).split()) or self._heading
        elif self._inside[-1] in _ENTRIES and name in _LABELS:
            self._add(name, given, value, line)

    def _begin(self, kind: str, line: int) -> None:
        self._inside.append(kind)
        if kind in _ENTRIES:
            self._heading, self._begun, self._lines = "Untitled", line, Lines()

    def _add(self, name: str, given: str, value: str, line: int) -> None:
        first, *more = _shown(name, given, value).strip().split("\n")
        if not first:
            return
        label = _LABELS[name]
        kinds = _KEPT.findall(given)
        if kinds:
            label += f" ({', '.join(kinds).lower()})"
        for part in (f"{label}: {first}", *more):
            self._lines.add(part.strip(), line)


def _fields(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield each field with its line; it continues in lines that begin with a space, or after a soft end."""
    held, first = "", 1
    for number, line in enumerate([*text.split("\n"), ""], 1):
        is_soft = held.endswith("=") and "QUOTED-PRINTABLE" in held.upper()
        if is_soft:
            held += f"\n{line}"
        elif line.startswith((" ", "\t")):
            held += line[1:]
        else:
            match = _FIELD.match(held)
            if match:
                yield first, match
            held, first = line, number


def _unescaped(value: str) -> str:
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] in "nN" else m[1], value)


def _shown(name: str, given: str, value: str) -> str:
    """Return a value as text; the end of whole days is stored as the day after the last."""
    stated = _STATED.search(given)
    extra = stated[1] if stated else ""
    when = _WHEN.match(value) if name in _DATES else None
    if when:
        return _when(when, extra, name == "DTEND" and not when[4])
    if name == "RRULE":
        rule = re.sub("[A-Z]{2,}", lambda m: _REPEATS.get(m[0], m[0].lower()), value.replace(",", ", "))
        return _WHEN.sub(lambda m: _when(m, ""), rule).replace("=", " ").replace(";", ", ")
    if name in ("ADR", "ORG"):
        parts = filter(None, re.split(r"(?<!\\);", value))
        return ", ".join(map(_unescaped, parts)).replace("\n", ", ")
    value = re.sub(r"^(?:mailto|tel):", "", _unescaped(value), flags=re.I)
    return f"{extra} <{value}>" if extra not in ("", value) else value


def _when(match: re.Match[str], zone: str, before: bool = False) -> str:
    """Return a day in words, or the day before it, with its time and zone; a birthday may have no year."""
    year, hour, minute, is_utc = match[1], match[4], match[5], match[6]
    try:
        day = date(2000 if year == "-" else int(year), int(match[2]), int(match[3])) - timedelta(before)
    except ValueError:
        return match[0]
    text = f"{day.day} {ENGLISH[day.month - 1].capitalize()}"
    if year != "-":
        text = f"{ENGLISH[11 + day.isoweekday()].capitalize()} {text} {day.year}"
    if not hour:
        return text
    text += f", {hour}:{minute}"
    if is_utc:
        return f"{text} UTC"
    return f"{text} ({zone})" if zone else text
