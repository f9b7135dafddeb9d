"""CSV with quotes that are not those of CSV: no row is lost, and every row keeps its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragweave.corpora.blocks import Block
from ragweave.corpora.formats import parse

Write = Callable[[str, str | bytes], Path]


def table(*stray: tuple[int, str], rows: int) -> str:
    """Return a table whose line n+1 has part n, but for those lines that are given."""
    lines = {n: f"{n},part {n},{n * 2}" for n in range(1, rows + 1)} | dict(stray)
    return "id,name,price\n" + "".join(line + "\n" for line in lines.values())


def read(path: Path) -> tuple[dict[int, str], tuple[str, ...]]:
    """Return the rows of a table by their lines, and the warnings."""
    parsed = parse(path, "csv")
    (block,) = parsed.blocks
    return {s.line: block.text[s.start : s.end] for s in block.spans}, parsed.warnings


@pytest.mark.parametrize("rows", [24, 60, 6000])
@pytest.mark.parametrize(
    "more", [(), ((23, '23,"7 inch pipe,3'),), ((24, '24,pipe 7",3'),)], ids=["one", "another opens", "another closes"]
)
def test_a_stray_quote_costs_no_row(write: Write, rows: int, more: tuple[tuple[int, str], ...]) -> None:
    if more:
        more = ((rows - 1, more[0][1].replace(f"{more[0][0]},", f"{rows - 1},", 1)),)
    found, warnings = read(write("a.csv", table((17, '17,"12 inch pipe,5'), *more, rows=rows)))
    assert sorted(found) == list(range(1, rows + 2))
    assert found[18] == '17 | "12 inch pipe | 5'
    assert found[20] == "19 | part 19 | 38" and found[rows + 1].startswith(f"{rows} | ")
    assert warnings[0] == "line 18 has a quote that is not closed, and was read as it stands"


def test_an_open_quote_in_the_last_line_costs_no_cell(write: Write) -> None:
    found, warnings = read(write("a.csv", table((9, '9,"12 inch pipe,5'), rows=9)))
    assert found[10] == '9 | "12 inch pipe | 5' and len(warnings) == 1


@pytest.mark.parametrize("lines", [2, 5, 300])
def test_a_cell_of_many_lines_stays_one(write: Write, lines: int) -> None:
    letter = "\n".join(f"Line {n} of the letter, as it was" for n in range(lines))
    found, warnings = read(write("a.csv", table((17, f'17,"{letter}",5'), rows=30)))
    assert len(found) == 31 and found[18].endswith("as it was | 5") and "Line 0 of the letter" in found[18]
    assert found[18 + lines] == "18 | part 18 | 36" and warnings == ()


def test_a_cell_past_the_limit_of_the_parser_is_read(write: Write) -> None:
    found, warnings = read(write("a.csv", "name,size\n" + "x" * 200_000 + ",1\nb,2\n"))
    assert found[2] == "x" * 200_000 + " | 1" and found[3] == "b | 2" and warnings == ()


def test_open_quotes_in_every_other_line_are_read_in_bounded_work(write: Write) -> None:
    found = parse(write("a.csv", "a,b,c\n" + '1,"x,2\n3,y""z,4\n' * 60_000), "csv")
    assert isinstance(found.blocks[0], Block) and len(found.warnings) <= 10


def test_a_table_below_an_empty_line_has_heads_of_its_own(write: Write) -> None:
    two = "Room,Area\nKitchen,14\nHall,9\n\nPipe,Length\nCopper,22\nSteel,31\n"
    first, second = parse(write("a.csv", two), "csv").blocks
    assert (first.text, first.level) == ("Room | Area\nKitchen | 14\nHall | 9", 1)
    assert (second.text, second.level, second.spans[0].line) == ("Pipe | Length\nCopper | 22\nSteel | 31", 1, 5)


@pytest.mark.parametrize(
    "text",
    [
        "Day,Guests\nMonday,12\nTuesday,closed\nFriday,9\n",  # no empty line
        "Day,Guests\nMonday,12\n\nTuesday,9\nFriday,9\n",
        "Name,Team\nAda,red\n\nBen,blue\nCid,red\n",
        "Day,Guests\nMonday,12\n\nTuesday,\nFriday,9\n",
    ],
)
def test_an_empty_line_alone_parts_no_table(write: Write, text: str) -> None:
    assert len(parse(write("a.csv", text), "csv").blocks) == 1


def test_a_cell_of_several_lines_is_no_empty_line(write: Write) -> None:
    rows = 'Anna,paid,5,"called twice\nand wrote"\nBen,open,unknown,none yet\nCarl,paid,7,ok\n'
    (table,) = parse(write("a.csv", "Name,Status,Count,Note\n" + rows), "csv").blocks
    assert table.text.count("\n") == 3 and [s.line for s in table.spans] == [1, 2, 4, 5]


def test_what_parts_cells_stands_in_none_of_them(write: Write) -> None:
    found, _ = read(write("a.csv", "Item,Price\nCable | USB,10\nMouse,20\n"))
    assert found[2] == "Cable / USB | 10"


def test_of_two_marks_that_part_rows_as_evenly_the_comma_is_that_of_decimals(write: Write) -> None:
    rows = "2024-01-01;12,1;3,1;5,1\n2024-01-02;12,4;3,0;5,2\n"
    found, _ = read(write("a.csv", rows.replace(";5,1", ";5").replace(";5,2", ";6")))
    assert found[1] == "2024-01-01 | 12,1 | 3,1 | 5"


def test_the_delimiter_that_a_first_line_states_is_no_head(write: Write) -> None:
    found, _ = read(write("a.csv", "sep=;\nName;Plus\nAda;1\nBo;2\n"))
    assert found == {2: "Name | Plus", 3: "Ada | 1", 4: "Bo | 2"}


ONE_LESS = "line 1 has a cell less than the rows below; their first is read without a head"


@pytest.mark.parametrize(
    ("text", "heads", "warnings"),
    [
        ("mpg,cyl\nMazda,21,6\nFiat,32,4\n", " | mpg | cyl", (ONE_LESS,)),
        ("2023;2024\nSales;10,5;20\nCosts;5;6\n", " | 2023 | 2024", (ONE_LESS,)),
        ("a,b\nx,y,\nz,w,\n", "a | b | ", ()),
    ],
    ids=["names of rows", "years", "an empty end"],
)
def test_heads_that_are_one_fewer_than_the_columns_stay_heads(
    write: Write, text: str, heads: str, warnings: tuple[str, ...]
) -> None:
    parsed = parse(write("a.csv", text), "csv")
    (block,) = parsed.blocks
    assert block.text.split("\n")[0] == heads and block.level == 1
    assert parsed.warnings == warnings


def test_a_remark_above_heads_is_none_though_it_has_as_many_cells_but_one(write: Write) -> None:
    remark, block = parse(write("a.csv", "Report,North\nname,age,city\nAnna,34,Bern\nBo,31,Ulm\n"), "csv").blocks
    assert remark.text == "Report, North" and block.text.startswith("name | age | city\n")
