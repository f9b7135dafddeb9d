"""Tables whose cells span rows and columns: every cell stays under its head, and no number counts twice."""

from __future__ import annotations

from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from pptx.util import Inches

from ragweave.corpora.formats import merged, parse


def lines(path: Path, kind: str) -> list[str]:
    return [line for b in parse(path, kind).blocks for line in b.text.split("\n")]


CELLS = [
    ["Floor", "Members", "", "Keeper"],
    ["", "2023", "2024", ""],
    ["1st", "12", "13", "Ada"],
    ["", "30", "31", ""],
    ["Total", "", "44", ""],
]
MERGED = [
    ((0, 0), (1, 0)),
    ((0, 1), (0, 2)),
    ((0, 3), (1, 3)),
    ((2, 0), (3, 0)),
    ((2, 3), (3, 3)),
    ((4, 0), (4, 1)),
]
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
        made.active.merge_cells(
            start_row=top + 3, end_row=bottom + 3, start_column=left + 1, end_column=right + 1
        )
    made.save(tmp_path / "a.xlsx")
    _, title, table = parse(tmp_path / "a.xlsx", "xlsx").blocks
    assert title.text == "The club\nAs of: May"
    assert table.level == 1 and table.text.split("\n") == [line.removesuffix(" | ") for line in READ]
    assert [s.line for s in table.spans] == [3, 5, 6, 7]


def test_a_merged_number_of_a_sheet_counts_once_and_empty_rows_under_a_merged_text_stay_empty(
    tmp_path: Path,
) -> None:
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


def test_columns_of_a_page_that_hold_signs_or_space_close_up_below_heads_of_two_lines(tmp_path: Path) -> None:
    space = "<td colspan=2></td>"
    amount = "<td>$</td><td>{}</td><td></td>".format
    loss = "<td colspan=2>({}</td><td>)</td>".format
    head = "<td colspan=3>{}</td>".format
    rows = [
        f"{head('')}<td colspan=8>Six Months Ended</td>",
        f"{head('')}{head('June 30, 2023')}{space}{head('June 30, 2022')}",
        f"{head('Sales')}{amount('1,370')}{space}{amount('940')}",
        f"{head('Interest, net')}{loss('17')}{space}{loss('32')}",
    ]
    (tmp_path / "a.html").write_text(
        f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>", encoding="utf-8"
    )
    (table,) = parse(tmp_path / "a.html", "html").blocks
    assert (table.level, table.text.split("\n")) == (
        1,
        [
            " | Six Months Ended June 30, 2023 | Six Months Ended June 30, 2022",
            "Sales | $1,370 | $940",
            "Interest, net | (17) | (32)",
        ],
    )


def test_an_empty_column_with_a_head_of_its_own_stays(tmp_path: Path) -> None:
    rows = [["", "2022", "Note", "2023"], ["Boats", "4", "", "5"], ["Nets", "", "", "7"]]
    cells = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    (tmp_path / "a.html").write_text(f"<table>{cells}</table>", encoding="utf-8")
    assert lines(tmp_path / "a.html", "html") == [" | ".join(row) for row in rows]
