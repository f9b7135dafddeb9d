"""Workbooks, tables of text and slides: values as they are shown, and what stands beside the cells and shapes."""

from __future__ import annotations

import shutil
import zipfile
from datetime import datetime, time, timedelta
from pathlib import Path

import openpyxl
import pptx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.comments import Comment
from openpyxl.styles import Font
from pptx.util import Inches

from ragweave.corpora.blocks import Parsed
from ragweave.corpora.formats import parse
from ragweave.corpora.formats.number_format import number, shown
from ragweave.corpora.formats.sheet_notes import edges
from ragweave.tests.support.frames import PIXEL

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
DRAWN = (
    '<x:wsDr xmlns:x="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><x:twoCellAnchor><x:from><x:col>0</x:col><x:row>4</x:row></x:from><x:sp><x:txBody><a:p><a:r><a:t>In'
    " a box</a:t></a:r></a:p></x:txBody></x:sp></x:twoCellAnchor></x:wsDr>"
)
BOXES = (
    '<xml xmlns:v="urn:schemas-microsoft-com:vml"'
    ' xmlns:x="urn:schemas-microsoft-com:office:excel">'
    "<v:shape><v:textbox><div>Smoker<br></div></v:textbox><x:ClientData"
    ' ObjectType="Checkbox"><x:Checked>1</x:Checked></x:ClientData></v:shape>'
    "<v:shape><v:textbox>Pets</v:textbox><x:ClientData"
    ' ObjectType="Checkbox"/></v:shape></xml>'
)


def with_parts(path: Path, related: dict[str, tuple[str, str]]) -> Path:
    """Add parts to the first sheet of a workbook, by name with their type of relationship."""
    copy = path.with_suffix(".with.xlsx")
    shutil.copy(path, copy)
    relations = "".join(
        f'<Relationship Id="p{n}" Type="{OFFICE}/{kind}" Target="../{name}"/>'
        for n, (name, (kind, _)) in enumerate(related.items())
    )
    with zipfile.ZipFile(copy, "a") as book:
        for name, (_, text) in related.items():
            book.writestr(f"xl/{name}", text)
        book.writestr(
            "xl/worksheets/_rels/sheet1.xml.rels",
            f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{relations}'
            "</Relationships>",
        )
    return copy


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (501, "00000", "00501"),
        (-5, "000", "-005"),
        (5550143, "000-0000", "555-0143"),
        (205550143, "(000) 000-0000", "(020) 555-0143"),
        (1234567, "# ##0", "1234567"),
        (1234.5, '#,##0.00 "kr"', "1234.5 kr"),
        (7, '"No. "0', "No. 7"),
        (0, '"yes";;"no"', "no"),
        (2, '[=1]"one";[=2]"two"', "two"),
        (1_200_000, '0.0,,"M"', "1200000"),
        (0.075, "0.0%", "7.5%"),
    ],
)
def test_a_number_has_what_only_its_format_shows(value: float, form: str, text: str) -> None:
    assert number(value, form) == text


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (timedelta(hours=37, minutes=30), "[h]:mm", "37:30"),
        (timedelta(hours=37, minutes=30), "[hh]:mm:ss", "37:30:00"),
        (timedelta(minutes=90, seconds=15.5), "[mm]:ss.0", "90:15.5"),
        (-timedelta(hours=2), "[h]:mm", "-2:00"),
        (datetime(1900, 1, 1, 13, 30), "h:mm", "13:30:00"),
        (datetime(2024, 5, 3), "d.m.yy", "2024-05-03"),
        (time(9, 30), "h:mm", "09:30:00"),
    ],
)
def test_lengths_of_time_pass_a_day(value: timedelta, form: str, text: str) -> None:
    assert shown(value, form) == text


@given(st.floats(allow_nan=False, allow_infinity=False, width=32), st.text(max_size=40))
def test_any_format_gives_a_text(value: float, form: str) -> None:
    assert isinstance(number(value, form), str)


def test_a_workbook_has_its_comments_boxes_and_the_marks_of_its_forms(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Pump", "Weight"])
    book.active.append(["North", "line_x000D_\nnext"])
    book.active.oddHeader.center.text = "Confidential"
    book.save(tmp_path / "a.xlsx")
    parts = {"drawings/drawing1.xml": ("drawing", DRAWN), "drawings/vmlDrawing1.vml": ("vmlDrawing", BOXES)}
    parsed = parse(with_parts(tmp_path / "a.xlsx", parts), "xlsx")
    assert [(b.text, b.line) for b in parsed.blocks[1:]] == [
        ("Pump | Weight\nNorth | line next", 1),
        ("Confidential", 0),
        ("☒ Smoker", 0),
        ("☐ Pets", 0),
        ("In a box", 5),
    ]


def test_a_comment_names_its_cell_and_who_wrote_it(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Pump", "Weight"])
    book.active["B1"].comment = Comment("With or without water?", "Ilse Kern")
    book.save(tmp_path / "a.xlsx")
    last = parse(tmp_path / "a.xlsx", "xlsx").blocks[-1]
    assert (last.text, last.line) == ("Comment by Ilse Kern on B1: With or without water?", 1)


def test_cells_in_a_font_of_pictures_are_read_as_they_are_drawn(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["Task", "Done"], ["Paint", "\u00fe"], ["Oil", "\u00a8"]):
        book.active.append(row)
    for place in ("B2", "B3"):
        book.active[place].font = Font(name="Wingdings")
    book.save(tmp_path / "a.xlsx")
    assert parse(tmp_path / "a.xlsx", "xlsx").blocks[-1].text == "Task | Done\nPaint | ☑\nOil | ☐"


def test_headers_of_a_sheet_have_no_codes_and_no_page_numbers() -> None:
    assert [b.text for b in edges(['&L&"Arial,Bold"&12Rohde && Sons&CPage &P of &N&RDraft'])] == [
        "Rohde & Sons\nDraft"
    ]


@pytest.mark.parametrize(
    "top",
    [
        "Harbour fees 2024,,\n,,\n",
        "Account:,DE00 0000,\nPeriod:,May 2024,\n",
        "Account,DE00 0000,\nPeriod,May 2024,\n,,\n",
        "Harbour fees,,\nprinted by,the office,\n",
    ],
)
def test_a_padded_title_of_a_table_stands_above_its_heads(tmp_path: Path, top: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(top + "Boat,Owner,Fee\n" + "".join(f"Boat{n},Owner{n},{n}0\n" for n in range(40)))
    title, table = parse(path, "csv").blocks
    assert (title.kind, table.level) == ("text", 1) and table.text.startswith("Boat | Owner | Fee\nBoat0 |")
    assert all(word in title.text for word in top.replace(",", " ").split())


@pytest.mark.parametrize("first", ["Boat,Owner,Fee", ",Owner,Fee", "Boat,Owner,"])
def test_heads_that_lack_a_name_stay_heads(tmp_path: Path, first: str) -> None:
    (tmp_path / "a.csv").write_text(f"{first}\n" + "Marten,Ada,ten\nHeron,Ben,two\nGull,Cyn,six\n" * 4)
    (table,) = parse(tmp_path / "a.csv", "csv").blocks
    assert table.text.startswith(first.replace(",", " | ").strip() if first[0] != "," else " | Owner")


def test_a_long_cell_is_read_and_a_quote_that_is_not_closed_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,text\n1,"' + "word " * 40_000 + '"\n2,short\n')
    parsed = parse(tmp_path / "a.csv", "csv")
    assert parsed.warnings == () and len(parsed.blocks[0].text.split("\n")) == 3
    (tmp_path / "b.csv").write_text('id,text\n1,"open\n' + "2,b\n" * 60_000)
    (warning,) = parse(tmp_path / "b.csv", "csv").warnings
    assert warning.startswith("line 2 has a quote that is not closed")


def deck(path: Path, change: str = "") -> Parsed:
    """Save a slide with a text and a picture, of which an element is taken out."""
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "Pumps"
    box = slide.shapes.add_textbox(Inches(1), Inches(2), Inches(3), Inches(1)).text_frame
    box.text = "Pump 3 weighs 7 kg"
    picture = path.with_suffix(".png")
    picture.write_bytes(PIXEL)
    drawn = slide.shapes.add_picture(str(picture), 0, 0)._element
    for element in drawn.iter():
        if change and element.tag.endswith(f"}}{change}"):
            element.getparent().remove(element)
            break
    made.save(str(path))
    return parse(path, "pptx")


@pytest.mark.parametrize("missing", ["blipFill", "blip", "spPr", "nvPicPr"])
def test_a_deck_with_a_broken_picture_is_read(tmp_path: Path, missing: str) -> None:
    parsed = deck(tmp_path / "a.pptx", missing)
    assert [b.text for b in parsed.blocks] == ["Pumps", "Pump 3 weighs 7 kg"]
    told = ("not read: 1 picture whose data are missing",) if missing.startswith("blip") else ()
    assert parsed.warnings == told


def test_comments_on_slides_and_numbers_of_lists_are_read(tmp_path: Path) -> None:
    deck(tmp_path / "a.pptx")
    made = pptx.Presentation(str(tmp_path / "a.pptx"))
    frame = made.slides[0].shapes[1].text_frame
    frame.text = "first"
    frame.add_paragraph().text = "second"
    for paragraph in frame.paragraphs:
        look = paragraph._p.get_or_add_pPr()
        look.insert(0, look.makeelement(look.tag.replace("pPr", "buAutoNum"), {"type": "alphaLcParenR"}))
    made.save(str(tmp_path / "b.pptx"))
    main = "http://schemas.openxmlformats.org/presentationml/2006/main"
    related = "ppt/slides/_rels/slide1.xml.rels"
    with zipfile.ZipFile(tmp_path / "b.pptx") as old, zipfile.ZipFile(tmp_path / "c.pptx", "w") as new:
        for name in old.namelist():
            link = (
                f'<Relationship Id="c1" Type="{OFFICE}/comments"'
                ' Target="../comments/comment1.xml"/></Relationships>'
            )
            data = old.read(name)
            new.writestr(name, data.replace(b"</Relationships>", link.encode()) if name == related else data)
        new.writestr(
            "ppt/comments/comment1.xml",
            f'<p:cmLst xmlns:p="{main}"><p:cm authorId="0"><p:text>Bigger, please.</p:text></p:cm></p:cmLst>',
        )
        new.writestr(
            "ppt/commentAuthors.xml",
            f'<p:cmAuthorLst xmlns:p="{main}"><p:cmAuthor id="0" name="Ann"/></p:cmAuthorLst>',
        )
    found = [b.text for b in parse(tmp_path / "c.pptx", "pptx").blocks]
    assert found == ["Pumps", "a) first\nb) second", "Comment by Ann: Bigger, please."]
