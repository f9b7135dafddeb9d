from __future__ import annotations

from typing import Any

import pytest

from ragweave.components.context import Context
from ragweave.nodes.route import fallback_corpora
from ragweave.nodes.state import State
from ragweave.tests.support import build_library

ALL = ["paragraph", "document", "image", "clip", "video"]


def state(tasks: list[tuple[str, str]], hops: list[tuple[str, list[str]]] = [], routed: bool = True) -> State:  # noqa: B006
    made: Any = {
        "tasks": [{"corpus": corpus, "queries": [query, "another phrasing"]} for corpus, query in tasks],
        "hops": [{"query": query, "corpora": corpora} for query, corpora in hops],
        "routes": [{"hop": 1}] if routed else [],
    }
    found: State = made
    return found


@pytest.mark.parametrize(
    ("tasks", "hops", "held", "left"),
    [
        ([("paragraph", "q")], [], ALL, ["clip", "image"]),
        ([("document", "q")], [], ALL, ["clip", "image"]),
        ([("paragraph", "q")], [], ["paragraph", "document"], []),
        ([("video", "q")], [], ALL, ["paragraph", "image"]),
        ([("clip", "q")], [("q", ["paragraph"])], ALL, ["image"]),
        ([("paragraph", "another question")], [], ALL, []),
        ([("image", "other")], [("q", ["paragraph"])], ALL, ["clip", "image"]),
        ([], [], ALL, []),
    ],
)
def test_what_no_round_searched_for_the_query_is_left(
    tasks: list[tuple[str, str]], hops: list[tuple[str, list[str]]], held: list[str], left: list[str]
) -> None:
    assert sorted(fallback_corpora(state(tasks, hops), "q", held)) == sorted(left)


def test_a_graph_without_a_router_has_searched_what_it_searches() -> None:
    assert fallback_corpora(state([("paragraph", "q")], routed=False), "q", ALL) == []


async def test_a_question_that_was_sent_to_the_wrong_corpus_is_asked_of_the_others(tmp_path: Any, home: Any) -> None:
    from ragweave.app.api import astate

    talk = (
        "WEBVTT\n\n00:00:05.000 --> 00:00:14.000\nThe boat inside is called Petrel, and she has been launched "
        "sixty-four times since 1988.\n"
    )
    note = "# Bees\n\nA hive holds one queen and many thousand workers. The workers gather nectar in summer.\n"
    await build_library(tmp_path / "files", {"walk.vtt": talk, "bees.md": note})
    found = await astate("How often has Petrel been launched?", context=Context(mode="extractive", route_by="local"))
    answer = found["answer"]
    assert answer is not None
    assert "sixty-four" in answer.text
    assert [r["by"] for r in found["routes"]][-1:] == ["fallback"] or found["routes"][0]["corpora"] != ["paragraph"]
    forced = await astate(
        "How often has Petrel been launched?", context=Context(mode="extractive", corpora=("paragraph",))
    )
    assert forced["answer"] is not None and forced["answer"].abstained
    assert len(forced["routes"]) == 1
