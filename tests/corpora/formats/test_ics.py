"""Calendars and contacts: a label line for each field, under the name of the entry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragweave.corpora.formats import parse
from ragweave.corpora.formats.probe import probe

Write = Callable[[str, str | bytes], Path]

CALENDAR = """BEGIN:VCALENDAR\r
X-WR-CALNAME:Harbour office\r
BEGIN:VTIMEZONE\r
BEGIN:STANDARD\r
DTSTART:19701025T030000\r
END:STANDARD\r
END:VTIMEZONE\r
BEGIN:VEVENT\r
UID:1@example.org\r
DTSTART;TZID=Europe/Berlin:20250303T103000\r
DTEND:20250303T103000Z\r
RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;UNTIL=20250630\r
SUMMARY:Boiler service\\, yearly\r
LOCATION:Pier 4\\; upstairs\r
DESCRIPTION:Bring the key.\\nAsk for M\r
 ara.\r
ORGANIZER;CN="Mara Lind":mailto:mara@example.org\r
BEGIN:VALARM\r
DESCRIPTION:Reminder\r
END:VALARM\r
END:VEVENT\r
BEGIN:VEVENT\r
DTSTART;VALUE=DATE:20250801\r
DTEND;VALUE=DATE:20250816\r
SUMMARY:Closed\r
END:VEVENT\r
END:VCALENDAR\r
"""
SERVICE = """Start: Monday 3 March 2025, 10:30 (Europe/Berlin)
End: Monday 3 March 2025, 10:30 UTC
Repeats: weekly, interval 2, on Monday, Wednesday, until Monday 30 June 2025
Place: Pier 4; upstairs
Description: Bring the key.
Ask for Mara.
Organizer: Mara Lind <mara@example.org>"""
CONTACTS = """BEGIN:VCARD
FN:Mara Lind
N:Lind;Mara;;;
ORG:Harbour office;Boats
item1.TEL;TYPE=WORK,VOICE:04012345
ADR;TYPE=HOME:;;Pier 4;Hamburg;;20457;Germany
BDAY:--0412
PHOTO;ENCODING=b:AAAA
 BBBB
END:VCARD
BEGIN:VCARD
VERSION:2.1
FN;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:J=F6rg B=E4r
NOTE;ENCODING=QUOTED-PRINTABLE:keeps the =
keys
END:VCARD
"""
MARA = """Organization: Harbour office, Boats
Phone (work): 04012345
Address (home): Pier 4, Hamburg, 20457, Germany
Birthday: 12 April"""


def test_each_event_stands_under_its_summary_with_days_in_words(write: Write) -> None:
    path = write("a.ics", CALENDAR)
    parsed = parse(path, probe(path))
    assert parsed.title == "Harbour office"
    assert [(b.kind, b.text) for b in parsed.blocks] == [
        ("heading", "Boiler service, yearly"),
        ("list", SERVICE),
        ("heading", "Closed"),
        ("list", "Start: Friday 1 August 2025\nEnd: Friday 15 August 2025"),
    ]
    assert [s.line for s in parsed.blocks[1].spans] == [10, 11, 12, 14, 15, 15, 17]


def test_each_contact_stands_under_its_name_with_what_people_read_of_it(write: Write) -> None:
    path = write("a.txt", CONTACTS)
    assert probe(path) == "ics"
    assert [b.text for b in parse(path, "ics").blocks] == ["Mara Lind", MARA, "Jörg Bär", "Note: keeps the keys"]


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("DTSTART:20259903T103000", "Start: 20259903T103000"),
        ("DTSTART:soon", "Start: soon"),
        ("RRULE:FREQ=ODD;COUNT=3", "Repeats: odd, times 3"),
        ("DESCRIPTION;ENCODING=QUOTED-PRINTABLE;CHARSET=none:=FF", "Description: ÿ"),
        ("TEL:", ""),
        ("no field", ""),
    ],
)
def test_a_field_that_cannot_be_read_stays_as_it_is_written(write: Write, field: str, line: str) -> None:
    path = write("a.ics", f"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Tide\n{field}\nEND:VEVENT\nEND:VCALENDAR\n")
    assert [b.text for b in parse(path, "ics").blocks] == ["Tide", *filter(None, [line])]


def test_what_is_only_called_a_calendar_is_read_as_text(write: Write) -> None:
    assert probe(write("a.ics", "Closed in August.\n")) == "text"
