"""Questions to whole tables: the statement, its result, the answer that cites it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ragweave.components.computed import is_same
from ragweave.components.context import Context
from ragweave.components.method import Method
from ragweave.components.run_context import RunContext, TurnState
from ragweave.corpora.store.library import open_library
from ragweave.graphs.agent import graph
from ragweave.models.chat import override
from ragweave.models.meter import Limits, Meter
from ragweave.serve.media import answer_with_openings
from ragweave.tests.support import ScriptedChat

ROWS = [
    (f"2025-{n % 12 + 1:02}-{n % 28 + 1:02}", ("Bell", "Aldi", "Shell")[n % 3], f"{n}.25")
    for n in range(1, 901)
]
SPEND = "Date,Shop,Amount\n" + "".join(f"{','.join(row)}\n" for row in ROWS)
BELL = sum(float(amount) for _, shop, amount in ROWS if shop == "Bell")
QUESTION = "How much did I spend at Bell in total?"
STATEMENT = "Table 1: SELECT sum(amount) FROM t WHERE shop = 'Bell'"


@pytest.fixture(autouse=True)
def library(stock: Callable[[Mapping[str, str]], Path]) -> Path:
    return stock(
        {"spend.csv": SPEND, "note.md": "# Shops\n\nBell sells milk.\n", "unrelated.md": "# Tea\n\nGreen.\n"}
    )


async def ask(model: ScriptedChat, question: str = QUESTION, **knobs: Any) -> dict[str, Any]:
    with override(writer=model):
        state: dict[str, Any] = await graph.ainvoke(
            {"messages": [("human", question)]}, context=Context(**knobs)
        )
    return state


def prompts(model: ScriptedChat) -> list[str]:
    return [call.prompt for call in model.calls if "from numbered documents" in call.prompt]


async def test_a_prompt_that_shows_a_part_of_a_table_says_which_and_how_to_ask_for_all(play: Any) -> None:
    model = play(reason="Final Answer: UNKNOWN.")
    await ask(model)
    shown = prompts(model)[0]
    assert " of 900)" in shown
    assert "Table 1 has 900 rows" in shown
    assert (
        "t(row INTEGER, date TEXT as YYYY-MM-DD, shop TEXT (one of Aldi, Bell, Shell), amount REAL)" in shown
    )
    assert "1 | 2025-02-02 | Aldi | 1.25" in shown


@pytest.mark.parametrize("tokens", [1_500, 4_000, 30_000])
async def test_a_document_that_is_read_up_to_a_budget_shows_whole_rows_and_counts_them(
    play: Any, tokens: int
) -> None:
    model = play(reason="Final Answer: UNKNOWN.")
    await ask(model, corpora=["document"], method=Method(turn_tokens=tokens))
    known = {" | ".join(row) for row in ROWS}
    for number, title, text in re.findall(
        r"^\[(\d+)\]\n<<<\n([^\n]*)\n(.*?)\n>>>", prompts(model)[0], re.S | re.M
    ):
        if title.startswith("spend.csv"):
            shown = [line for line in text.split("\n") if " | " in line and line != "Date | Shop | Amount"]
            assert {*shown} <= known, number
            said = re.search(r"rows (\d+)-(\d+) of 900", title)
            assert len(shown) == (int(said[2]) - int(said[1]) + 1 if said else 900)


async def test_a_statement_runs_over_all_rows_and_its_result_is_the_next_document(play: Any) -> None:
    model = play(
        reason=[f"I need all rows.\n{STATEMENT}", lambda m: f"Final Answer: {BELL:.2f} in all [{last(m)}]."]
    )
    state = await ask(model)
    asked, shown = model.calls[1].messages[-2:]
    assert STATEMENT in asked.text
    assert f"Counted: 300 of 900 rows, where shop = 'Bell'\nsum(amount)\n{BELL:.0f}" in shown.text
    assert state["answer"].text.startswith(f"{BELL:.2f} in all.")
    assert [h["query"] for h in state["hops"]] == [QUESTION, STATEMENT]
    (row,) = [e for e in state["evidence"] if "computed" in e]
    place = row["computed"]["places"][0]
    assert (row["computed"]["counted"], place["row"], place["line"]) == (300, 3, 4)
    shown = (await (await open_library()).items([place["item"]]))[place["item"]]
    assert shown.text[slice(*place["chars"])] == f"{ROWS[2][0]} | Bell | {ROWS[2][2]}"


def last(messages: list[Any]) -> int:
    return max(int(n) for n in re.findall(r"^\[(\d+)\]$", messages[-1].text, re.M))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("Table 1: DROP TABLE t", None),
        ("Table 1: SELECT price FROM t", "no such column: price"),
        ("Table 9: SELECT count(*) FROM t", "Document 9 shows no table"),
        ("Table 1: SELECT count(*) FROM sqlite_master", "reads no table of this document"),
    ],
)
async def test_a_statement_that_cannot_be_run_is_answered_in_a_sentence(
    play: Any, said: str, why: str | None
) -> None:
    model = play(reason=[said, "Final Answer: UNKNOWN."])
    await ask(model)
    assert why is None or why in prompts(model)[1]


async def test_a_turn_has_an_end_of_statements(play: Any) -> None:
    turns = iter(range(100))
    model = play(reason=lambda m: f"Table 1: SELECT count(*) + {next(turns)} FROM t")
    state = await ask(model, max_hops=1)
    assert sum(h["corpora"] == ["table"] for h in state["hops"]) == 4


async def test_the_library_itself_is_a_table(play: Any) -> None:
    said = "Table library: SELECT file, kind FROM library ORDER BY file"
    model = play(reason=[said, lambda m: f"Final Answer: There are 3 files [{last(m)}]."])
    state = await ask(model, "Which files do you have?")
    shown = prompts(model)[1]
    assert (
        "Counted: 3 of 3 rows\nfile | kind\nnote.md | markdown\nspend.csv | csv\nunrelated.md | markdown"
        in shown
    )
    assert [s.support for s in state["answer"].sentences] == ["computed"]


async def test_the_list_of_files_holds_what_the_run_may_search(play: Any) -> None:
    said = "Table library: SELECT count(*) FROM library"
    model = play(reason=[said, "Final Answer: UNKNOWN."])
    held = await (await open_library()).sources()
    await ask(model, "Which files do you have?", sources=[s.id for s in held if s.path.endswith("note.md")])
    assert "Counted: 1 of 1 rows" in prompts(model)[1]


async def test_a_result_that_is_too_long_to_read_says_that_rows_are_left_out(play: Any) -> None:
    model = play(reason=["Table 1: SELECT row, date, shop, amount FROM t", "Final Answer: UNKNOWN."])
    state = await ask(model)
    (row,) = [e for e in state["evidence"] if "computed" in e]
    assert len(row["text"]) <= 2_000
    kept = len(row["computed"]["rows"])
    assert row["text"].endswith(f"More rows are left out: these are the first {kept}.")
    assert row["text"].split("\n")[-2] == " | ".join(map(str, row["computed"]["rows"][-1]))


async def test_the_writer_is_shown_which_rows_of_a_table_it_reads(play: Any) -> None:
    model = play(reason="?", generate="UNKNOWN")
    await ask(model)
    written = [call.prompt for call in model.calls if "from numbered evidence" in call.prompt]
    assert written
    assert " of 900)" in written[0]


async def test_a_citation_of_a_result_carries_it_and_opens_the_table(play: Any) -> None:
    model = play(reason=[STATEMENT, lambda m: f"Final Answer: {BELL:.2f} in all [{last(m)}]."])
    state = await ask(model)
    (cited,) = (await answer_with_openings(await (await open_library()).about(), state["answer"]))[
        "citations"
    ]
    assert cited["computed"]["statement"] == STATEMENT.removeprefix("Table 1: ")
    assert (cited["computed"]["counted"], cited["computed"]["rows"]) == (300, [[BELL]])
    assert cited["open"]["view"] == "text"
    assert cited["open"]["href"].endswith(cited["computed"]["item"])
    assert cited["locator"]["file"] == "spend.csv"


async def test_a_sentence_that_its_result_holds_is_computed_without_a_model(play: Any) -> None:
    said = "You spent {} at Bell [{}]. In all it was {} [{}]."
    right, wrong = f"{BELL:,.2f}", f"{BELL + 1:,.2f}"
    model = play(reason=[STATEMENT, lambda m: "Final Answer: " + said.format(right, last(m), wrong, last(m))])
    answer = (await ask(model))["answer"]
    assert [s.support == "computed" for s in answer.sentences] == [True, False]
    cited = answer.citations[answer.sentences[0].citations[0] - 1]
    assert cited.quote.startswith("Result of: SELECT sum(amount)")


async def test_a_result_is_the_same_only_as_long_as_its_table_is(play: Any) -> None:
    state = await ask(play(reason=[STATEMENT, "Final Answer: UNKNOWN."]))
    (computed,) = [e["computed"] for e in state["evidence"] if "computed" in e]
    run = RunContext("check", Context(), TurnState(Meter(Limits())))
    assert await is_same(run, computed)
    assert not await is_same(run, {**computed, "rows": [[BELL + 1]]})
    library = await open_library()
    await library.remove(*(s.id for s in await library.sources() if s.path.endswith("spend.csv")))
    assert not await is_same(run, computed)
