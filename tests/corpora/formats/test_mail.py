"""Mail: the form of a text that says all of it, invitations, what is sealed, and scans among the files."""

from __future__ import annotations

from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from ragweave.corpora.blocks import Figure, Parsed
from ragweave.corpora.formats.eml import parse
from ragweave.corpora.formats.probe import probe
from ragweave.models.errors import SourceError

Write = Callable[[str, str | bytes], Path]
LONG = (
    "The pier was rebuilt in the year 1998 by the harbour board, and Ada Tamm paid nine thousand crowns for"
    " the planks that came from the north by ship."
)
OTHER = (
    "Dear Boris, sheep and wool are sold by weight at noon on every Friday of that long month of rain, as my"
    " uncle says, who keeps them inland."
)
EVENT = (
    "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nDTSTART:20240307T140000Z\r\nSUMMARY:Pier"
    " inspection\r\nLOCATION:Shed nine\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)


def mail(text: str, page: str = "") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@example.org", "b@example.org", "Pier"
    message.set_content(text)
    if page:
        message.add_alternative(page, subtype="html")
    return message


def said(write: Write, message: EmailMessage) -> str:
    return "\n".join(b.text for b in parse(write("a.eml", message.as_bytes())).blocks[1:])


@pytest.mark.parametrize(
    "stub", ["This message needs an HTML reader.", "\u00a0", "https://x.example/1", LONG[:60]]
)
def test_a_page_that_says_more_than_the_plain_text_is_read(write: Write, stub: str) -> None:
    assert said(write, mail(stub, f"<p>{LONG}</p>")) == LONG


def test_a_plain_text_that_says_what_its_page_does_is_read(write: Write) -> None:
    found = parse(write("a.eml", mail(LONG, f"<h1>News</h1><p>{LONG}</p>").as_bytes()))
    assert [(b.text, b.line > 0) for b in found.blocks[1:]] == [(LONG, True)]


def test_two_forms_that_say_different_things_are_both_read(write: Write) -> None:
    found = said(write, mail(OTHER, f"<p>{LONG}</p>"))
    assert OTHER in found and LONG in found


def test_an_invitation_is_read_once_as_an_event(write: Write) -> None:
    message = mail("You are invited.")
    message.add_alternative(EVENT, subtype="calendar", params={"method": "REQUEST"})
    message.add_attachment(EVENT.encode(), maintype="application", subtype="ics", filename="invite.ics")
    found = said(write, message)
    assert found.count("Pier inspection") == found.count("Shed nine") == 1
    assert "You are invited." in found and "VCALENDAR" not in found and "7 March 2024" in found


@pytest.mark.parametrize(
    ("kind", "head"),
    [
        ('multipart/encrypted; boundary=foo; protocol="application/pgp-encrypted"', "encrypted"),
        ("application/pkcs7-mime; smime-type=enveloped-data", "encrypted"),
        ("application/pkcs7-mime; smime-type=signed-data", "signature"),
    ],
)
def test_a_sealed_mail_says_so(write: Write, kind: str, head: str) -> None:
    body = "--foo\nContent-Type: application/octet-stream\n\nabc\n--foo--\n"
    found = parse(write("a.eml", f"From: a@b.c\nTo: d@e.f\nContent-Type: {kind}\n\n{body}"))
    [warning] = found.warnings
    assert head in warning and "was not read" in warning


def test_an_encrypted_text_is_left_out_with_a_warning(write: Write) -> None:
    text = "Hello.\n-----BEGIN PGP MESSAGE-----\nabc\n-----END PGP MESSAGE-----\nBye."
    found = parse(write("a.eml", mail(text).as_bytes()))
    assert [b.text for b in found.blocks[1:]] == ["Hello.", "Bye."]
    assert found.warnings == ("a text of the mail is encrypted (PGP), and was not read",)


def test_a_saved_page_is_read_without_its_styles_and_frames(write: Write) -> None:
    parts = [
        "Content-Type: text/html\nContent-ID: <a@b>\n\n<h1>Pier</h1><p>The pier is long.</p>",
        "Content-Type: text/css\nContent-Location: cid:x\n\n.secret { color: red }",
        "Content-Type: text/html\nContent-Location: https://ads.example/\n\n<p>Cheap anchors</p>",
    ]
    head = (
        'From: <Saved>\nSubject: Pier\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary="B"\n\n'
    )
    found = parse(write("a.mht", head + "".join(f"--B\n{part}\n" for part in parts) + "--B--\n"))
    assert [b.text for b in found.blocks[1:]] == ["Pier", "The pier is long."]
    assert found.warnings == ("1 frame inside the page was left out",)


def test_a_part_without_a_name_that_is_not_read_is_named(write: Write) -> None:
    message = mail("See.")
    message.add_attachment(bytes(range(256)), maintype="application", subtype="octet-stream")
    assert "attachment 1 was not read" in " ".join(parse(write("a.eml", message.as_bytes())).warnings)


def test_bytes_of_utf_8_in_a_header_are_read(write: Write) -> None:
    found = parse(write("a.eml", "From: a@b.c\nTo: d@e.f\nSubject: Fähre früh\n\nText.\n"))
    assert found.title == "Fähre früh"


class Look:
    """Looks at no page, and finds no picture."""

    def page(self, page: Any, number: int, lines: list[Any]) -> list[Any]:
        return lines

    def figures(self, blocks: Any) -> tuple[Figure, ...]:
        return ()

    def another(self) -> Look:
        return self


def test_pictures_that_are_attached_are_held_for_the_reader_of_pictures(write: Write) -> None:
    message = mail("See the scan.")
    message.add_attachment(b"\x89PNG\r\n\x1a\n\0", maintype="image", subtype="png", filename="scan 1.png")
    path = write("a.eml", message.as_bytes())
    found: Parsed = parse(path, Look())
    [figure] = found.figures
    assert found.held[figure.ref].startswith(b"\x89PNG") and found.blocks[figure.at - 1].text == "scan 1.png"
    assert not found.warnings
    assert "it is a picture" in parse(path).warnings[0]


@pytest.mark.parametrize(
    ("part", "what", "remedy"),
    [
        ("__substg1.0_0037001F", "message of Outlook", "save it as .eml"),
        ("EncryptedPackage", "password", "password"),
    ],
)
def test_a_compound_file_is_named_for_what_it_holds(write: Write, part: str, what: str, remedy: str) -> None:
    body = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100_000 + part.encode("utf-16-le") + b"\0" * 600
    with pytest.raises(SourceError) as found:
        probe(write("a.msg", body))
    assert what in found.value.what and remedy in found.value.remedy and "2007" not in str(found.value)
