"""Which of the lines of a log tells the last time, and which the first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.app.api import astate
from ragweave.minds.context import Context
from ragweave.minds.small.answer.gather import edge_of
from ragweave.tests.support import build_library

LOG = """Boiler log

2022-03-14 Boiler serviced by Hartley, filter changed.
2023-03-20 Boiler serviced by Hartley, pressure low.
2024-11-02 New thermostat fitted in the hall.
2024-04-11 Boiler serviced by Osman, pump replaced.
"""
LIST = "# House\n\n- 12.01.2022: boiler serviced by Kemp\n- 14.02.2024: boiler serviced by Lind\n- 03.03.2023: paint\n"


@pytest.mark.parametrize(
    ("question", "log", "told"),
    [
        ("When was the boiler last serviced?", LOG, "2024-04-11 Boiler serviced by Osman, pump replaced."),
        ("Who serviced the boiler last?", LOG, "2024-04-11 Boiler serviced by Osman, pump replaced."),
        ("When did Hartley last service the boiler?", LOG, "2023-03-20 Boiler serviced by Hartley, pressure low."),
        ("When was the boiler first serviced?", LOG, "2022-03-14 Boiler serviced by Hartley, filter changed."),
        ("When was the last service of the boiler?", LIST, "House: 14.02.2024: boiler serviced by Lind"),
    ],
)
async def test_of_the_lines_of_a_log_the_last_tells_the_last_time(
    home: Path, tmp_path: Path, question: str, log: str, told: str
) -> None:
    await build_library(tmp_path / "files", {"boiler.txt" if log is LOG else "house.md": log})
    answer = (await astate(question, context=Context(mind="small")))["answer"]
    assert answer.text.replace("[1]", "").strip() == told and not answer.abstained


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("When was the boiler last serviced?", ("When was the boiler serviced?", True)),
        ("What was the most recent service?", ("What was the service?", True)),
        ("When was it first lit?", ("When was it lit?", False)),
        ("How long does the battery last?", None),
        ("How many came in the last 3 years?", None),
        ("What was spent in the last year?", None),
        ("Who lives on the first floor?", None),
        ("What is her last name?", None),
    ],
)
def test_only_an_end_that_is_asked_for_is_one(question: str, read: tuple[str, bool] | None) -> None:
    assert edge_of(question) == read
