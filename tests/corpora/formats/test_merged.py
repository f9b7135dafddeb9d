"""Tables whose cells span rows and columns: every cell stays under its head, and no number counts twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from pptx.util import Inches

from ragweave.corpora.formats import merged, parse
from ragweave.corpora.formats.merged import MergedTable

Write = Callable[[str, str], Path]

ROOMS = """<table><tr><th>Floor</th><th>Room</th><th>Seats</th></tr>
<tr><td rowspan="2">1</td><td>Elm</td><td>12</td></tr>
<tr><td>Oak</td><td>30</td></tr>
<tr><td rowspan="2">2</td><td rowspan="2">Ash</td><td rowspan="2">8</td></tr>
<tr><td></td></tr>
<tr><td>3</td><td>Fir</td><td>9</td></tr>
<tr><td colspan="2">Total</td><td>59</td></tr></table>"""
YEARS = """<table><thead><tr><th rowspan="2">Name</th><th colspan="2">2023</th><th colspan="2">2024</th></tr>
<tr><th>Spring</th><th>Autumn</th><th>Spring</th><th>Autumn</th></tr></thead>
<tbody><tr><td>Ada</td><td>1</td><td>2</td><td>3</td><td>4</td></tr>
<tr><td>Ben</td><td colspan="2">ill</td><td colspan="2">7</td></tr></tbody></table>"""


def lines(path: Path, kind: str) -> list[str]:
    return [line for b in parse(path, kind).blocks for line in b.text.split("\n")]


def test_cells_of_a_page_that_span_rows_stand_in_each_of_them(write: Write) -> None:
    (block,) = parse(write("a.html", ROOMS), "html").blocks
    assert block.text.split("\n") == [
        "Floor | Room | Seats",
        "1 | Elm | 12",
        "1 | Oak | 30",
        "2 | Ash | 8",
        "3 | Fir | 9",
        "Total |  | 59",
    ]
    assert [s.line for s in block.spans] == [1, 2, 3, 4, 6, 7]


def test_heads_of_two_lines_become_one_and_a_number_over_two_columns_counts_once(write: Write) -> None:
    (block,) = parse(write("a.html", YEARS), "html").blocks
    assert (block.level, block.text.split("\n")) == (
        1,
        [
            "Name | Spring 2023 | Autumn 2023 | Spring 2024 | Autumn 2024",
            "Ada | 1 | 2 | 3 | 4",
            "Ben | ill | ill | 7 | ",
        ],
    )


def test_a_number_that_spans_rows_is_said_once_beside_the_first_column(write: Write) -> None:
    body = (
        "<tr><th>Name</th><th>Deposit</th><th>Room</th></tr>"
        "<tr><td>Ada</td><td rowspan=2>300 €</td><td rowspan=2>Elm</td></tr><tr><td>Ben</td></tr>"
    )
    assert lines(write("a.html", f"<table>{body}</table>"), "html")[1:] == ["Ada | 300 € | Elm", "Ben |  | Elm"]


NUMBERS = ["41.50 EUR", "€ 41.50", "CHF 1'200.50", "12 %", "−5", "-3.5 °C", "(1,200)", "9 months", "78.-", "1 200,5 kg"]
TEXTS = ["first", "20:00 to 7:00", "60–85", "3 of 4", "E11 b", "2025-06-29", "1,2,3", "(5", "€ 5 €"]


@pytest.mark.parametrize(("cell", "again"), [*((n, "") for n in NUMBERS), *((t, t) for t in TEXTS)])
def test_a_cell_that_spans_rows_is_said_again_unless_it_is_a_number(cell: str, again: str) -> None:
    table = MergedTable()
    table.row([("Name", 1, 1), ("Paid", 1, 1)], every=True)
    assert table.row([("Ada", 1, 1), (cell, 2, 1)], every=True) == ["Ada", cell]
    assert table.row([("Ben", 1, 1)], every=True) == ["Ben", again]


@pytest.mark.parametrize("cell", ["th", "td"])
def test_a_title_across_a_table_is_text_and_its_heads_stay_heads(write: Write, cell: str) -> None:
    body = f"<tr><{cell} colspan=2>Rooms to let</{cell}></tr><tr><th>Room</th><th>Seats</th></tr>"
    found = parse(write("a.html", f"<table>{body}<tr><td>Elm</td><td>12</td></tr></table>"), "html").blocks
    assert [(b.kind, b.level, b.text) for b in found] == [
        ("text", 0, "Rooms to let"),
        ("table", 1, "Room | Seats\nElm | 12"),
    ]


def test_a_row_of_one_cell_across_the_table_stays_one(write: Write) -> None:
    body = (
        "<tr><th>A</th><th>B</th><th>C</th></tr><tr><td colspan=3>Guests</td></tr>"
        "<tr><td>x</td><td>y</td><td>z</td></tr>"
    )
    assert lines(write("a.html", f"<table>{body}</table>"), "html") == ["A | B | C", "Guests", "x | y | z"]


@pytest.mark.parametrize("span", ["0", "-3", "x", "", "1e9", "9" * 40, "²"])
def test_a_span_that_says_nothing_of_use_is_one(write: Write, span: str) -> None:
    body = f'<tr><th>A</th><th rowspan="{span}" colspan="{span}">B</th></tr><tr><td>1</td><td>2</td></tr>'
    assert lines(write("a.html", f"<table>{body}</table>"), "html") == ["A | B", "1 | 2"]


def test_no_cell_reaches_beyond_its_group_of_rows(write: Write) -> None:
    body = (
        "<thead><tr><th rowspan=9>A</th><th>B</th></tr></thead>"
        "<tbody><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></tbody>"
    )
    assert lines(write("a.html", f"<table>{body}</table>"), "html") == ["A | B", "1 | 2", "3 | 4"]


def test_a_row_of_several_lines_of_a_page_is_no_end_of_its_table(write: Write) -> None:
    rows = "<tr><td>Ada</td>\n<td>5</td>\n</tr><tr><td>Ben</td><td>unknown</td></tr>\n<tr><td>Cid</td><td>7</td></tr>"
    (table,) = parse(write("a.html", f"<table><tr><th>Name</th><th>Count</th></tr>\n{rows}</table>"), "html").blocks
    assert table.text == "Name | Count\nAda | 5\nBen | unknown\nCid | 7"


def test_a_page_of_spans_alone_stays_small(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merged, "MAX_REPEATED", 10_000)
    row = "<tr><td rowspan=500 colspan=500>tide</td><td>x</td></tr>"
    (block,) = parse(write("a.html", f"<table>{row * 1000}</table>"), "html").blocks
    assert block.text.count("\n") == 999 and len(block.text) < 40_000
    assert block.text.count("x") == 1000


def test_what_a_covered_cell_holds_of_its_own_is_kept() -> None:
    table = MergedTable()
    table.row([("A", 1, 1), ("B", 1, 1)], every=True)
    assert table.row([("Elm", 2, 2), ("kept", 1, 1)], every=True) == ["Elm", "kept"]
    assert table.row([("", 1, 1), ("here", 1, 1)], every=True) == ["Elm", "here"]


def test_spans_of_a_grid_in_restructured_text_are_read(write: Write) -> None:
    grid = """
+-------+-------+-------+
| Floor | Room  | Seats |
+=======+=======+=======+
| 1st   | Elm   | 12    |
|       +-------+-------+
|       | Oak   | 30    |
+-------+-------+-------+
| Total         | 42    |
+---------------+-------+
"""
    assert lines(write("a.rst", grid), "rst") == [
        "Floor | Room | Seats",
        "1st | Elm | 12",
        "1st | Oak | 30",
        "Total |  | 42",
    ]


CELLS = [
    ["Floor", "Members", "", "Keeper"],
    ["", "2023", "2024", ""],
    ["1st", "12", "13", "Ada"],
    ["", "30", "31", ""],
    ["Total", "", "44", ""],
]
MERGED = [((0, 0), (1, 0)), ((0, 1), (0, 2)), ((0, 3), (1, 3)), ((2, 0), (3, 0)), ((2, 3), (3, 3)), ((4, 0), (4, 1))]
READ = [
    "Floor | Members 2023 | Members 2024 | Keeper",
    "1st | 12 | 13 | Ada",
    "1st | 30 | 31 | Ada",
    "Total |  | 44 | ",
]


def test_merged_cells_of_a_word_table_keep_their_columns(tmp_path: Path) -> None:
    document = docx.Document()
    table = document.add_table(rows=len(CELLS), cols=4)
    for row, texts in zip(table.rows, CELLS, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    for (top, left), (bottom, right) in MERGED:
        table.cell(top, left).merge(table.cell(bottom, right))
    document.save(str(tmp_path / "a.docx"))
    (block,) = parse(tmp_path / "a.docx", "docx").blocks
    assert (block.level, block.text.split("\n")) == (1, READ)


def test_columns_that_a_word_row_leaves_out_at_its_start_are_counted(tmp_path: Path) -> None:
    document = docx.Document()
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip([c for r in table.rows for c in r.cells], ["Place", "Height", "", "16 m"], strict=True):
        cell.text = text
    row = table.rows[1]._tr
    row.remove(row.tc_lst[0])
    before = row.get_or_add_trPr().makeelement(docx.oxml.ns.qn("w:gridBefore"), {docx.oxml.ns.qn("w:val"): "1"})
    row.get_or_add_trPr().append(before)
    document.save(str(tmp_path / "a.docx"))
    assert lines(tmp_path / "a.docx", "docx") == ["Place | Height", " | 16 m"]


def test_merged_cells_of_a_slide_keep_their_columns(tmp_path: Path) -> None:
    made = pptx.Presentation()
    shapes = made.slides.add_slide(made.slide_layouts[6]).shapes
    table = shapes.add_table(len(CELLS), 4, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for r, texts in enumerate(CELLS):
        for c, text in enumerate(texts):
            table.cell(r, c).text = text
    for (top, left), (bottom, right) in MERGED:
        table.cell(top, left).merge(table.cell(bottom, right))
    made.save(str(tmp_path / "a.pptx"))
    assert lines(tmp_path / "a.pptx", "pptx")[1:] == READ


def test_merged_cells_of_a_sheet_keep_their_columns_below_a_title(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    for row in [["The club"], ["As of:", "May"], *CELLS]:
        made.active.append([int(c) if c.isdigit() and len(c) < 3 else c or None for c in row])
    made.active.merge_cells("A1:D1")
    for (top, left), (bottom, right) in MERGED:
        made.active.merge_cells(start_row=top + 3, end_row=bottom + 3, start_column=left + 1, end_column=right + 1)
    made.save(tmp_path / "a.xlsx")
    _, title, table = parse(tmp_path / "a.xlsx", "xlsx").blocks
    assert title.text == "The club\nAs of: May"
    assert table.level == 1 and table.text.split("\n") == [line.removesuffix(" | ") for line in READ]
    assert [s.line for s in table.spans] == [3, 5, 6, 7]


def test_a_merged_number_of_a_sheet_counts_once_and_empty_rows_under_a_merged_text_stay_empty(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    for row in (["Name", "Room", "Deposit"], ["Ada", "Elm", 300], ["Ben"], [], ["Cleo", "Oak", 200]):
        made.active.append(row)
    for cells in ("B2:B4", "C2:C3"):
        made.active.merge_cells(cells)
    made.save(tmp_path / "a.xlsx")
    table = parse(tmp_path / "a.xlsx", "xlsx").blocks[-1].text
    assert table == "Name | Room | Deposit\nAda | Elm | 300\nBen | Elm\nCleo | Oak | 200"


def test_a_sheet_of_merged_cells_alone_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merged, "MAX_REPEATED", 10_000)
    made = openpyxl.Workbook()
    made.active.append([f"text {n}" for n in range(100)])
    for n in range(1, 100):
        letter = openpyxl.utils.get_column_letter(n)
        made.active.merged_cells.add(f"{letter}1:{letter}1000000")
    for row in range(2, 400):
        made.active.cell(row, 100).value = "x"
    made.save(tmp_path / "a.xlsx")
    assert len(parse(tmp_path / "a.xlsx", "xlsx").blocks[-1].text) < 150_000
