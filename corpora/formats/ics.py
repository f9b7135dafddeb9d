"""Calendars (iCalendar) and contacts (vCard): each entry under its name, one `label: value` line per field."""

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
    k.upper(): k.capitalize() for k in "due completed organizer attendee status categories url note".split()
} | {
    **{k.upper(): k.capitalize() for k in "description nickname title role anniversary".split()},
    **{"DTSTART": "Start", "DTEND": "End", "RRULE": "Repeats", "LOCATION": "Place", "ORG": "Organization"},
    **{"TEL": "Phone", "EMAIL": "E-mail", "ADR": "Address", "BDAY": "Birthday"},
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
    """Read the entries of a calendar, or of a file of contacts; what lies inside an entry, an alarm, is left out."""
    return read(read_text(path), path)


def read(text: str, path: Path) -> Parsed:
    """Read the text of a calendar, which lies in a file of that path."""
    title, heading, begun, lines = "", "", 0, Lines()
    blocks, inside = list[Block](), [""]
    for line, m in _fields(text.replace("\r\n", "\n")):
        name, given, value = m[1].upper(), m[2], m[3]
        if "QUOTED-PRINTABLE" in given.upper():
            value = decode(quopri.decodestring(value.encode("ascii", "replace")), path)
        if name == "BEGIN":
            inside.append(value.upper())
            if inside[-1] in _ENTRIES:
                heading, begun, lines = "Untitled", line, Lines()
        elif name == "END" and len(inside) > 1:
            if inside.pop() in _ENTRIES:
                blocks += [Block(heading, "heading", 1, begun), lines.block("list")]
        elif name == "X-WR-CALNAME":
            title = _unescaped(value)
        elif inside[-1] in _ENTRIES and name in ("SUMMARY", "FN"):
            heading = " ".join(_unescaped(value).split()) or heading
        elif inside[-1] in _ENTRIES and name in _LABELS:
            of = ", ".join(k.lower() for k in _KEPT.findall(given))
            first, *more = _shown(name, given, value).strip().split("\n")
            for part in [f"{_LABELS[name]}{f' ({of})' if of else ''}: {first}", *more] if first else ():
                lines.add(part.strip(), line)
    return Parsed(title, tuple(b for b in blocks if b.text), listed=True)


def _fields(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield each field with its line; one goes on in lines that begin with a space, or behind a soft end."""
    held, first = "", 1
    for number, line in enumerate([*text.split("\n"), ""], 1):
        soft = held.endswith("=") and "QUOTED-PRINTABLE" in held.upper()
        if soft or line.startswith((" ", "\t")):
            held += f"\n{line}" if soft else line[1:]
        else:
            if m := _FIELD.match(held):
                yield first, m
            held, first = line, number


def _unescaped(value: str) -> str:
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] in "nN" else m[1], value)


def _shown(name: str, given: str, value: str) -> str:
    """Return a value as it reads; the end of whole days is written as the day after the last."""
    stated = m[1] if (m := _STATED.search(given)) else ""
    if name in _DATES and (m := _WHEN.match(value)):
        return _when(m, stated, name == "DTEND" and not m[4])
    if name == "RRULE":
        said = re.sub("[A-Z]{2,}", lambda m: _REPEATS.get(m[0], m[0].lower()), value.replace(",", ", "))
        return _WHEN.sub(lambda m: _when(m, ""), said).replace("=", " ").replace(";", ", ")
    if name in ("ADR", "ORG"):
        return ", ".join(_unescaped(p).replace("\n", ", ") for p in re.split(r"(?<!\\);", value) if p)
    value = re.sub(r"^(?:mailto|tel):", "", _unescaped(value), flags=re.I)
    return f"{stated} <{value}>" if stated not in ("", value) else value


def _when(m: re.Match[str], zone: str, before: bool = False) -> str:
    """Return a day in words, or the day before it, with its time and zone; a birthday may have no year."""
    try:
        day = date(2000 if m[1] == "-" else int(m[1]), int(m[2]), int(m[3])) - timedelta(before)
    except ValueError:
        return m[0]
    said = f"{day.day} {ENGLISH[day.month - 1].capitalize()}"
    said = said if m[1] == "-" else f"{ENGLISH[11 + day.isoweekday()].capitalize()} {said} {day.year}"
    return f"{said}, {m[4]}:{m[5]}{' UTC' if m[6] else f' ({zone})' if zone else ''}" if m[4] else said
