"""OpenDocument: texts, workbooks and presentations as odfdo writes them, and parts made by hand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path

import odfdo
import pytest
from odfdo import Element, Frame, Header, List, Paragraph, Table

from ragweave.corpora.blocks import Parsed
from ragweave.corpora.formats import ods, parse
from ragweave.corpora.formats.probe import probe
from ragweave.tests.support.items import paragraphs
from ragweave.tests.support.zips import zip_bytes

Make = Callable[..., bytes]
Write = Callable[..., Path]
NAMES = (
    " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{full}:1.0"'
        for name, full in (
            *(("office", "office"), ("table", "table"), ("text", "text"), ("style", "style")),
            *(("fo", "xsl-fo-compatible"), ("draw", "drawing"), ("form", "form")),
        )
    )
    + ' xmlns:field="urn:openoffice:names:experimental:ooo-ms-interop:xmlns:field:1.0"'
)


def read(document: odfdo.Document, path: Path) -> Parsed:
    document.save(path)
    assert probe(path) == path.suffix[1:]
    return parse(path, path.suffix[1:])


def table(name: str, *rows: list[object]) -> Table:
    made = Table(name)
    for y, row in enumerate(rows):
        for x, value in enumerate(row):
            made.set_value((x, y), value)
    return made


def packed(kind: str, body: str, styles: str = "") -> dict[str, str]:
    content = (
        f"<office:document-content {NAMES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    return {"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content}


def test_a_text_has_headings_lists_tables_notes_comments_and_properties(tmp_path: Path) -> None:
    made = odfdo.Document("text")
    made.body.clear()
    made.meta.title, made.meta.initial_creator = "Tides", "R. Marsh"
    made.meta.creation_date = datetime(2021, 2, 3)
    noted, told = Paragraph("It is old."), Paragraph("It is deep.")
    noted.insert_note(after="old", note_id="n1", citation="1", body="Built in 1790.")
    told.insert_annotation(after="deep", body="How deep?", creator="Ann")
    for element in (Header(1, "Harbour"), noted, told, List(["one", "two"]), Header(2, "Ships")):
        made.body.append(element)
    made.body.append(table("T", ["Ship", "Crew"], ["Marten", 4]))
    parsed = read(made, tmp_path / "a.odt")
    assert [(b.kind, b.level, b.text) for b in parsed.blocks] == [
        ("heading", 1, "1. Harbour"),
        ("text", 0, "It is old."),
        ("text", 0, "It is deep."),
        ("list", 0, "- one\n- two"),
        ("heading", 2, "1.1. Ships"),
        ("table", 1, "Ship | Crew\nMarten | 4"),
        ("text", 0, "Built in 1790."),
        ("text", 0, "Comment by Ann: How deep?"),
    ]
    assert (parsed.title, parsed.author) == ("Tides", "R. Marsh")
    assert parsed.date is not None and parsed.date.date() == date(2021, 2, 3)
    assert paragraphs("s", "/a.odt", parsed)[-1].heading == ("1. Harbour", "1.1. Ships")


def test_a_workbook_has_a_table_for_each_sheet_with_row_numbers_and_none_for_hidden_ones(
    tmp_path: Path,
) -> None:
    made = odfdo.Document("spreadsheet")
    made.body.clear()
    made.body.append(
        table("Fares", ["Route", "Adult", "Since"], [], ["Skerry", 7.5, date(2024, 3, 1)], ["Ness", 12])
    )
    made.body.append(table("Secret", ["orders"]))
    made.set_table_displayed("Secret", False)
    parsed = read(made, tmp_path / "a.ods")
    heading, body = parsed.blocks
    assert (heading.text, body.level, body.text) == (
        "Fares",
        1,
        "Route | Adult | Since\nSkerry | 7.5 | 2024-03-01\nNess | 12",
    )
    assert [s.line for s in body.spans] == [1, 3, 4]
    assert parsed.warnings == ("hidden sheets were left out: Secret; show them in a spreadsheet program",)


def test_slides_have_their_titles_texts_in_order_and_notes(tmp_path: Path) -> None:
    made = odfdo.Document("presentation")
    made.body.clear()
    slide = odfdo.DrawPage("one", name="one")
    for text, x, y in (("below", "2cm", "9cm"), ("right", "12cm", "40mm"), ("left", "2cm", "4cm")):
        slide.append(Frame.text_frame(text, size=("5cm", "3cm"), position=(x, y)))
    slide.append(
        Frame.text_frame("Tides", size=("9cm", "1cm"), position=("1cm", "15cm"), presentation_class="title")
    )
    notes = "<draw:frame><draw:text-box><text:p>Speak slowly.</text:p></draw:text-box></draw:frame>"
    slide.append(Element.from_tag(f"<presentation:notes>{notes}</presentation:notes>"))
    made.body.append(slide)
    made.body.append(odfdo.DrawPage("two", name="two"))
    parsed = read(made, tmp_path / "a.odp")
    assert [(b.kind, b.page, b.text) for b in parsed.blocks] == [
        ("heading", 1, "Tides"),
        ("text", 1, "left"),
        ("text", 1, "right"),
        ("text", 1, "below"),
        ("text", 1, "Notes: Speak slowly."),
        ("heading", 2, "Slide 2"),
    ]
    assert [(f.page, f.whole) for f in parsed.figures] == [(1, True), (2, True)]


def test_text_that_nobody_sees_and_deleted_text_are_left_out(write: Write) -> None:
    looks = ("text:display='none'", "fo:font-size='1pt'", "fo:color='#ffffff'")
    styles = "".join(
        f'<style:style style:name="s{n}"><style:text-properties {look}/></style:style>'
        for n, look in enumerate(looks)
    )
    spans = "".join(f'<text:span text:style-name="s{n}">hidden {n}</text:span>' for n in range(3))
    body = "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
    body += f"<text:p>Seen<text:s/>{spans}<text:tab/>words<text:line-break/>below</text:p>"
    parsed = parse(write("a.odt", zip_bytes(packed("text", body, styles))), "odt")
    assert [b.text for b in parsed.blocks] == ["Seen words\nbelow"]
    assert parsed.hidden == ("hidden 0", "hidden 1", "hidden 2")


def test_cells_that_are_said_to_be_repeated_a_million_times_stay_few(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ods, "MAX_REPEATED", 9_000)
    cell = '<table:table-cell table:number-columns-repeated="16384"><text:p>tide</text:p></table:table-cell>'
    row = f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'
    empty = '<table:table-row table:number-rows-repeated="999999"><table:table-cell/></table:table-row>'
    body = f'<table:table table:name="A">{empty}{row}{empty}</table:table>'
    parsed = parse(write("a.ods", zip_bytes(packed("spreadsheet", body))), "ods")
    assert len(parsed.blocks[-1].text) < 200_000
    assert parsed.warnings == ("cells that are repeated very often were read once",)


def numbering(*forms: str) -> str:
    levels = "".join(
        f'<text:list-level-style-number text:level="{n}" style:num-format="{form}" style:num-suffix="."'
        f' text:display-levels="{n}"/>'
        for n, form in enumerate(forms, 1)
    )
    return f'<text:list-style style:name="L">{levels}</text:list-style>'


def item(text: str, inner: str = "") -> str:
    return f"<text:list-item><text:p>{text}</text:p>{inner}</text:list-item>"


def test_lists_have_their_numbers_and_go_on_where_they_say_so(write: Write) -> None:
    inner = f"<text:list>{item('monthly')}{item('yearly')}</text:list>"
    body = (
        f'<text:list text:style-name="L">{item("Term")}{item("Rent", inner)}</text:list><text:p>then</text:p>'
    )
    body += f'<text:list text:style-name="L" text:continue-numbering="true">{item("End")}</text:list>'
    body += f'<text:list text:style-name="L">{item("Anew")}</text:list>'
    parsed = parse(write("a.odt", zip_bytes(packed("text", body, numbering("1", "a")))), "odt")
    assert [b.text for b in parsed.blocks] == [
        "1. Term\n2. Rent\n  2.a. monthly\n  2.b. yearly",
        "then",
        "3. End",
        "1. Anew",
    ]


@pytest.mark.parametrize(
    ("control", "text"),
    [
        ('<form:checkbox form:id="c" form:label="Smoker" form:current-state="checked"/>', "☒ Smoker"),
        ('<form:checkbox form:id="c" form:label="Smoker"/>', "☐ Smoker"),
        ('<form:radio form:id="c" form:label="yes" form:current-selected="true"/>', "☒ yes"),
        ('<form:text form:id="c" form:current-value="Ada"/>', "Ada"),
        (
            (
                '<form:listbox form:id="c"><form:option form:label="Oslo"/>'
                '<form:option form:label="Bergen" form:selected="true"/></form:listbox>'
            ),
            "Bergen",
        ),
    ],
)
def test_controls_of_forms_say_what_is_entered(write: Write, control: str, text: str) -> None:
    body = (
        f"<office:forms><form:form>{control}</form:form></office:forms><text:p>Form: <draw:control"
        ' draw:control="c"/>'
    )
    parsed = parse(write("a.odt", zip_bytes(packed("text", f"{body}</text:p>"))), "odt")
    assert [b.text for b in parsed.blocks] == [f"Form: {text}"]


def test_fields_from_word_and_symbols_are_read(write: Write) -> None:
    styles = '<style:style style:name="s"><style:text-properties style:font-name="Symbol"/></style:style>'
    body = (
        '<text:p><field:fieldmark field:type="vnd.oasis.opendocument.field.FORMCHECKBOX"><field:param '
        'field:name="Checkbox_Checked" field:value="true"/></field:fieldmark> paid '
        '<text:span text:style-name="s">\u00b1</text:span>5</text:p>'
    )
    parsed = parse(write("a.odt", zip_bytes(packed("text", body, styles))), "odt")
    assert [b.text for b in parsed.blocks] == ["☒ paid ±5"]


def test_a_sheet_has_its_comments_boxes_and_leading_zeros(write: Write) -> None:
    cells = (
        '<table:table-cell office:value-type="float"'
        ' office:value="501"><office:annotation><text:p>Old?</text:p></office:annotation>'
        "<text:p>00501</text:p></table:table-cell><table:table-cell"
        ' office:value-type="string"><text:p>Quay</text:p><draw:frame><draw:text-box><text:p>In a'
        " box</text:p></draw:text-box></draw:frame></table:table-cell>"
    )
    body = f'<table:table table:name="S"><table:table-row>{cells}</table:table-row></table:table>'
    parsed = parse(write("a.ods", zip_bytes(packed("spreadsheet", body))), "ods")
    assert [b.text for b in parsed.blocks] == [
        "S",
        "00501 | Quay",
        "Comment by a reader on A1: Old?",
        "In a box",
    ]
