"""What is written upon the pages of a PDF: fields of forms, and comments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ragweave.corpora.formats.pdf import parse
from ragweave.tests.support.items import paragraphs

Make = Callable[..., Any]


def annotated(data: bytes, *notes: str) -> bytes:
    """Add annotations to the only page of a PDF, whose table of objects is built anew by who opens it."""
    return data.replace(
        b"/MediaBox", f"/Annots [{' '.join(f'<< /Type /Annot {n} >>' for n in notes)}] /MediaBox".encode()
    )


def test_fields_of_a_form_and_comments_are_read_behind_the_text_above_them(
    write: Make, make_pdf: Make, set_lines: Make
) -> None:
    data = annotated(
        make_pdf([set_lines(["The lease of bay 4 runs until June."], 700)]),
        "/Subtype /Widget /FT /Tx /T (owner) /V (Harald Lind) /Rect [72 600 300 620]",
        "/Subtype /Widget /FT /Tx /T (f1[0].x[3]) /V (410 euros) /Rect [72 560 300 580]",
        "/Subtype /Widget /FT /Btn /T (paid) /V /Yes /Rect [72 540 80 548]",
        "/Subtype /Text /T (Ilse) /Contents (The roof leaks over bay 4.) /Rect [72 500 90 520]",
        "/Subtype /Text /F 2 /Contents (Nobody sees this.) /Rect [72 500 90 520]",
        "/Subtype /Link /Contents (a link) /Rect [72 500 90 520]",
    )
    parsed = parse(write("a.pdf", data))
    assert [b.text for b in parsed.blocks] == [
        "The lease of bay 4 runs until June.",
        "owner: Harald Lind",
        "410 euros",
        "Comment by Ilse: The roof leaks over bay 4.",
    ]
    assert parsed.blocks[1].page == 1 and parsed.blocks[1].bbox == (72.0, 600.0, 300.0, 620.0)
    assert parsed.hidden == ("Comment: Nobody sees this.",)


def test_a_field_that_is_shown_at_several_places_has_the_name_and_value_of_its_parent(
    write: Make, make_pdf: Make, set_lines: Make
) -> None:
    widgets = "/Subtype /Widget /Parent 8 0 R /Rect [72 600 300 620]", "/Subtype /Widget /Parent 9 0 R /Rect [0 0 9 9]"
    data = annotated(make_pdf([set_lines(["An application."], 700)]), *widgets)
    fields = b"8 0 obj << /FT /Tx /T (Name) /V (Greta Holm) /Kids [10 0 R] >> endobj\n"
    fields += b"9 0 obj << /FT /Btn /T (paid) /V /Yes /Kids [11 0 R] >> endobj\n"
    for n, widget in enumerate(widgets, 10):
        note = f"<< /Type /Annot {widget} >>"
        fields += f"{n} 0 obj {note} endobj\n".encode()
        data = data.replace(note.encode(), f"{n} 0 R".encode())
    data = data.replace(b"/Type /Catalog", b"/Type /Catalog /AcroForm << /Fields [8 0 R 9 0 R] >>")
    parsed = parse(write("a.pdf", data.replace(b"xref\n", fields + b"xref\n", 1)))
    assert [b.text for b in parsed.blocks] == ["An application.", "Name: Greta Holm"]


def test_a_comment_makes_no_text_of_a_scan(write: Make, make_pdf: Make) -> None:
    note = "/Subtype /Text /T (Bo) /Contents (ok) /Rect [72 500 90 520]"
    parsed = parse(write("a.pdf", annotated(make_pdf([[]]), note)))
    assert [b.text for b in parsed.blocks] == ["Comment by Bo: ok"]
    assert parsed.warnings == ("page 1 has no text (a scan?)",)


def test_a_comment_stands_under_the_heading_that_it_is_on(write: Make, make_pdf: Make, set_lines: Make) -> None:
    page = [(72, 740, 16, "F2", "Rent"), *set_lines(["The rent of the flat is 500."], 700)]
    page += [(72, 640, 16, "F2", "Pets"), *set_lines(["Dogs are allowed here."], 600)]
    data = annotated(
        make_pdf([page]),
        "/Subtype /Highlight /T (Bo) /Contents (Is 550 now.) /Rect [72 697 200 712]",
        "/Subtype /Text /Contents (Of which year?) /Rect [560 660 580 680]",
        "/Subtype /Text /Contents (Cats too.) /Rect [560 600 580 620]",
        "/Subtype /Text /Contents (Draft) /Rect [560 800 580 820]",
    )
    parsed = parse(write("a.pdf", data))
    found = [(i.heading, i.text) for i in paragraphs("s", "a.pdf", parsed)]
    assert found == [
        ((), "Comment: Draft"),
        (("Rent",), "The rent of the flat is 500.\n\nComment by Bo: Is 550 now.\n\nComment: Of which year?"),
        (("Pets",), "Dogs are allowed here.\n\nComment: Cats too."),
    ]
