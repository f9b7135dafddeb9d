from __future__ import annotations

import time
from dataclasses import replace

import pytest

from ragweave.corpora.blocks import Block
from ragweave.corpora.store.tables import KeptTable, packed
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
