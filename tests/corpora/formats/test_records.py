"""CSV, JSON, e-mail, EPUB, source code and notebooks."""

from __future__ import annotations

import json
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import pytest

from ragweave.corpora.formats import parse
from ragweave.corpora.formats.csv import delimiter
from ragweave.corpora.formats.probe import probe
from ragweave.models.errors import SourceError
from ragweave.tests.support.items import paragraphs

Write = Callable[[str, str | bytes], Path]


def texts(path: Path) -> list[str]:
    return [b.text for b in parse(path, probe(path)).blocks]


@pytest.mark.parametrize(
    ("text", "mark"),
    [("a,b\n1,2", ","), ("a;b\n1,5;2", ";"), ("a\tb\n1\t2", "\t"), ("a|b|c\n1|2|3", "|"), ("one column\nonly", ",")],
)
def test_the_delimiter_is_told(text: str, mark: str) -> None:
    assert delimiter(text) == mark


def test_a_csv_is_one_table_with_header_and_lines(write: Write) -> None:
    path = write("a.csv", 'place,height\r\nFundy,"16,5"\r\n"Saint\nMalo",12\r\n\r\nBrest,7\r\n')
    (block,) = parse(path, probe(path)).blocks
    assert (block.kind, block.level, block.text) == (
        "table",
        1,
        "place | height\nFundy | 16,5\nSaint Malo | 12\nBrest | 7",
    )
    assert [s.line for s in block.spans] == [1, 2, 3, 6]


@pytest.mark.parametrize("above", ["# corrected 20 May, by Ada; from the cards\n", "Pickers, 2026\n\n"])
def test_a_remark_above_the_heads_is_a_line_of_text(write: Write, above: str) -> None:
    title, table = parse(write("a.csv", above + "Name,Bins,Rate\nAda,12,3\nBen,9,4\n"), "csv").blocks
    assert (title.kind, title.text, title.line) == ("text", above.strip(), 1)
    assert (table.kind, table.level, table.text) == ("table", 1, "Name | Bins | Rate\nAda | 12 | 3\nBen | 9 | 4")


def test_heads_below_a_remark_stand_above_every_group_of_rows(write: Write) -> None:
    body = "Pickers, 2026\nplace,height,name\n" + "".join(f"harbour number {n},{n},x\n" for n in range(300))
    items = paragraphs("s", "/a.csv", parse(write("a.csv", body), "csv"))
    assert len(items) > 5 and items[0].text.startswith("Pickers, 2026\n\nplace | height | name\nharbour")
    assert all(i.text.startswith("place | height | name\nharbour") for i in items[1:])


def test_a_csv_of_numbers_alone_has_no_header(write: Write) -> None:
    path = write("a.csv", "1,2\n3,4\n5,6\n")
    assert parse(path, "csv").blocks[0].level == 0


@pytest.mark.parametrize(
    ("text", "level"),
    [("Item,2024,2025\nGifts,3120,4205\nTrees,744,804\n", 1), ("Ada,1999,3\nBen,2004,5\n", 0), ("2024,3\n7,8\n", 0)],
)
def test_years_name_columns_of_other_figures(write: Write, text: str, level: int) -> None:
    assert parse(write("a.csv", text), "csv").blocks[0].level == level


def test_every_group_of_rows_starts_with_the_header(write: Write) -> None:
    path = write("a.csv", "place;height\n" + "".join(f"harbour number {n};{n}\n" for n in range(300)))
    items = paragraphs("s", str(path), parse(path, probe(path)))
    assert len(items) > 5 and all(i.text.startswith("place | height\nharbour") for i in items)


@pytest.mark.parametrize(
    "body", ['a,"never closed\n' * 50, ",".join("x" * 3000) + "\n1", "a,b\n" + "x" * 200_000 + ",1\n"]
)
def test_odd_tables_are_read_or_said(write: Write, body: str) -> None:
    path = write("a.csv", body)
    parsed = parse(path, "csv")
    assert parsed.blocks or parsed.warnings


def test_json_records_become_blocks_of_path_and_value(write: Write) -> None:
    body = [
        {"place": "Fundy", "tide": {"high": 16, "times": ["4:00", "16:25"]}, "open": True, "none": None},
        {"place": "Brest"},
    ]
    assert texts(write("a.json", json.dumps(body))) == [
        "place: Fundy\ntide.high: 16\ntide.times: 4:00, 16:25\nopen: true",
        "place: Brest",
    ]


def test_a_json_object_gives_its_title_and_date(write: Write) -> None:
    path = write("a.json", '{"title": "Tides", "date": "2020-01-02", "list": [{"a": 1}, {"a": 2}]}')
    parsed = parse(path, probe(path))
    assert (parsed.title, parsed.date is not None and parsed.date.year) == ("Tides", 2020)
    assert [b.text for b in parsed.blocks] == ["title: Tides\ndate: 2020-01-02", "list[0].a: 1\nlist[1].a: 2"]


def test_json_lines_keep_their_lines_and_name_the_broken_ones(write: Write) -> None:
    path = write("a.jsonl", '{"a": 1}\n\nnot json\n{"a": 2}\n')
    parsed = parse(path, probe(path))
    assert [(b.text, b.line) for b in parsed.blocks] == [("a: 1", 1), ("a: 2", 4)]
    assert parsed.warnings == ("line 3 is not JSON",)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("[" * 100_000, "nested"),
        ("[" * 500 + "1" + "]" * 500, "nested"),
        ('{"a":' * 500 + "1" + "}" * 500, "nested"),
        ('{"a": 1', "not valid JSON"),
        ("{}", "no text"),
    ],
)
def test_bad_json_is_refused_with_a_sentence(write: Write, body: str, sentence: str) -> None:
    with pytest.raises(SourceError, match=sentence):
        parse(write("a.json", body), "json")


def mail(html: str = "", text: str = "The tide is high.\n\nCome at noon.\n") -> EmailMessage:
    made = EmailMessage()
    made["From"] = "Rosa Märsch <rosa@example.com>"
    made["To"] = "Jan <jan@example.com>"
    made["Subject"] = "Gezeiten für Freitag"
    made["Date"] = "Fri, 05 Mar 2021 10:00:00 +0100"
    made.set_content(text)
    if html:
        made.add_alternative(html, subtype="html")
    return made


def test_a_mail_gives_its_headers_its_text_and_names_its_attachments(write: Write) -> None:
    made = mail("<p>The tide is high.</p>")
    made.add_attachment(b"%PDF-1.4 data", maintype="application", subtype="pdf", filename="plan.pdf")
    path = write("a.eml", bytes(made))
    assert probe(path) == "eml"
    parsed = parse(path, "eml")
    assert (parsed.title, parsed.author) == ("Gezeiten für Freitag", "Rosa Märsch <rosa@example.com>")
    assert parsed.date is not None and parsed.date.isoformat() == "2021-03-05T10:00:00+01:00"
    assert [b.text for b in parsed.blocks][1:] == ["The tide is high.", "Come at noon."]
    assert "To: Jan <jan@example.com>" in parsed.blocks[0].text


def test_what_is_attached_to_a_mail_is_read_under_its_name(write: Write) -> None:
    made = mail()
    for name, data in {
        "plan.md": b"# Harbour plan\n\nThe quay is closed.",
        "../../etc/table.csv": b"ship,berth\nAlba,4\n",
        "noise.bin": b"\0\1\2\3" * 50,
        "again.eml": bytes(mail()),
    }.items():
        made.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    path = write("a.eml", bytes(made))
    parsed = parse(path, "eml")
    found = [(i.heading, i.text) for i in paragraphs("s", str(path), parsed)]
    assert (("plan.md", "Harbour plan"), "The quay is closed.") in found
    assert any(heading == ("../../etc/table.csv",) and "Alba | 4" in text for heading, text in found)
    assert len(parsed.warnings) == 2
    assert "noise.bin" in parsed.warnings[0] and "a mail of its own" in parsed.warnings[1]


def test_of_very_many_attachments_some_are_read_and_the_others_counted(write: Write) -> None:
    made = mail()
    for n in range(30):
        made.add_attachment(f"Note number {n}.", filename=f"{n}.txt")
    parsed = parse(write("a.eml", bytes(made)), "eml")
    assert sum(b.kind == "heading" for b in parsed.blocks) == 20
    assert "10 attachments from 20.txt on" in parsed.warnings[0]


def test_a_mail_with_html_alone_is_read_from_it(write: Write) -> None:
    made = mail()
    made.set_content("<html><body><script>no()</script><p>High at <b>noon</b>.</p></body></html>", subtype="html")
    assert parse(write("a.eml", bytes(made)), "eml").blocks[1].text == "High at noon."


@pytest.mark.parametrize(
    "body",
    [
        b"From: a\nTo: b\nSubject: =?utf-8?q?broken=?=\nDate: not a date\n\nwords",
        b"From: a\nTo: b\nSubject: x\nDate: Mon, 18446744073709551616 Jan 2023 10:00:00 +0000\n\nwords",
        b"From: a\nTo: b\nSubject: x\nContent-Type: text/plain; charset=no-such\n\nwords",
        b"From: a\nTo: b\nSubject: x\nContent-Type: multipart/mixed; boundary=q\n\n--q\n\nwords\n--q",
        b"From: " + b"<" * 5000 + b"\nTo: b\nSubject: x\n\nwords",
        b"From: a\nTo: b\nSubject: x\n" + b"Content-Type: multipart/mixed; boundary=q\n\n--q\n" * 400 + b"\nwords",
    ],
)
def test_broken_mails_are_read_as_far_as_they_go(write: Write, body: bytes) -> None:
    parsed = parse(write("a.eml", body), "eml")
    assert parsed.blocks


def test_source_code_is_cut_between_functions_and_keeps_its_lines(write: Write) -> None:
    path = write("tide.py", "import os\n\n\ndef high():\n    a = 1\n\n    return a\n\n\ndef low():\n\treturn 0\n")
    parsed = parse(path, probe(path))
    assert parsed.title == "tide.py"
    assert [(b.kind, b.line, b.text) for b in parsed.blocks] == [
        ("code", 1, "import os"),
        ("code", 4, "def high():\n    a = 1\n    return a"),
        ("code", 10, "def low():\n    return 0"),
    ]
    assert [s.line for s in parsed.blocks[1].spans] == [4, 5, 7]


def test_a_notebook_gives_headings_code_and_output(write: Write) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Tides\n", "\n", "Words."]},
        {"cell_type": "code", "source": "print(1)", "outputs": [{"text": ["1\n"]}, {"data": {"image/png": "AAAA"}}]},
    ]
    path = write("a.ipynb", json.dumps({"cells": cells, "metadata": {"language_info": {"name": "python"}}}))
    parsed = parse(path, probe(path))
    assert parsed.title == "Tides"
    assert [(b.kind, b.text) for b in parsed.blocks] == [
        ("heading", "Tides"),
        ("text", "Words."),
        ("code", "print(1)"),
        ("code", "1"),
    ]


@pytest.mark.parametrize("body", ['{"cells": 3}', '{"cells": [1]}', "{}", '{"cells": [{"outputs": 5}]}', '{"cells"'])
def test_a_broken_notebook_is_refused(write: Write, body: str) -> None:
    with pytest.raises(SourceError):
        parse(write("a.ipynb", body), "notebook")


OPF = """<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>
<dc:title>Tides</dc:title><dc:creator>R. Marsh</dc:creator><dc:date>2019-05</dc:date><dc:language>en-GB</dc:language>
</metadata>
<manifest><item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="b" href="b%20two.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="text/a.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/><itemref idref="gone"/></spine></package>"""
CONTAINER = """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OPS/package.opf"/></rootfiles></container>"""


def chapter(text: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml">'
        f"<head><title>x</title></head><body>{text}</body></html>"
    )


def test_a_book_is_read_in_the_order_of_its_spine(write: Write, make_zip: Callable[..., bytes]) -> None:
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OPS/package.opf": OPF,
        "OPS/nav.xhtml": chapter("<nav>Contents</nav>"),
        "OPS/text/a.xhtml": chapter("<h1>One</h1><p>First words.</p>"),
        "OPS/b two.xhtml": chapter("<h1>Two</h1><p>Last words.</p>"),
    }
    path = write("a.epub", make_zip(parts))
    assert probe(path) == "epub"
    parsed = parse(path, "epub")
    assert (parsed.title, parsed.author, parsed.language) == ("Tides", "R. Marsh", "en")
    assert parsed.date is not None and (parsed.date.year, parsed.date.month) == (2019, 5)
    assert [b.text for b in parsed.blocks] == ["One", "First words.", "Two", "Last words."]


def test_the_footnotes_of_a_book_are_read(write: Write, make_zip: Callable[..., bytes]) -> None:
    note = '<aside epub:type="footnote" id="n1"><p>Nob means Norbert Floodgate.</p></aside>'
    parts = {
        "META-INF/container.xml": CONTAINER,
        "OPS/package.opf": OPF,
        "OPS/text/a.xhtml": chapter("<h1>Gates</h1><p>The gate keeper is Old Nob.</p>" + note),
    }
    parsed = parse(write("a.epub", make_zip(parts)), "epub")
    assert [b.text for b in parsed.blocks] == ["Gates", "The gate keeper is Old Nob.", "Nob means Norbert Floodgate."]


def test_a_part_of_a_book_that_is_named_but_has_no_heading_is_not_of_the_chapter_before(
    write: Write, make_zip: Callable[..., bytes]
) -> None:
    spine = "".join(f'<itemref idref="{n}"/>' for n in "abc") + '<itemref idref="d" linear="no"/>'
    items = "".join(f'<item id="{n}" href="{n}.xhtml" media-type="application/xhtml+xml"/>' for n in "abcd")
    package = (
        f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest><spine>{spine}</spine></package>'
    )
    parts = {
        "META-INF/container.xml": CONTAINER,
        "OPS/package.opf": package,
        "OPS/a.xhtml": chapter("<h1>One</h1><p>First words.</p>"),
        "OPS/b.xhtml": chapter("<p>More words.</p>").replace("<title>x</title>", ""),
        "OPS/c.xhtml": chapter("<p>Thanks.</p>").replace("<title>x", "<title>Afterword"),
        "OPS/d.xhtml": chapter("<p>A note.</p>").replace("<title>x</title>", ""),
    }
    path = write("a.epub", make_zip(parts))
    found = [(b.kind, b.text) for b in parse(path, "epub").blocks]
    assert found[:3] == [("heading", "One"), ("text", "First words."), ("text", "More words.")]
    assert found[3:] == [("heading", "Afterword"), ("text", "Thanks."), ("heading", "d"), ("text", "A note.")]


def test_a_book_with_a_missing_part_says_so(write: Write, make_zip: Callable[..., bytes]) -> None:
    parts = {
        "META-INF/container.xml": CONTAINER,
        "OPS/package.opf": OPF,
        "OPS/text/a.xhtml": chapter("<p>First words.</p>"),
    }
    parsed = parse(write("a.epub", make_zip(parts)), "epub")
    assert [b.text for b in parsed.blocks] == ["First words."]
    assert parsed.warnings == ("the part OPS/b two.xhtml is missing",)


@pytest.mark.parametrize(
    "container", ["<container/>", "<x", f"<!DOCTYPE x>{CONTAINER}", CONTAINER.replace("package", "no")]
)
def test_a_broken_book_is_refused(write: Write, make_zip: Callable[..., bytes], container: str) -> None:
    with pytest.raises(SourceError):
        parse(write("a.epub", make_zip({"META-INF/container.xml": container})), "epub")
