"""Which table of a library is worked out."""

from __future__ import annotations

from pathlib import Path

from ragweave.app.api import astate
from ragweave.minds.context import Context
from ragweave.tests.support import build_library


async def test_of_two_tables_that_answer_alike_the_corrected_one_counts(home: Path, tmp_path: Path) -> None:
    heads = "Name,Bins,Bunk\n"
    texts = {
        "pickers-2026.csv": heads + "Marisol Vega,101,B2\nRamiro Ochoa,230,B1\n",
        "pickers-2026-v2-corrected.csv": "# by hand, from the cards\n"
        + heads
        + "Marisol Vega,108,B2\nRamiro Ochoa,236,B1\n",
    }
    await build_library(tmp_path / "files", texts)
    state = await astate("How many bins did Marisol Vega pick?", context=Context(mind="small"))
    assert "108" in state["answer"].text and "101" not in state["answer"].text
