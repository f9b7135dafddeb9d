from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.blocks import Block, Lines
from ragweave.corpora.ingest.run import index
from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.store import tables
from ragweave.corpora.store.library import Library, open_library
from ragweave.corpora.tables import keep
from ragweave.corpora.tables.keep import tables_of
from ragweave.tests.support.pdfs import pdf_bytes

XS = (60.0, 220.0, 330.0)
HEADS = "Date,Shop,Amount\n"


def csv(rows: int) -> str:
    return HEADS + "".join(f"2025-01-{n % 28 + 1:02},Shop {n},{n}.50\n" for n in range(1, rows + 1))


def test_rows_have_their_values_and_their_lines(tmp_path: Path) -> None:
    (tmp_path / "spend.csv").write_text(csv(100))
    (table,) = prepare(tmp_path / "spend.csv", "s", 200).tables
    assert [(c.name, c.kind) for c in table.columns] == [
        ("date", "date"),
        ("shop", "text"),
        ("amount", "real"),
    ]
    assert table.rows[0] == (2, 0, "2025-01-02", "Shop 1", 1.5)
    assert (table.count, len(table.rows), table.rows[-1][0]) == (100, 100, 101)


def test_every_passage_of_a_table_says_which_rows_it_shows(tmp_path: Path) -> None:
    (tmp_path / "spend.csv").write_text(csv(500))
    made = prepare(tmp_path / "spend.csv", "s", 200)
    (table,) = made.tables
    for corpus in ("paragraph", "document"):
        shown = [s for s in table.stretches for i in made.items if i.id == s.item and i.corpus == corpus]
        assert [n for s in shown for n in range(s.first, s.last + 1)] == list(range(1, 501))
        texts = {i.id: i.text for i in made.items}
        first = shown[-1]
        assert f"Shop {first.first} |" in texts[first.item][first.start : first.end].split("\n")[0]


def test_rows_that_are_equal_keep_their_order(tmp_path: Path) -> None:
    (tmp_path / "spend.csv").write_text(HEADS + "2025-01-01,Bell,5\n" * 400)
    (table,) = prepare(tmp_path / "spend.csv", "s", 200).tables
    assert {s.last for s in table.stretches} >= {400}


def test_sheets_are_tables_of_their_own(tmp_path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    for name in ("Income", "Costs"):
        sheet = book.create_sheet(name)
        sheet.append(["Item", "Euro"])
        for n in range(5):
            sheet.append([f"{name} {n}", n * 1.5])
    book.remove(book.worksheets[0])
    book.save(tmp_path / "book.xlsx")
    made = prepare(tmp_path / "book.xlsx", "s", 200)
    assert [(t.title, t.count, t.rows[1][3]) for t in made.tables] == [("Income", 5, 1.5), ("Costs", 5, 1.5)]


def test_merged_cells_name_each_row_that_they_cover(tmp_path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.worksheets[0]
    for row in (["Region", "Town", "Sales"], ["North", "Pell", 5], [None, "Tarn", 7], ["South", "Muros", 9]):
        sheet.append(row)
    sheet.merge_cells("A2:A3")
    book.save(tmp_path / "book.xlsx")
    (table,) = prepare(tmp_path / "book.xlsx", "s", 200).tables
    assert [row[2:] for row in table.rows][-1] == ("South", "Muros", 9)
    assert [row[4] for row in table.rows] == [5, 7, 9]


def test_rows_of_a_pdf_have_their_pages(tmp_path: Path) -> None:
    pages = []
    for page in range(2):
        rows = [
            (f"Part number {n}", str(n * 3), f"{n * 1.25:,.2f}") for n in range(30 * page + 1, 30 * page + 31)
        ]
        cells = [(n, row) for n, row in enumerate([("Name", "Pieces", "Price"), *rows])]
        pages.append(
            [(x, 760.0 - 14 * n, 10.0, "F1", c) for n, row in cells for x, c in zip(XS, row, strict=True)]
        )
    (tmp_path / "parts.pdf").write_bytes(pdf_bytes(pages))
    (table,) = prepare(tmp_path / "parts.pdf", "s", 200).tables
    assert (table.count, [c.kind for c in table.columns]) == (60, ["text", "integer", "real"])
    assert [table.rows[n][1] for n in (0, 29, 30, 59)] == [1, 1, 2, 2]


def test_rows_of_html_are_kept(tmp_path: Path) -> None:
    rows = "".join(f"<tr><td>Part {n}</td><td>€{n}.50</td></tr>" for n in range(1, 60))
    heads = "<tr><th>Name</th><th>Price</th></tr>"
    (tmp_path / "parts.html").write_text(f"<h1>Parts</h1><table>{heads}{rows}</table>")
    (table,) = prepare(tmp_path / "parts.html", "s", 200).tables
    assert (table.title, table.count, table.rows[58][2:]) == ("Parts", 59, ("Part 59", 59.5))
    assert table.columns[1].note == "in €"


def test_a_table_without_heads_numbers_its_columns() -> None:
    (table,) = tables_of([Block("1 | 2\n3 | 4\n5 | 6", "table", 0)], [])
    assert [c.name for c in table.columns] == ["column_1", "column_2"]
    assert table.count == 3


def test_names_of_columns_differ_and_are_no_words_of_sql() -> None:
    (table,) = tables_of(
        [Block("Order | order | Row | 2024 | \na | b | c | 5 | d\na | b | c | 5 | d", "table", 1)], []
    )
    assert [c.name for c in table.columns] == ["c_order", "c_order_2", "c_row", "c_2024", "column_5"]


def test_mixed_types_are_named_and_kept_as_they_are_written() -> None:
    rows = "\n".join(f"a{n} | {n}" for n in range(9))
    (table,) = tables_of([Block(f"Name | Price\n{rows}\nb | on request", "table", 1)], [])
    assert [c.name for c in table.columns] == ["name", "price", "price_text"]
    assert table.rows[-1][2:] == ("b", None, "on request")
    assert "1 of 10 cells are no numbers, such as “on request”" in table.columns[1].note


def test_a_last_row_that_sums_up_is_named() -> None:
    (table,) = tables_of([Block("Name | Euro\na | 1.50\nb | 2\nc | 3\nAlles | 6.50", "table", 1)], [])
    assert table.columns[1].note == "row 4 is the sum of the rows above it"
    (other,) = tables_of([Block("Name | Euro\na | 1.50\nb | 2\nc | 3\nd | 6.40", "table", 1)], [])
    assert other.columns[1].note == ""


def test_a_table_that_is_too_large_is_described_and_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keep, "MOST_ROWS", 50)
    lines = Lines()
    for n in range(61):
        lines.add(f"a | {n}" if n else "Name | Price", n + 1)
    (table,) = tables_of([lines.block("table", 1)], [])
    assert (table.count, table.rows) == (60, ())
    assert keep.warnings_of([table]) == [table.refused]
    assert "its table of 60 rows is searched, but nothing is summed or counted over it" in table.refused


@pytest.mark.parametrize(
    "engine", ["embedded", pytest.param("postgres", marks=pytest.mark.cluster)], indirect=True
)
@pytest.mark.usefixtures("home", "read_here")
async def test_rows_are_stored_with_their_file_and_go_with_it(tmp_path: Path) -> None:
    path = tmp_path / "spend.csv"
    path.write_text(csv(2500))
    await index([path])
    library = await open_library()
    found = await described(library)
    assert [(t.count, len(t.columns)) for t in found] == [(2500, 3)]
    rows = await asyncio.to_thread(all_rows, library, found[0].key)
    assert rows[0] == [2, 0, "2025-01-02", "Shop 1", 1.5]
    assert len(rows) == 2500
    await library.remove(*{t.source for t in found})
    assert await described(library) == []
    assert await asyncio.to_thread(all_rows, library, found[0].key) == []


async def described(library: Library) -> list[tables.KeptTable]:
    def read() -> list[tables.KeptTable]:
        with library.held.catalog.reading(library.id) as connection:
            keys = connection.exec_driver_sql("SELECT key FROM tables").scalars().all()
            return [t for key in keys if (t := tables.described(connection, key))]

    return await asyncio.to_thread(read)


def all_rows(library: Library, key: int) -> list[list[object]]:
    with library.held.catalog.reading(library.id) as connection:
        return [row for part in tables.parts_of(connection, key) for row in tables.unpacked(part)]


@pytest.mark.parametrize("level", [0, 1, 2, 3])
@given(text=st.lists(st.text("a1| \n", max_size=12), max_size=4).map("\n".join))
def test_a_table_of_any_shape_is_read(text: str, level: int) -> None:
    kept = tables_of([Block(f"Name | Price\n{text}".rstrip("\n"), "table", level)], [])
    assert all(len(row) == len(table.columns) + 2 for table in kept for row in table.rows)


def test_a_table_of_heads_alone_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "form.csv").write_text(HEADS)
    assert prepare(tmp_path / "form.csv", "s", 200).tables == ()
