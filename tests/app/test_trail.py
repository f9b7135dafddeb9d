"""The story of a run, short and at length."""

from __future__ import annotations

import io
import re
from typing import Any

from rich.console import Console

from ragweave.app.trail import Trail


def step(node: str, summary: str = "", **more: Any) -> dict[str, Any]:
    return {"type": "step", "node": node, "hop": 1, "by": "local", "summary": summary, "seconds": 0.003, **more}


PLAIN = [
    step("condense", "Q?", data={"question": "Q?"}),
    step("expand", "no useful rewrite"),
    step("route", "paragraph .82", data={"route": {"corpora": ["paragraph"], "why": "it names a text"}}),
    step("plan", "search paragraph", data={"corpora": ["paragraph"], "queries": ["Q?", "Or?"]}),
    *[step("channel", "0 clips")] * 12,
    step("retrieve", "paragraph: 30 places in 2 searches"),
    step("fuse", "8 of 43 places kept, best: Tides"),
    step("grade", "correct, best +0.97 of 8"),
    step("refine", "4 of 10 parts kept"),
    step("reason", "enough"),
    step("generate", "1 sentence", by="llm"),
    step("check", "1 sentence, 1 source", by="rule"),
]


def told(events: list[dict[str, Any]], *, full: bool, **options: Any) -> list[str]:
    out = Console(file=io.StringIO(), highlight=False, markup=False, **{"width": 80, "color_system": None, **options})
    trail = Trail(out, full=full)
    for event in events:
        trail.step(event)
    assert isinstance(out.file, io.StringIO)
    return [re.sub(r"\d+ ms", "N ms", line.rstrip()) for line in out.file.getvalue().splitlines()]


def test_a_plain_question_is_told_in_a_few_lines_with_time_counts_and_why() -> None:
    assert told(PLAIN, full=False) == [
        "Searched (N ms): paragraph in 2 phrasings (it names a text): 8 of 43 places kept, best: Tides",
        "Judged what came back (N ms): correct, best +0.97 of 8",
        "Asked what is still missing (N ms): enough",
        "Checked the answer (N ms): 1 sentence, 1 source",
    ]


def test_a_question_that_was_read_as_another_and_a_maker_that_is_no_rule_are_told() -> None:
    lines = told(
        [
            step("condense", "“And when?” read as “When was it lit?”", data={"question": "When was it lit?"}),
            step("grade", "ambiguous", by="llm", hop=2),
        ],
        full=False,
    )
    assert lines[0].endswith("“And when?” read as “When was it lit?”")
    assert lines[1] == "Judged what came back (round 2, N ms, llm): ambiguous"


def test_a_line_is_one_row_of_a_terminal() -> None:
    lines = told([step("grade", "word " * 100)], full=False, force_terminal=True)
    assert len(lines) == 1 and len(lines[0]) == 80 and lines[0].endswith("…")


def test_at_length_every_step_is_told_with_its_maker() -> None:
    lines = told([*PLAIN, step("new_node", by="", seconds=None, hop=2)], full=True, width=120)
    assert len(lines) == len(PLAIN) + 2
    assert lines[2].strip() == "3. Chose where to look (local, N ms): paragraph .82"
    assert lines[-2].strip() == "Round 2" and lines[-1].strip() == f"{len(PLAIN) + 1}. New node"


def test_a_long_step_is_indented_under_its_own_words() -> None:
    lines = told([step("condense", "word " * 20)], full=True)
    assert len(lines) > 1 and all(line.startswith("     ") for line in lines[1:])
