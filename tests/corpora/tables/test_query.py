from __future__ import annotations

import time
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.blocks import Block
from ragweave.corpora.store.tables import KeptTable, packed
from ragweave.corpora.tables.cells import as_number, read_columns
from ragweave.corpora.tables.keep import tables_of
from ragweave.corpora.tables.query import MOST_RESULT, TableResult, query
from ragweave.models.errors import InputError

TEXT = """date | shop | amount
2025-01-02 | Bell | 12.50
2025-01-03 | Álvaro | 7.00
2025-02-03 | Bell | 1.25
2025-02-04 | Shell | n/a
2025-02-05 | Bell | 3.00
2025-02-06 | Bell | 4.00"""
TABLE = tables_of([Block(TEXT, "table", 1)], [])[0]
PARTS = [packed(TABLE.rows[:3]), packed(TABLE.rows[3:])]


async def ask(statement: str, table: KeptTable = TABLE, seconds: float = 5.0) -> TableResult:
    return await query(table, PARTS, statement, seconds=seconds)


async def test_a_sum_says_how_many_rows_it_counts_and_which() -> None:
    found = await ask("SELECT sum(amount) FROM t WHERE shop = 'Bell';")
    assert found.rows == ((20.75,),)
    assert (found.counted, found.total, found.places) == (4, 6, (1, 3, 5, 6))
    assert found.condition == "shop = 'Bell'"


async def test_the_rows_that_a_limit_leaves_are_the_places() -> None:
    found = await ask("SELECT shop FROM t WHERE amount < 5 ORDER BY amount LIMIT 1")
    assert (found.rows, found.counted, found.places) == ((("Bell",),), 3, (3,))


async def test_a_nested_statement_runs_and_its_rows_are_not_counted() -> None:
    found = await ask("SELECT max(n) FROM (SELECT count(*) AS n FROM t GROUP BY shop)")
    assert (found.rows, found.counted) == (((4,),), None)


async def test_a_condition_in_a_text_or_a_comment_is_none() -> None:
    found = await ask("SELECT count(*) FROM t -- WHERE shop = 'Bell'")
    assert (found.counted, found.condition) == (6, "")
    assert (await ask("SELECT count(*) FROM t WHERE shop <> 'x where y'")).condition == "shop <> 'x where y'"


async def test_like_knows_small_and_capital_letters_of_every_script() -> None:
    assert (await ask("SELECT count(*) FROM t WHERE shop LIKE 'á_VA%'")).rows == ((1,),)
    assert (await ask("SELECT count(*) FROM t WHERE shop LIKE '%el%l'")).rows == ((5,),)
    assert (await ask("SELECT count(*) FROM t WHERE shop LIKE 'Bel'")).rows == ((0,),)


async def test_a_result_has_an_end_and_says_so() -> None:
    found = await ask("SELECT a.row FROM t a, t b, t c")
    assert (len(found.rows), found.more) == (MOST_RESULT, True)


HOSTILE = [
    "DROP TABLE t",
    "DELETE FROM t",
    "UPDATE t SET amount = 0",
    "INSERT INTO t VALUES (1, 2, 3, 4, 5)",
    "CREATE TABLE u (x)",
    "CREATE TEMP VIEW v AS SELECT 1",
    "ATTACH DATABASE '/etc/passwd' AS p",
    "DETACH DATABASE main",
    "PRAGMA query_only = OFF",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM sqlite_master",
    "SELECT load_extension('/tmp/x.so')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('/tmp/x', 'y')",
    "VACUUM INTO '/tmp/copy.db'",
    "SELECT 1; DROP TABLE t",
    "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT count(*) FROM x",
    "SELECT hex(zeroblob(1000000000))",
    "SELECT printf('%.*c', 1000000000, 'x')",
    "SELECT randomblob(1000000000)",
    "BEGIN; SELECT 1",
    "SELECT fts3_tokenizer('simple')",
    "SELECT * FROM json_each('[1]')",
    "EXPLAIN SELECT * FROM t",
    "SELECT sqlite_version()",
    "",
    "Query: what did Bell cost?",
    "SELECT " + "(" * 200 + "1" + ")" * 200,
    "SELECT 1 " + "UNION SELECT 1 " * 50,
]


@pytest.mark.parametrize("statement", HOSTILE)
async def test_a_statement_that_asks_for_anything_else_is_refused_in_one_sentence(statement: str) -> None:
    with pytest.raises(InputError) as refused:
        await ask(statement)
    assert refused.value.what
    assert refused.value.remedy


@pytest.mark.parametrize("count", [3, 8])
async def test_a_statement_that_never_ends_is_stopped(count: int) -> None:
    many = ", ".join(f"t t{n}" for n in range(40))
    began = time.monotonic()
    with pytest.raises(InputError, match=r"stopped after 0\.3 seconds"):
        await ask(f"SELECT count(*) FROM {many}", seconds=0.3)
    assert time.monotonic() - began < 5


async def test_a_table_of_ten_million_rows_is_refused_before_it_is_read() -> None:
    with pytest.raises(InputError, match="A table of 10,000,000 rows cannot be queried: the most is 200,000"):
        await ask("SELECT count(*) FROM t", replace(TABLE, count=10_000_000))


async def test_a_wrong_column_names_those_that_there_are() -> None:
    with pytest.raises(InputError, match=r"no such column: price.*t\(row, date, shop, amount, amount_text\)"):
        await ask("SELECT price FROM t")


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1), st.sampled_from([",", ".", " ", "'", ""]))
def test_whole_numbers_come_back_as_they_were(values: list[int], between: str) -> None:
    # Two columns: decimals with the other mark say which convention the table has.
    mark = "," if between == "." else "."
    decimals = [f"{n}{mark}5" for n in range(len(values))]
    cells = [f"{n:,}".replace(",", between) for n in values]
    read = read_columns([cells, decimals])[0]
    assert (read.kind, read.values, read.odd) == ("integer", values, [])


@given(st.lists(st.integers(-(10**8), 10**8), min_size=1), st.sampled_from([",.", ".,", " ,", "'."]))
def test_decimals_come_back_as_they_were(hundredths: list[int], signs: str) -> None:
    between, mark = signs
    cells = [f"{n / 100:,.2f}".replace(",", "x").replace(".", mark).replace("x", between) for n in hundredths]
    read = read_columns([cells])[0]
    assert (read.kind, read.values) == ("real", [n / 100 for n in hundredths])


@given(
    st.lists(st.dates(date(1900, 1, 1), date(2100, 12, 31)), min_size=1),
    st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%B"]),
)
def test_days_come_back_as_they_were(days: list[date], form: str) -> None:
    cells = [f"{d.day} {d:%B} {d.year}" if form == "%B" else d.strftime(form) for d in days]
    read = read_columns([cells])[0]
    assert (read.kind, read.values) == ("date", [d.isoformat() for d in days])


@given(st.lists(st.text(), min_size=1))
def test_any_column_has_a_value_or_a_reason_for_each_cell(cells: list[str]) -> None:
    read = read_columns([cells])[0]
    assert len(read.values) == len(cells)
    lost = [
        n for n, (cell, value) in enumerate(zip(cells, read.values, strict=True)) if cell and value is None
    ]
    assert all(n in read.odd or len(cells[n]) == 1 for n in lost)


@pytest.mark.parametrize(
    ("cell", "value", "unit"),
    [
        ("$1,234.50", 1234.5, "$"),
        ("(1,234)", -1234, ""),
        ("−5 %", -5, "%"),
        ("12.50-", -12.5, ""),
        ("EUR 7", 7, "EUR"),
        ("3.5 kg", 3.5, "kg"),
        ("1,23,456", 123456, ""),
    ],
)
def test_an_amount_is_its_number_and_its_unit(cell: str, value: float, unit: str) -> None:
    found = as_number(cell, ".")
    assert found is not None
    assert found[:2] == (value, unit)


@pytest.mark.parametrize(
    "cell", ["00501", "12345678901234567890", "3-4", "12:30", "1.2.3", "v2", "(5", "", "12 Elm Road"]
)
def test_a_name_of_digits_is_no_amount(cell: str) -> None:
    assert as_number(cell, ".") is None


def test_a_column_that_is_sure_decides_for_one_that_is_not() -> None:
    assert read_columns([["1.234", "5.678"], ["1,5", "2,25"]])[0].values == [1234, 5678]
    unsure = read_columns([["1.234", "5.678"]])[0]
    assert unsure.values == [1.234, 5.678]
    assert "“1.234” is read as 1.234" in unsure.note


def test_days_that_cannot_be_told_from_months_stay_text_and_are_named() -> None:
    read = read_columns([["03/04/2025", "05/06/2025"]])[0]
    assert read.kind == "text"
    assert "03/04/2025" in read.note
    assert read_columns([["03/04/2025", "25/06/2025"]])[0].values == ["2025-04-03", "2025-06-25"]


def test_cells_of_another_kind_are_counted_as_such() -> None:
    read = read_columns([["1", "2", "3", "4", "5", "n/a", "-"]])[0]
    assert (read.kind, read.values, read.odd) == ("integer", [1, 2, 3, 4, 5, None, None], [5])


def test_currencies_that_differ_are_told_apart() -> None:
    read = read_columns([["5 EUR", "7 USD"]])[0]
    assert (read.values, read.units) == ([5, 7], ["EUR", "USD"])


def test_numbers_of_flats_are_no_amounts() -> None:
    assert read_columns([["10A", "11B", "12A"]])[0].kind == "text"
