from __future__ import annotations

from typing import Any

from ragweave.components.context import Context
from ragweave.tests.support import build_library


async def test_a_question_that_was_sent_to_the_wrong_corpus_is_asked_of_the_others(
    tmp_path: Any, home: Any
) -> None:
    from ragweave.app.api import astate

    talk = (
        "WEBVTT\n\n00:00:05.000 --> 00:00:14.000\nThe boat inside is called Petrel, and she has been launched"
        " sixty-four times since 1988.\n"
    )
    note = (
        "# Bees\n\nA hive holds one queen and many thousand workers. The workers gather nectar in summer.\n"
    )
    await build_library(tmp_path / "files", {"walk.vtt": talk, "bees.md": note})
    found = await astate(
        "How often has Petrel been launched?", context=Context(mode="extractive", route_by="local")
    )
    answer = found["answer"]
    assert answer is not None
    assert "sixty-four" in answer.text
    assert [r["by"] for r in found["routes"]][-1:] == ["fallback"] or found["routes"][0]["corpora"] != [
        "paragraph"
    ]
    forced = await astate(
        "How often has Petrel been launched?", context=Context(mode="extractive", corpora=("paragraph",))
    )
    assert forced["answer"] is not None and forced["answer"].abstained
    assert len(forced["routes"]) == 1
