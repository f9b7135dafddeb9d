"""Figures over recordings."""

from __future__ import annotations

import json
from pathlib import Path

from ragweave.components.context import Context
from ragweave.evals.video import (
    ask_all,
    figures,
    prepare,
    read_asked,
)

TALK = """WEBVTT

00:00:00.000 --> 00:00:06.000
The comet of Pell was found by Ada Ostrander with a sixty centimetre telescope on Mount Helder.

00:00:40.000 --> 00:00:46.000
A loaf of rye bread rests sixteen hours before the baker Boris Tamm bakes it in a stone oven.
"""


async def test_questions_are_asked_of_a_folder_with_subtitles(tmp_path: Path, home: Path) -> None:
    from ragweave.graphs.video_rag import graph

    data = tmp_path / "data"
    data.mkdir()
    (data / "talk.vtt").write_text(TALK, encoding="utf-8")
    row = {"id": 1, "question": "Who found the comet?", "answers": ["Ostrander"], "videos": ["talk"], "t": 3}
    (data / "qa.jsonl").write_text(json.dumps(row), encoding="utf-8")
    library = await prepare(data, tmp_path / "work", subtitles=True)
    outcomes = await ask_all(
        graph, read_asked(data / "qa.jsonl"), Context(library=library, mode="extractive")
    )
    found = figures(outcomes)
    assert found["contains_gold"] == found["time_within_15s"] == found["retrieved_within_15s"] == 1.0
