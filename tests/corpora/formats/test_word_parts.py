"""Word: numbers, symbols, fields of forms, diagrams and imported parts, which are stored as rules or in other parts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.blocks import Parsed
from ragweave.corpora.formats.docx import parse
from ragweave.corpora.formats.numbering import formatted
from ragweave.corpora.formats.symbols import shown
from ragweave.tests.support.zips import zip_bytes

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
LEVELS = [("decimal", "%1."), ("decimal", "%1.%2"), ("lowerLetter", "(%3)"), ("lowerRoman", "%4.")]


def packed(body: str, parts: dict[str, tuple[str, str]] | None = None) -> dict[str, str]:
    """Return the parts of a document; others are given by name with their type of relationship."""
    related = "".join(
        f'<Relationship Id="r{n}" Type="{R}/{kind}" Target="{name}"/>'
        for n, (name, (kind, _)) in enumerate((parts or {}).items(), 1)
    )
    return {
        "word/document.xml": f'<w:document xmlns:w="{W}" xmlns:r="{R}"><w:body>{body}</w:body></w:document>',
        "word/_rels/document.xml.rels": (
            "<Relationships "
            f'xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{related}</Relationships>'
        ),
        **{f"word/{name}": text for name, (_, text) in (parts or {}).items()},
    }


def read(tmp_path: Path, parts: dict[str, str]) -> Parsed:
    (tmp_path / "a.docx").write_bytes(zip_bytes(parts))
    return parse(tmp_path / "a.docx")


def numbered(text: str, level: int, list_id: int = 1) -> str:
    return (
        f'<w:p><w:pPr><w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr></w:pPr>'
        f"<w:r><w:t>{text}</w:t></w:r></w:p>"
    )


def rules(*changes: str) -> tuple[str, str]:
    levels = "".join(
        f'<w:lvl w:ilvl="{n}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText'
        f' w:val="{text}"/></w:lvl>'
        for n, (form, text) in enumerate(LEVELS)
    )
    lists = '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>' + "".join(changes)
    root = (
        f'<w:numbering xmlns:w="{W}"><w:abstractNum'
        f' w:abstractNumId="0">{levels}</w:abstractNum>{lists}</w:numbering>'
    )
    return "numbering", root


def lines(parsed: Parsed) -> list[str]:
    return [line.strip() for b in parsed.blocks for line in b.text.split("\n")]


def test_paragraphs_have_the_numbers_that_word_shows(tmp_path: Path) -> None:
    body = "".join(
        numbered(text, level)
        for text, level in (
            ("Term", 0),
            ("Rent", 0),
            ("monthly", 1),
            ("bank", 2),
            ("cash", 2),
            ("yearly", 1),
            ("End", 0),
        )
    )
    found = lines(read(tmp_path, packed(body, {"numbering.xml": rules()})))
    assert found == ["1. Term", "2. Rent", "2.1 monthly", "(a) bank", "(b) cash", "2.2 yearly", "3. End"]


def test_a_list_that_begins_again_and_one_that_goes_on_are_told_apart(tmp_path: Path) -> None:
    again = (
        '<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride'
        ' w:val="7"/></w:lvlOverride></w:num><w:num w:numId="3"><w:abstractNumId w:val="0"/></w:num>'
    )
    body = numbered("a", 0) + numbered("b", 0, 2) + numbered("c", 0, 2) + numbered("d", 0, 3)
    assert lines(read(tmp_path, packed(body, {"numbering.xml": rules(again)}))) == [
        "1. a",
        "7. b",
        "8. c",
        "9. d",
    ]


def test_a_numbered_heading_keeps_its_number_and_the_title_has_none(tmp_path: Path) -> None:
    styles = (
        f'<w:styles xmlns:w="{W}"><w:style w:styleId="H"><w:name w:val="heading 1"/><w:pPr><w:numPr>'
        '<w:numId w:val="1"/></w:numPr></w:pPr></w:style></w:styles>'
    )
    body = '<w:p><w:pPr><w:pStyle w:val="H"/></w:pPr><w:r><w:t>Termination</w:t></w:r></w:p>'
    parsed = read(tmp_path, packed(body, {"numbering.xml": rules(), "styles.xml": ("styles", styles)}))
    assert ([b.text for b in parsed.blocks], parsed.title) == (["1. Termination"], "Termination")


def test_a_deleted_paragraph_is_not_counted(tmp_path: Path) -> None:
    gone = numbered("b", 0).replace("</w:pPr>", "<w:rPr><w:del/></w:rPr></w:pPr>")
    body = numbered("a", 0) + gone.replace("<w:r><w:t>b</w:t></w:r>", "") + numbered("c", 0)
    assert lines(read(tmp_path, packed(body, {"numbering.xml": rules()}))) == ["1. a", "2. c"]


def test_numbers_stand_in_the_cells_of_tables(tmp_path: Path) -> None:
    rows = "".join(
        f"<w:tr><w:tc>{numbered('', 0)}</w:tc><w:tc><w:p><w:r><w:t>{t}</w:t></w:r></w:p></w:tc></w:tr>"
        for t in ("Oil", "Gas")
    )
    parsed = read(tmp_path, packed(f"<w:tbl>{rows}</w:tbl>", {"numbering.xml": rules()}))
    assert parsed.blocks[0].text == "1. | Oil\n2. | Gas"


@pytest.mark.parametrize(
    ("form", "texts"),
    [
        ("upperRoman", ["I", "IV", "XL"]),
        ("upperLetter", ["A", "D", "NN"]),
        ("ordinal", ["1st", "4th", "40th"]),
        ("chineseCounting", ["一", "四", "四十"]),
        ("unheard of", ["1", "4", "40"]),
    ],
)
def test_numbers_are_written_in_their_form(form: str, texts: list[str]) -> None:
    assert [formatted(n, form) for n in (1, 4, 40)] == texts


@given(st.integers(-5, 10_000), st.sampled_from(["upperRoman", "lowerLetter", "japaneseCounting", "ordinal"]))
def test_any_number_has_a_text(number: int, form: str) -> None:
    assert formatted(number, form)


@pytest.mark.parametrize(
    ("run", "text"),
    [
        ('<w:sym w:font="Wingdings" w:char="F0FE"/>', "☑"),
        ('<w:sym w:font="Symbol" w:char="F0B1"/>', "±"),
        ('<w:rPr><w:rFonts w:ascii="Symbol"/></w:rPr><w:t>W</w:t>', "Ω"),
        ('<w:rPr><w:rFonts w:ascii="Arial"/></w:rPr><w:t>W</w:t>', "W"),
        ("<w:t>\uf0a3</w:t>", "≤"),
    ],
)
def test_symbols_of_fonts_are_read_as_they_are_drawn(tmp_path: Path, run: str, text: str) -> None:
    assert lines(read(tmp_path, packed(f"<w:p><w:r>{run}</w:r></w:p>"))) == [text]


def test_symbols_without_a_character_are_counted(tmp_path: Path) -> None:
    parsed = read(
        tmp_path, packed('<w:p><w:r><w:t>a</w:t><w:sym w:font="Webdings" w:char="F0F9"/></w:r></w:p>')
    )
    assert parsed.warnings == ("not read: 1 symbol of a font",)


@given(st.text())
def test_text_in_an_ordinary_font_stays(text: str) -> None:
    plain = re.sub("[\uf000-\uf0ff]", "", text)
    assert shown(plain, "Arial") == plain


def field(data: str) -> str:
    return (
        f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>', "☒ paid"),
        ('<w:checkBox><w:default w:val="1"/></w:checkBox>', "☒ paid"),
        ('<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>', "☐ paid"),
        (
            (
                '<w:ddList><w:result w:val="1"/><w:listEntry w:val="Oslo"/><w:listEntry'
                ' w:val="Bergen"/></w:ddList>'
            ),
            "Bergen paid",
        ),
        ('<w:ddList><w:listEntry w:val="Oslo"/><w:listEntry w:val="Bergen"/></w:ddList>', "Oslo paid"),
    ],
)
def test_fields_of_forms_say_what_is_entered(tmp_path: Path, data: str, text: str) -> None:
    body = f'<w:p>{field(data)}<w:r><w:t xml:space="preserve"> paid</w:t></w:r></w:p>'
    assert lines(read(tmp_path, packed(body))) == [text]


def test_a_symbol_that_a_field_names_is_read(tmp_path: Path) -> None:
    said = r"SYMBOL 254 \f &quot;Wingdings&quot; \s 10"
    body = (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f'<w:r><w:instrText>{said}</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    )
    assert lines(read(tmp_path, packed(body))) == ["☑"]


def test_an_imported_part_stands_where_it_was_imported(tmp_path: Path) -> None:
    body = (
        '<w:p><w:r><w:t>Before</w:t></w:r></w:p><w:altChunk r:id="r1"/><w:p><w:r><w:t>After</w:t></w:r></w:p>'
    )
    chunk = "<html><body><p>An <b>imported</b> page.</p></body></html>"
    parsed = read(tmp_path, packed(body, {"chunk.html": ("aFChunk", chunk)}))
    assert [b.text for b in parsed.blocks] == ["Before", "An imported page.", "After"]


def test_an_imported_part_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    body = '<w:p><w:r><w:t>Before</w:t></w:r></w:p><w:altChunk r:id="r1"/><w:altChunk r:id="r9"/>'
    parsed = read(tmp_path, packed(body, {"chunk.bin": ("aFChunk", "\0\1\2\0")}))
    assert [w.partition(":")[0] for w in parsed.warnings] == [
        "the imported part chunk.bin was left out",
        "an imported part is missing, and was left out",
    ]


def test_the_texts_of_a_diagram_are_a_list(tmp_path: Path) -> None:
    dgm, a = (f"http://schemas.openxmlformats.org/drawingml/2006/{n}" for n in ("diagram", "main"))
    points = "".join(
        f'<d:pt modelId="{n}"><d:t><a:p><a:r><a:t>{n}</a:t></a:r></a:p></d:t></d:pt>'
        for n in ("Head", "Clerk", "Cook")
    )
    links = "".join(
        f'<d:cxn srcId="{up}" destId="{down}" srcOrd="{n}"/>'
        for up, down, n in (("top", "Head", 0), ("Head", "Cook", 1), ("Head", "Clerk", 0))
    )
    data = (
        f'<d:dataModel xmlns:d="{dgm}" xmlns:a="{a}"><d:ptLst><d:pt modelId="top"'
        f' type="doc"/>{points}</d:ptLst><d:cxnLst>{links}</d:cxnLst></d:dataModel>'
    )
    body = f'<w:p><w:r><w:drawing><d:relIds xmlns:d="{dgm}" r:dm="r1"/></w:drawing></w:r></w:p>'
    (block,) = read(tmp_path, packed(body, {"diagrams/data1.xml": ("diagramData", data)})).blocks
    assert (block.kind, block.text) == ("list", "- Head\n  - Clerk\n  - Cook")


def test_a_strict_document_is_read_as_any_other(tmp_path: Path) -> None:
    parts = packed("<w:p><w:r><w:t>Strict text</w:t></w:r></w:p>", {"numbering.xml": rules()})
    strict = {
        name: (
            text.replace(W, "http://purl.oclc.org/ooxml/wordprocessingml/main").replace(
                R, "http://purl.oclc.org/ooxml/officeDocument/relationships"
            )
        )
        for name, text in parts.items()
    }
    assert lines(read(tmp_path, strict)) == ["Strict text"]


def test_what_is_not_read_is_counted_by_its_kind(tmp_path: Path) -> None:
    body = "<w:p><w:r><w:t>Text</w:t></w:r></w:p>"
    parts = packed(body, {"embeddings/a.bin": ("oleObject", "x"), "embeddings/b.bin": ("oleObject", "y")})
    parts["word/vbaProject.bin"] = "x"
    assert read(tmp_path, parts).warnings == ("not read: 2 embedded objects and 1 macro project",)
