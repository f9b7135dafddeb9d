"""Questions over recordings with scripted chat models."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from ragweave.app.api import astate
from ragweave.components import look as looking
from ragweave.components.clips import AT_LEAST
from ragweave.components.context import Context
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.frames import add_frames
from ragweave.tests.support.library import build_library
from ragweave.tests.support.talks import TALK, script, written


async def test_a_model_rewrites_judges_and_writes_in_three_calls(recordings: Path) -> None:
    model = script()
    state = await written(model, look="off", grade_by="llm", effort="high")
    assert "Ada Ostrander" in state["answer"].text
    assert len(model.calls) == 3
    assert state["answer"].citations[0].locator["start"] == 14.0


def judged(model: ScriptedChat) -> list[str]:
    """Return the calls that asked for verdicts over passages."""
    return [c.prompt for c in model.calls if "judge whether passages" in c.prompt]


async def graded(model: ScriptedChat, **knobs: Any) -> Any:
    """Ask the agent about the comet, with a model that grades."""
    from ragweave.models.chat import override

    with override(writer=model):
        knobs = {"corpora": ("clip",), "look": "off"} | knobs
        return await astate(
            "Who found the comet?", context=Context(mode="llm", grade_by="llm", max_hops=1, **knobs)
        )


async def test_only_what_the_filter_has_not_judged_is_asked_about(recordings: Path, tmp_path: Path) -> None:
    await build_library(
        tmp_path / "notes", {"comet.md": "# Comet\n\nAda Ostrander found the comet with a mirror."}
    )
    model = script()
    await graded(model, corpora=("clip", "paragraph"))
    clips, rest = judged(model)
    assert "found by Ada Ostrander in 1889" in clips and "with a mirror" not in clips
    assert "with a mirror" in rest and "1889" not in rest


async def test_a_clip_that_was_looked_at_since_is_judged_with_what_was_seen(recordings: Path) -> None:
    from ragweave.models.chat import override

    await asyncio.to_thread(add_frames)
    looking._blind.clear()
    model = script()
    with override(vision=ScriptedChat(react=lambda _: "A woman at a telescope.")):
        await graded(model, look="auto")
    clips, again = judged(model)
    assert "telescope of" not in again and "A woman at a telescope." in again and "A woman" not in clips


async def test_where_the_judge_keeps_none_the_best_of_the_pool_stay(recordings: Path) -> None:
    none = {"verdicts": [{"n": n, "verdict": "irrelevant"} for n in range(1, 20)]}
    state = await written(script(grade=none), look="off")
    clips = [e for e in state["evidence"] if e["corpus"] == "clip"]
    assert 0 < len(clips) <= AT_LEAST


async def test_as_published_each_clip_is_judged_by_itself_and_where_all_are_rejected_the_chunks_are_read(
    recordings: Path,
) -> None:
    kept, none = script(), script(judge="no")
    for model in (kept, none):
        state = await written(model, look="off", preset="video-rag-paper")
        assert "Ada Ostrander" in state["answer"].text and not state["answer"].citations
        asked = [c.prompt for c in model.calls if "decide whether a clip" in c.prompt]
        assert len(asked) > 2 and all(a.count("<<<") == 1 for a in asked)
        prompt = model.calls[-1].prompt
        assert "video_name,start_time,end_time,content" in prompt and "Thank you, and good night." in prompt
    assert not [e for e in state["evidence"] if e["corpus"] == "clip"]


async def test_a_time_outside_the_evidence_is_not_verified(recordings: Path) -> None:
    model = script(generate="At 45:10 the comet was found by Ada Ostrander in 1889 [1].")
    state = await written(model, look="off")
    assert [s.support for s in state["answer"].sentences] == ["contradicted"]


async def test_a_writer_reads_the_chunks_around_the_nearest_clip_where_the_preset_asks_for_them(
    recordings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragweave.nodes.merge.CLIPS", 1)
    shown = []
    for preset in ("video-rag-paper", "none"):
        model = script()
        state = await written(model, look="off", preset=preset)
        shown.append(model.calls[-1].prompt)
        assert [e["corpus"] for e in state["evidence"]].count("clip") == 1
    assert all(text in shown[0] for _, text in TALK)
    assert not any("crater" in prompt for prompt in shown[1:])


async def test_a_clip_that_is_read_beside_the_evidence_is_cited_by_its_own_seconds(
    recordings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragweave.nodes.merge.CLIPS", 1)

    def react(messages: list[Any]) -> Any:
        numbers = re.findall(r"^\[(\d+)\]$", messages[-1].text.partition("a crater")[0], re.M)
        return f"A crater is named after Ostrander [{numbers[-1]}]."

    state = await written(script(generate=react), look="off", method={"chunk_tokens": 12_000})
    [cited] = state["answer"].citations
    assert cited.id not in {e["id"] for e in state["evidence"]}
    assert cited.locator["start"] <= 95.0 < cited.locator["end"] and "crater" in cited.quote
