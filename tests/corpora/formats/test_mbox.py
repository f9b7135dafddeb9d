"""Mailboxes: every mail under its subject, and what merely begins with From."""

from __future__ import annotations

from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import pytest

from ragweave.corpora.formats import mbox, parse
from ragweave.corpora.formats.probe import probe
from ragweave.tests.support.items import documents, paragraphs

Write = Callable[[str, str | bytes], Path]


def mailbox(*mails: EmailMessage) -> bytes:
    lines = (b"From x@y.z Mon Jan  1 10:00:00 2024\n", b"From 17700@xxx Thu Feb 01 10:00:00 +0000 2024\n")
    return b"".join(lines[n % 2] + bytes(made) + b"\n" for n, made in enumerate(mails))


def mail(subject: str, text: str) -> EmailMessage:
    made = EmailMessage()
    made["Subject"], made["From"], made["To"] = subject, "Anna <anna@home.example>", "me@home.example"
    made.set_content(text)
    return made


@pytest.mark.parametrize("name", ["box.mbox", "Inbox", "mails.txt"])
def test_the_mails_of_a_mailbox_stand_under_their_subjects(write: Write, name: str) -> None:
    second = mail("Rücksendung", "Die Lampe geht zurück.\n\n>From now on it is dark.\n")
    second.add_attachment(
        "name,age\nWendelin,44\n".encode("utf-8-sig"), maintype="text", subtype="csv", filename="t.csv"
    )
    path = write(name, mailbox(mail("Rent", "The rent is 55."), second))
    assert probe(path) == "mbox"
    parsed = parse(path, "mbox")
    rent, lamp, table = paragraphs("s", str(path), parsed)
    assert rent.heading == ("Rent",) and "The rent is 55." in rent.text and rent.locator["line"] == 1
    assert lamp.heading == ("Rücksendung",) and "\n\nFrom now on it is dark." in lamp.text
    assert table.heading == ("Rücksendung", "t.csv") and table.text == "name | age\nWendelin | 44"
    lines = path.read_bytes().split(b"\n")
    heads = [b for b in parsed.blocks if b.kind == "heading" and b.line]
    assert all(lines[b.line - 1].startswith(b"From ") for b in heads) and len(heads) == 2
    assert parsed.warnings == ()


def test_a_line_of_a_mail_is_cited_where_it_stands_in_the_mailbox(write: Write) -> None:
    path = write("box.mbox", mailbox(mail("Rent", "The rent is 55."), mail("Rent", "Dear all,\n\nThe rent is 60.")))
    lines = path.read_text().split("\n")
    for text in ("The rent is 55.", "The rent is 60."):
        item = next(i for i in paragraphs("s", str(path), parse(path, "mbox")) if text in i.text)
        at = item.text.index(text)
        assert lines[item.locate(at, at + len(text))["line"] - 1] == text


def test_every_mail_is_of_the_day_when_it_was_sent(write: Write) -> None:
    old, new, bare = (mail("Rent", f"The rent is {n}.") for n in (900, 950, 980))
    old["Date"], new["Date"] = "Mon, 3 Mar 2025 09:00:00 -0000", "Tue, 4 Mar 2026 09:00:00 +0100"
    of_old = mail("The flat in May 2019", "It is dry.")
    of_old["Date"] = "Mon, 3 Feb 2025 09:00:00 +0000"
    path = write("box.mbox", mailbox(old, new, of_old, bare))
    parsed = parse(path, "mbox")
    found = {i.text.split("\n")[-1].strip(): i.date for i in paragraphs("s", str(path), parsed)}
    days = {text: when.date().isoformat() for text, when in found.items() if when}
    assert days == {
        "The rent is 900.": "2025-03-03",
        "The rent is 950.": "2026-03-04",
        "It is dry.": "2025-02-03",
        "The rent is 980.": "2024-02-01",  # as the line says that begins it
    }
    assert parsed.date is not None and parsed.date.date().isoformat() == "2026-03-04"
    # Each mail is a document, though two have one subject.
    assert [i.date and i.date.month for i in documents("s", str(path), parsed)] == [3, 3, 2, 2]


def test_a_mail_that_says_no_date_is_not_of_the_day_of_another(write: Write) -> None:
    new, bare = mail("Rent", "The rent is 900."), mail("Rent", "The rent is 850.")
    new["Date"] = "Mon, 3 Mar 2025 09:00:00 -0000"
    box = mailbox(new, bare).replace(b"Thu Feb 01", b"Do Feber 01")
    parsed = parse(write("box.mbox", box), "mbox")
    for found in (paragraphs, documents):
        assert [i.date and i.date.year for i in found("s", "box.mbox", parsed)] == [2025, None]
    assert parsed.date is not None and parsed.date.year == 2025


def test_windows_line_ends_part_mails_as_well(write: Write) -> None:
    path = write("box.mbox", mailbox(mail("One", "First."), mail("Two", "Second.")).replace(b"\n", b"\r\n"))
    assert probe(path) == "mbox"
    assert [b.text for b in parse(path, "mbox").blocks if b.kind == "heading"] == ["One", "Two"]


def test_headings_inside_a_mail_stand_below_its_subject(write: Write) -> None:
    made = mail("Tides", "x")
    made.set_content("<html><body><h1>Spring</h1><p>The tide is high.</p></body></html>", subtype="html")
    path = write("box.mbox", mailbox(made))
    assert paragraphs("s", str(path), parse(path, "mbox"))[-1].heading == ("Tides", "Spring")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("From Anna in the year 2024\nNote: bring milk.\n", "text"),
        ("From 10:30 on we are at home.\n", "text"),
        ("From: a@b.c\nTo: b@c.d\nSubject: x\n\nwords\n", "eml"),
        ("no mail at all", "text"),
    ],
)
def test_what_merely_begins_with_from_is_no_mailbox(write: Write, text: str, kind: str) -> None:
    assert probe(write("a.mbox", text)) == kind


def test_mailboxes_are_bounded_and_what_was_left_out_is_told(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mbox, "MAX_MAILS", 40)
    made = mail("Photo", "Look.")
    made.add_attachment(b"\x89PNG\r\n\x1a\n" + bytes(50), maintype="image", subtype="png", filename="p.png")
    parsed = parse(write("box.mbox", mailbox(*[made] * 50)), "mbox")
    assert sum(b.kind == "heading" for b in parsed.blocks) == 40
    assert parsed.warnings[0] == "only the first 40 of 50 mails were read"
    assert parsed.warnings[-1] == "21 more parts and attachments were not read" and len(parsed.warnings) == 21
