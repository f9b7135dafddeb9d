"""The same fact at three dates, and one report that lies in two folders, before a scripted chat model."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.components.context import Context
from ragweave.graphs.agent import graph
from ragweave.models.chat import override

REPORT = (
    "---\ndate: {date}\n---\n\n# Fare of the Pell ferry\n\nThe fare of the Pell ferry is {fare} crowns.\n"
)
TEXTS = {
    "a.md": REPORT.format(date="2025-04-01", fare="3.10"),
    "b.md": REPORT.format(date="2025-04-20", fare="4.20"),
    "c.md": REPORT.format(date="2025-05-01", fare="5.30"),
    "copy of c.md": REPORT.format(date="2025-05-01", fare="5.30") + "\n<!-- forwarded -->\n",
}
LATEST = "What is the latest fare of the Pell ferry?"


@pytest.fixture
def _news(stock: Any) -> None:
    stock(TEXTS)


async def ask(
    play: Any, question: str, recency: Any = "on", **parts: Any
) -> tuple[dict[str, Any], list[Any]]:
    model = play(**{"generate": "The fare is 5.30 crowns [1].", **parts})
    with override(writer=model):
        state = await graph.ainvoke(
            {"messages": [("human", question)]},
            context=Context(grade_by="llm", recency=recency),
        )
    return state, model.calls


@pytest.mark.usefixtures("_news")
async def test_writer_and_reasoner_see_dates_and_the_other_places_of_a_duplicate(play: Any) -> None:
    _, calls = await ask(play, LATEST)
    for words in ("numbered evidence", "numbered documents"):
        prompt = next(c.prompt for c in calls if words in c.prompt)
        # A first of a month that no text names may stand for the month.
        assert "; 2025-04)" in prompt and "; 2025-04-20)" in prompt
        assert "; 2025-05; also in copy of c.md)" in prompt or "; 2025-05; also in c.md)" in prompt
