"""A question that is asked about a stretch of time stays within it, in every graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragweave.app.api import astate
from ragweave.components.context import Context
from ragweave.corpora.store.library import open_library
from ragweave.graphs.run import GRAPHS
from ragweave.tests.support.talks import TALK, script, written


async def within(start: float, end: float) -> set[str]:
    library = await open_library()
    held = [i for s in await library.sources() for i in await library.items_of(s.id, "clip")]
    return {i.id for i in held if i.locator["end"] > start and i.locator["start"] < end}


PLAIN = ("crag", "rag_fusion", "auto_rag", "universal_rag")


@pytest.mark.parametrize("graph", PLAIN)
@pytest.mark.parametrize(
    ("question", "knobs", "within"),
    [
        ("What is said about the moon?", {"sources": ("bread",)}, ("bread", 0, 60)),
        ("What is said about the comet?", {"from_time": 60, "to_time": 70}, ("comet", 60, 70)),
        ("What is said about the comet between 1:00 and 1:10?", {}, ("comet", 60, 70)),
        ("What is said about the comet?", {"sources": ("bread",), "to_time": 5}, ("bread", 0, 5)),
    ],
)
async def test_every_graph_stays_within_the_recording_and_the_time_range(
    recordings: Path, graph: str, question: str, knobs: dict[str, Any], within: tuple[str, float, float]
) -> None:
    context = Context(mode="extractive", corpora=("clip",), max_hops=1, **knobs)
    found = (await astate(question, context=context, graph=graph))["evidence"]
    assert found
    title, start, end = within
    assert all(e["title"] == title for e in found)
    assert all(e["locator"]["end"] > start and e["locator"]["start"] < end for e in found)


@pytest.mark.parametrize("graph", [*GRAPHS])
@pytest.mark.parametrize(("start", "end"), [(None, 5.0), (12.0, 17.0), (60.0, 70.0), (75.0, None)])
@pytest.mark.parametrize(
    "question", ["What is said about the comet?", "What is the talk about?", "Who found it?"]
)
async def test_nothing_is_cited_that_lies_outside_the_time_range(
    recordings: Path, graph: str, start: float | None, end: float | None, question: str
) -> None:
    state = await astate(
        question, context=Context(mode="extractive", from_time=start, to_time=end), graph=graph
    )
    places = [c.locator for c in state["answer"].citations] + [e["locator"] for e in state["evidence"]]
    assert all(p["end"] > (start or 0) and (end is None or p["start"] < end) for p in places)
    outside = [text for at, text in TALK if at + 5 <= (start or 0) or (end is not None and at >= end)]
    told = [
        state["answer"].text,
        *(e["text"] for e in state["evidence"]),
        *(s["text"] for s in state["knowledge"]),
    ]
    assert not any(text in shown for text in outside for shown in told)


@pytest.mark.parametrize("preset", ["none", "video-rag-paper"])
async def test_a_model_reads_nothing_that_lies_outside_the_time_range(recordings: Path, preset: Any) -> None:
    model = script(generate="The comet returns every ninety years [1].")
    state = await written(model, look="off", preset=preset, from_time=64.0, to_time=75.0)
    prompts = [c.prompt for c in model.calls]
    assert any("ninety years" in prompt for prompt in prompts)
    assert not any(text in prompt for prompt in prompts for at, text in TALK if at != 65)
    cited = [(c.locator["start"], c.locator["end"]) for c in state["answer"].citations]
    assert cited == ([(65.0, 70.0)] if preset == "none" else [])
