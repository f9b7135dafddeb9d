from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.models import table as module
from ragweave.models.table import Table, tables

FLEET = """Vans of the bakery, as of 3 March 2026
Van | Bought | Mileage (km) | Fuel
Ada | 2019 | 81,400 | diesel
Bob | 2022 | 30,150 | electric
Cid | 2023 | 12,020 | electric
All | | 123,570 |
"""


def only(text: str) -> Table:
    (found,) = tables([text])
    return found


def test_heads_units_kinds_and_the_line_before_are_read() -> None:
    table = only(FLEET)
    assert table.before == "Vans of the bakery, as of 3 March 2026"
    assert [(c.head, c.unit, c.kind) for c in table.columns] == [
        ("Van", "", "text"),
        ("Bought", "", "key"),
        ("Mileage", "km", "number"),
        ("Fuel", "", "text"),
    ]


def test_a_last_row_that_adds_the_others_up_is_not_one_of_them() -> None:
    table = only(FLEET)
    assert [r.cells[0] for r in table.body] == ["Ada", "Bob", "Cid"]
    assert len(only(FLEET.replace("123,570", "123,571")).body) == 4


def test_years_over_figures_are_heads_and_figures_are_not() -> None:
    assert only("Source | 2023 | 2024\nFees | 10 | 12").heads == ("Source", "2023", "2024")
    assert not tables(["Oslo | 1 | 2\nBergen | 3 | 4"])


def test_no_over_numbers_is_a_head_and_no_among_answers_is_not() -> None:
    assert only("no | item | claimed by\n1 | umbrella | Ada\n2 | ring | Ben").heads == ("no", "item", "claimed by")
    assert not tables(["yes | no | maybe\nno | yes | often\nyes | yes | seldom"])


def test_a_table_that_was_cut_is_whole_again_with_its_heads_once() -> None:
    (table,) = tables(["Bird | Seen\nWren | 3\nRobin | 4", "Bird | Seen\nTit | 5", "Jay | 1\nAnd prose after it."])
    assert [(r.cells, r.text) for r in table.body] == [
        (("Wren", "3"), 0),
        (("Robin", "4"), 0),
        (("Tit", "5"), 1),
        (("Jay", "1"), 2),
    ]


def test_a_wider_table_in_the_next_text_is_another_one() -> None:
    assert len(tables(["Bird | Seen\nWren | 3", "Tree | Height | Age\nOak | 20 | 300"])) == 2


def test_a_table_goes_on_below_a_gap_and_not_in_another_section() -> None:
    (one,) = tables(["Bird | Seen\nWren | 3\n\nTit | 5\n\nBird | Seen\nJay | 1"])
    assert [r.cells[0] for r in one.body] == ["Wren", "Tit", "Jay"]
    assert len(tables(["Bird | Seen\nWren | 3\n\nTree | Height\nOak | 20"])) == 2
    assert len(tables(["Bird | Seen\nWren | 3", "Tree | Height\nOak | 20"], [], ["birds", "trees"])) == 2


def test_a_row_is_named_by_as_many_cells_as_it_takes() -> None:
    table = only("Bread | Size | Price\nRye | small | 3.20\nRye | large | 5.80\nOat | small | 3.90")
    assert [table.label(i) for i in range(3)] == ["Rye, small", "Rye, large", "Oat"]
    numbered = only("Room | Beds\n4 | 2\n7 | 3\n9 | 1")
    assert numbered.label(1) == "Room 7"


def test_a_column_that_leaves_its_notation_open_is_read_like_the_others_or_its_language() -> None:
    open_ = "Station | Patients | Days\nSurgery | 1.240 | 3\nEyes | 3.100 | 5"
    by_others = only(open_.replace("| 5", "| 5,5"))
    (by_language,) = tables([open_], ["de"])
    assert [[int(v.amount) for v in t.columns[1].numbers if v] for t in (by_others, by_language)] == [[1240, 3100]] * 2


def test_the_notation_of_a_column_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(module, "notation", lambda cells: asked.append(tuple(cells)) or ".")
    for column in only(FLEET.replace("30,150", "30,150.5")).columns:
        assert column.kind and column.numbers and not column.unsure
    assert len(asked) == len(set(asked))


@given(st.lists(st.lists(st.text("abc |\\", max_size=6), min_size=2, max_size=4), min_size=1, max_size=6))
def test_no_text_of_bars_is_too_odd_to_be_read(rows: list[list[str]]) -> None:
    for table in tables(["\n".join(" | ".join(r) for r in rows)]):
        assert all(len(r.cells) == len(table.heads) for r in table.rows)
        assert [table.label(i) for i in range(len(table.body))]
