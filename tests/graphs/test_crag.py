from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragweave.components.answer import Answer
from ragweave.graphs.crag import graph
from ragweave.models.chat import override
from ragweave.tests.support.knobs import context as knobs_of

pytestmark = pytest.mark.usefixtures("library")
KNOWN = "When was the Corvane Observatory opened?"
UNKNOWN = "Who repaired the harbour crane of Vellmouth in 1967?"
CRANE = (
    "The harbour crane of Vellmouth was repaired in 1967 by the engineer Tolly Brandt, who replaced the"
    " jib.\n"
)


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands in for the web."""
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / "crane.md").write_text(
        f"---\nurl: https://vellmouth.example/crane\n---\n# The crane\n\n{CRANE}"
    )
    monkeypatch.setenv("RAGWEAVE_WEB_FOLDER", str(folder))
    return folder


async def walk(question: str, **knobs: Any) -> tuple[dict[str, Any], list[list[str]]]:
    """Run the graph; return the last state, and the nodes of each superstep."""
    context = knobs_of(**{"mode": "extractive", **knobs})
    steps: list[list[str]] = []
    state: dict[str, Any] = {}
    stream = graph.astream(
        {"messages": [("human", question)]}, context=context, stream_mode=["updates", "values"], version="v2"
    )
    nodes: list[str] = []
    async for part in stream:
        if part["type"] == "updates":
            nodes += list(part["data"])
        else:
            state = part["data"]
            steps.append(sorted(nodes))
            nodes = []
    return state, [s for s in steps if s]


BEFORE = [["condense"], ["retrieve"], ["fuse"], ["grade"]]
AFTER = [["generate"], ["check"]]


async def test_ambiguous_does_both_side_by_side_and_keeps_both_origins(web: Path) -> None:
    (web / "corvane.md").write_text(
        "# Corvane Observatory\n\nThe observatory was opened to scholars in 1931.\n"
    )
    state, steps = await walk(KNOWN, web="auto", upper=1.0, lower=-1.0, corpora=("paragraph",))
    assert steps == [*BEFORE, ["refine", "search_web"], *AFTER]
    assert {s["origin"] for s in state["knowledge"]} == {"library", "web"}


async def test_incorrect_goes_to_the_web_instead(web: Path) -> None:
    state, steps = await walk(UNKNOWN, web="auto", upper=1.0, lower=1.0, corpora=("paragraph",))
    assert steps == [*BEFORE, ["search_web"], *AFTER]
    assert {s["origin"] for s in state["knowledge"]} == {"web"}
    answer: Answer = state["answer"]
    assert "Tolly Brandt" in answer.text
    assert answer.citations[0].locator["url"] == "https://vellmouth.example/crane"


async def test_incorrect_without_the_web_keeps_no_knowledge_and_quotes_the_closest_for_what_it_is() -> None:
    state, steps = await walk(KNOWN, upper=1.0, lower=1.0, corpora=("paragraph",))
    assert steps == [*BEFORE, *AFTER]
    assert state["knowledge"] == []
    assert state["answer"].kind == "quotes" and state["answer"].confidence == 0


async def test_grading_and_refining_by_a_model_are_one_call_each(play: Any) -> None:
    model = play(grade=play.grades("relevant"))
    with override(writer=model):
        state, _ = await walk(KNOWN, mode="auto", grade_by="llm", strip_mode="sentences")
    assert play.parts(model) == ["grade", "grade", "generate"]
    assert state["grade"]["by"] == "llm"
    assert "1931" in state["answer"].text
