"""PowerPoint and Excel, as their own reference writers make them."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from ragweave.corpora.blocks import Parsed
from ragweave.corpora.formats import parse, xlsx
from ragweave.corpora.formats.probe import probe
from ragweave.models.errors import SourceError
from ragweave.tests.support.items import paragraphs


@pytest.fixture
def slides(tmp_path: Path) -> Path:
    made = pptx.Presentation()
    made.core_properties.author = "R. Marsh"
    made.core_properties.title = "Tides in ten minutes"
    made.core_properties.created = datetime(2021, 2, 3)
    first = made.slides.add_slide(made.slide_layouts[1])
    first.shapes.title.text = "Spring tides"
    body = first.placeholders[1].text_frame
    body.text = "At new moon"
    inner = body.add_paragraph()
    inner.text, inner.level = "and at full moon", 1
    first.notes_slide.notes_text_frame.text = "Point at the chart."
    second = made.slides.add_slide(made.slide_layouts[6])
    table = second.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for (row, column), text in {(0, 0): "Place", (0, 1): "Height", (1, 0): "Fundy", (1, 1): "16 m"}.items():
        table.cell(row, column).text = text
    group = second.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "in a group"
    path = tmp_path / "a.pptx"
    made.save(str(path))
    return path


def test_slides_give_headings_lists_tables_and_notes_with_their_number(slides: Path) -> None:
    assert probe(slides) == "pptx"
    parsed = parse(slides, "pptx")
    assert [(b.kind, b.page, b.text) for b in parsed.blocks] == [
        ("heading", 1, "Spring tides"),
        ("list", 1, "At new moon\n  and at full moon"),
        ("text", 1, "Notes: Point at the chart."),
        ("heading", 2, "Slide 2"),
        ("text", 2, "in a group"),
        ("table", 2, "Place | Height\nFundy | 16 m"),
    ]
    assert (parsed.title, parsed.author) == ("Tides in ten minutes", "R. Marsh")
    assert parsed.date is not None and parsed.date.date() == date(2021, 2, 3)
    assert [i.locator["page"] for i in paragraphs("s", "/a.pptx", parsed)] == [1, 2]


def test_shapes_of_a_slide_are_read_as_they_stand_and_not_as_they_were_drawn(tmp_path: Path) -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    for text, left, top in (("foot", 1, 6), ("right", 5, 2.1), ("left", 1, 2), ("right below", 5, 3.2)):
        slide.shapes.add_textbox(Inches(left), Inches(top), Inches(3), Inches(3)).text_frame.text = text
    slide.shapes.title.text = "Title"
    slide.shapes.title.top = Inches(7)
    made.save(str(tmp_path / "a.pptx"))
    assert [b.text for b in parse(tmp_path / "a.pptx", "pptx").blocks] == [
        *("Title", "left", "right", "right below", "foot")
    ]


def test_the_figures_of_a_chart_are_a_table_under_its_title(tmp_path: Path) -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "Sales"
    drawn = CategoryChartData()
    drawn.categories = ["Q1", "Q2", "Q3"]
    drawn.add_series("Boats", (12.1, 3, None))
    drawn.add_series("Oars", (0.30000000000000004, 5, 7))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(4), Inches(3), drawn).chart
    chart.chart_title.text_frame.text = "Sold by quarter"
    made.save(str(tmp_path / "a.pptx"))
    blocks = parse(tmp_path / "a.pptx", "pptx").blocks
    assert [(b.kind, b.level, b.text, b.page) for b in blocks] == [
        ("heading", 1, "Sales", 1),
        ("text", 0, "Sold by quarter", 1),
        ("table", 1, " | Boats | Oars\nQ1 | 12.1 | 0.3\nQ2 | 3 | 5\nQ3 |  | 7", 1),
    ]


def charted(path: Path, drawn: CategoryChartData, since_1904: bool = False) -> Parsed:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    chart = slide.shapes.add_chart(XL_CHART_TYPE.LINE, 0, 0, Inches(4), Inches(3), drawn).chart
    chart._chartSpace.xpath("c:date1904")[0].set("val", str(int(since_1904)))
    made.save(str(path))
    return parse(path, "pptx")


def test_dates_shares_and_amounts_of_a_chart_are_read_as_they_are_shown(tmp_path: Path) -> None:
    drawn = CategoryChartData()
    drawn.categories = [date(2024, 1, 1), date(2024, 2, 29)]
    drawn.add_series("Share", (0.25, 0.57), "0%")
    drawn.add_series("Rent", (500, 0.1 + 0.2), '#,##0.00\\ "€"')
    path = tmp_path / "a.pptx"
    table = charted(path, drawn).blocks[-1].text
    assert table == " | Share | Rent\n2024-01-01 | 25% | 500 €\n2024-02-29 | 57% | 0.3 €"
    # The dates of some files count from 1904.
    assert "\n2028-01-02 | 25% | 500 €\n" in charted(path, drawn, since_1904=True).blocks[-1].text


def test_a_chart_that_is_read_in_part_says_so(tmp_path: Path) -> None:
    drawn = CategoryChartData()
    drawn.categories = [f"n{n}" for n in range(1001)]
    drawn.add_series("All", range(1001))
    parsed = charted(tmp_path / "a.pptx", drawn)
    assert parsed.blocks[-1].text.endswith("\nn999 | 999")
    assert parsed.warnings == ("of a chart on slide 1 only the first 50 series and 1,000 points were read",)


def sheet_of(path: Path, *rows: list[object]) -> Path:
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    made.save(path)
    return path


@pytest.fixture
def book(tmp_path: Path) -> Path:
    made = openpyxl.Workbook()
    sheet = made.active
    sheet.title = "Tides"
    sheet.append(["Place", "Height", "Day", "Spring"])
    sheet.append(["Fundy", 16.0, datetime(2021, 2, 3), True])
    sheet.append([])
    sheet.append(["Brest", 7.5, datetime(2021, 2, 4, 5, 6), None])
    other = made.create_sheet("Notes")
    other["C3"] = "a lone\ncell"
    made.create_sheet("Empty")
    path = tmp_path / "a.xlsx"
    made.save(path)
    return path


def test_sheets_give_tables_under_their_names_with_row_numbers(book: Path) -> None:
    assert probe(book) == "xlsx"
    parsed = parse(book, "xlsx")
    assert [(b.kind, b.level, b.text, [s.line for s in b.spans]) for b in parsed.blocks] == [
        ("heading", 1, "Tides", []),
        (
            "table",
            1,
            (
                "Place | Height | Day | Spring\nFundy | 16 | 2021-02-03 | True\nBrest | 7.5 |"
                " 2021-02-04T05:06:00"
            ),
            [1, 2, 4],
        ),
        ("heading", 1, "Notes", []),
        ("table", 0, " |  | a lone cell", [3]),
    ]


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_hidden_sheets_are_left_out_and_named(book: Path, state: str) -> None:
    made = openpyxl.load_workbook(book)
    made["Notes"].sheet_state = state
    made.save(book)
    parsed = parse(book, "xlsx")
    assert "lone" not in " ".join(b.text for b in parsed.blocks)
    assert parsed.warnings == ("hidden sheets were left out: Notes; show them in a spreadsheet program",)


def test_a_long_sheet_is_read_to_its_limit_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xlsx, "MAX_ROWS", 50)
    parsed = parse(sheet_of(tmp_path / "a.xlsx", *([f"row {n}", n] for n in range(80))), "xlsx")
    assert parsed.blocks[1].text.count("\n") == 49
    assert parsed.warnings == ("only the first 50 rows were read",)


@pytest.fixture
def letter(tmp_path: Path) -> Path:
    docx.Document().save(str(tmp_path / "a.docx"))
    return tmp_path / "a.docx"


@pytest.mark.parametrize("name", ["slides", "book", "letter"])
def test_an_office_file_cut_anywhere_is_refused_with_a_sentence(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    source: Path = request.getfixturevalue(name)
    whole = source.read_bytes()
    for tenth in range(1, 10):
        path = tmp_path / f"{tenth}{source.suffix}"
        path.write_bytes(whole[: len(whole) * tenth // 10])
        with pytest.raises(SourceError, match="damaged"):
            parse(path, source.suffix[1:])


def test_percent_and_currency_of_a_number_format_are_part_of_its_cell(tmp_path: Path) -> None:
    path = sheet_of(
        tmp_path / "a.xlsx", ["Fund", "Share", "Paid", "Owed", "Count"], ["Harbour", 0.125, 41.5, 1200, 7]
    )
    book = openpyxl.load_workbook(path)
    for place, shown in (("B2", "0.0%"), ("C2", "#,##0.00 [$€-407]"), ("D2", '"$"#,##0'), ("E2", "0")):
        book.active[place].number_format = shown
    book.save(path)
    assert parse(path, "xlsx").blocks[-1].text.split("\n")[1] == "Harbour | 12.5% | 41.5 € | 1200 $ | 7"


def test_what_stands_above_the_heads_of_a_sheet_is_text_and_they_stand_above_every_group(
    tmp_path: Path,
) -> None:
    people = [[f"Person {n}", 500 + n, 20 + n % 30, "yes" if n % 3 else None] for n in range(200)]
    above: list[list[object]] = [["Members of the rowing club Seagull"], ["As of:", date(2026, 5, 1)], []]
    path = sheet_of(tmp_path / "a.xlsx", *above, ["Name", "Locker", "Fee", "Paid"], *people)
    parsed = parse(path, "xlsx")
    assert [(b.kind, b.level, b.line) for b in parsed.blocks] == [
        ("heading", 1, 0),
        ("text", 0, 1),
        ("table", 1, 4),
    ]
    assert parsed.blocks[1].text == "Members of the rowing club Seagull\nAs of: 2026-05-01"
    first, *items = paragraphs("s", str(path), parsed)
    assert "\n\nName | Locker | Fee | Paid\nPerson 0 | 500" in first.text
    assert items and all(i.text.startswith("Name | Locker | Fee | Paid\nPerson") for i in items)
    last = items[-1]
    start = last.text.index("Person 199")
    assert last.locate(start, start + 10)["line"] == 204


def test_a_second_table_of_a_sheet_has_heads_of_its_own(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["Room", "Area"],
        ["Hall", 9],
        [],
        ["Pipe", "Length"],
        ["Copper", 22],
        ["Steel", 31],
    ]
    blocks = parse(sheet_of(tmp_path / "a.xlsx", *rows), "xlsx").blocks[1:]
    assert [b.text for b in blocks] == ["Room | Area\nHall | 9", "Pipe | Length\nCopper | 22\nSteel | 31"]
    assert [(b.level, b.line) for b in blocks] == [(1, 1), (1, 4)]


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([["Name", "Fee", "Remark"], ["Ada", 3], ["Ben", 4]], "Name | Fee | Remark\nAda | 3\nBen | 4"),
        (
            [["Name", "Fee"], ["Ada", 3, "late"], ["Ben", 4, "new"]],
            "Name | Fee\nAda | 3 | late\nBen | 4 | new",
        ),
        ([["Name:", "Fee:"], ["Ada", 3], ["Ben", 4]], "Name: | Fee:\nAda | 3\nBen | 4"),
        ([[None, "Fee"], ["Ada", 3], ["Ben", 4]], " | Fee\nAda | 3\nBen | 4"),
        ([["Fruit"], ["apple"], ["pear"]], "Fruit\napple\npear"),
    ],
)
def test_heads_with_more_or_fewer_cells_than_their_rows_stay_heads(
    tmp_path: Path, rows: list[list[object]], lines: str
) -> None:
    _, table = parse(sheet_of(tmp_path / "a.xlsx", *rows), "xlsx").blocks
    assert (table.level, table.text) == (1, lines)


@pytest.mark.parametrize(
    ("formulas", "told"),
    [(["=2*650"], "1 formula has no stored value"), (["=2*650", "=B2+1"], "2 formulas have no stored value")],
)
def test_formulas_without_a_stored_value_are_told(tmp_path: Path, formulas: list[str], told: str) -> None:
    rows: list[list[object]] = [["Item", "Paid"], *([f"rent {n}", f] for n, f in enumerate(formulas))]
    (warning,) = parse(sheet_of(tmp_path / "a.xlsx", *rows), "xlsx").warnings
    assert warning.startswith(told) and "save it once" in warning
