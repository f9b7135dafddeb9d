"""Buttons and lists of a form in a PDF: what is ticked stands at its label, what is chosen is named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ragweave.corpora.formats.pdf import parse
from ragweave.tests.support.pdfs import Run, pdf_bytes, stream, width

Make = Callable[..., Any]


def form(texts: Sequence[Run], fields: Sequence[str]) -> bytes:
    """Write a page with the fields of a form."""
    held = "".join(
        f"{n} 0 obj << /Type /Annot /Subtype /Widget {f} >> endobj\n" for n, f in enumerate(fields, 40)
    )
    named = " ".join(f"{n} 0 R" for n in range(40, 40 + len(fields)))
    changes = (
        ("/MediaBox", f"/Annots [{named}] /MediaBox"),
        ("/Type /Catalog", f"/Type /Catalog /AcroForm << /Fields [{named}] >>"),
        ("\nxref\n", f"\n{held}xref\n"),
    )
    return stream(pdf_bytes([texts]), *changes)


def button(name: str, left: float, bottom: float, on: bool) -> str:
    state = "Yes" if on else "Off"
    rect = f"/Rect [{left} {bottom} {left + 10} {bottom + 10}]"
    return f"/FT /Btn /T ({name}) /V /{state} /AS /{state} /AP << /N << /Yes 30 0 R >> >> {rect}"


def test_the_sign_of_a_box_stands_at_its_label(write: Make) -> None:
    line = "Smoker:      yes       no"
    boxes = [72 + width(line[: line.index(word)], 11) - 12 for word in ("yes", "no")]
    fields = [button("a", boxes[0], 699, False), button("b", boxes[1], 699, True)]
    parsed = parse(write("a.pdf", form([(72, 700, 11, "F1", line)], fields)))
    assert [b.text for b in parsed.blocks] == ["Smoker: ☐ yes ☒ no"]


def test_boxes_in_columns_stand_in_the_cells_of_their_rows(write: Make) -> None:
    rows = [(700, ("yes", "no", "unknown")), (680, ("red", "green", "blue")), (660, ("one", "two", "three"))]
    texts: list[Run] = [
        (72 + 100 * n, y, 11, "F1", word) for y, words in rows for n, word in enumerate(words)
    ]
    fields = [
        button(f"{y}.{n}", 58 + 100 * n, y - 1, n == i) for i, (y, _) in enumerate(rows) for n in range(3)
    ]
    [table] = parse(write("a.pdf", form(texts, fields))).blocks
    assert table.text == "☒ yes | ☐ no | ☐ unknown\n☐ red | ☒ green | ☐ blue\n☐ one | ☐ two | ☒ three"


def test_a_box_without_a_line_near_has_its_name(write: Make) -> None:
    fields = [button("insured", 400, 300, True), button("retired", 400, 200, False)]
    parsed = parse(write("a.pdf", form([(72, 700, 11, "F1", "An application.")], fields)))
    assert [b.text for b in parsed.blocks] == ["An application.", "insured: ☒", "retired: ☐"]


def test_the_chosen_entries_of_a_list_are_read_as_they_are_shown(write: Make) -> None:
    fields = [
        "/FT /Ch /Ff 131072 /T (colour) /V (R) /Opt [[(R) (Red paint)] [(B) (Blue)]] /Rect [120 600 220 620]",
        (
            "/FT /Ch /T (tools) /V [(a) (c)] /Opt [[(a) (Axe)] [(b) (Bow)] [(c) (Crowbar)]] /Rect [120 500"
            " 220 560]"
        ),
    ]
    parsed = parse(write("a.pdf", form([(72, 700, 11, "F1", "An order.")], fields)))
    assert [b.text for b in parsed.blocks] == ["An order.", "colour: Red paint", "tools: Axe, Crowbar"]


def test_a_box_that_is_not_shown_is_not_read(write: Make) -> None:
    fields = [f"{button('secret', 400, 300, True)} /F 2"]
    parsed = parse(write("a.pdf", form([(72, 700, 11, "F1", "An application.")], fields)))
    assert [b.text for b in parsed.blocks] == ["An application."]


def test_a_letter_of_a_font_of_pictures_is_read_as_what_it_shows(write: Make) -> None:
    texts: list[Run] = [(72, 700, 11, "F3", "x"), (90, 700, 11, "F1", "insured"), (160, 700, 11, "F3", "o")]
    texts.append((178, 700, 11, "F1", "retired"))
    data = pdf_bytes([texts])
    courier = b"/BaseFont /Courier /Encoding /WinAnsiEncoding"
    parsed = parse(write("a.pdf", data.replace(courier, b"/BaseFont /Wingdings".ljust(len(courier)))))
    assert " ".join(b.text.replace(" | ", " ") for b in parsed.blocks) == "☒ insured ☐ retired"
