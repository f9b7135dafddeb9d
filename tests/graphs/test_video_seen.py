"""From the pixels of a film to a citation: a scripted vision model that tells the colour of what it is really shown."""

from __future__ import annotations

import asyncio
import base64
import io
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ragweave.app.api import aask, astate
from ragweave.components import look as looking
from ragweave.components.context import Context
from ragweave.components.indexing import aindex
from ragweave.corpora.ingest.events import Report
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.library import open_library
from ragweave.corpora.video.ffmpeg import binary
from ragweave.models.chat import override
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.knobs import context as knobs_of

COLOURS = ("red", "green", "blue")


def colours(messages: list[Any]) -> list[str]:
    """Return the colour of each picture that a call carries, from its pixels."""
    parts = [
        p for m in messages if isinstance(m.content, list) for p in m.content if p.get("type") == "image_url"
    ]
    data = [base64.b64decode(p["image_url"]["url"].partition(",")[2]) for p in parts]
    return [
        COLOURS[int(np.asarray(Image.open(io.BytesIO(d)).convert("RGB")).mean((0, 1)).argmax())] for d in data
    ]


def eyes() -> ScriptedChat:
    """Caption a clip at indexing; when it is asked, say what only a look with the question says."""

    def react(messages: list[Any]) -> str:
        seen = colours(messages)
        if "Question:" in messages[-1].text:
            return f"The wall of the harbour is {seen[0]} and wet." if len(set(seen)) == 1 else "NOTHING"
        return f"A {seen[0]} wall of a harbour."

    return ScriptedChat(react=react)


def mouth() -> ScriptedChat:
    """Extract an entity at indexing; rewrite, judge and write when asked, from what the evidence says of a colour."""

    def react(messages: list[Any]) -> Any:
        system, user = messages[0].text, messages[-1].text
        if "entities it speaks of" in system:
            return "entity | harbour | place | A wall of it is shown."
        if "prepare the search" in system:
            return {"statement": "The wall is wet.", "scene": "a wall", "keywords": ["wall", "wet"]}
        if "judge whether passages" in system:
            return {"verdicts": [{"n": n, "verdict": "relevant"} for n in (1, 2, 3)]}
        if "decide whether a clip" in system:
            return "yes"
        return "The wall of the harbour is green and wet [1]." if "green and wet" in user else "UNKNOWN"

    return ScriptedChat(react=react)


@pytest.fixture
def film(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a silent film of three colours, half a minute each."""
    monkeypatch.setenv("RAGWEAVE_VISION", "eye-1")
    monkeypatch.setenv("RAGWEAVE_ENTITIES", "llm")
    corpora_settings.cache_clear()
    looking._blind.clear()
    parts = [f"color=c={c}:size=160x120:rate=5:duration=30" for c in ("red", "lime", "blue")]
    given = [arg for part in parts for arg in ("-f", "lavfi", "-i", part)]
    path = tmp_path / "harbour.mp4"
    joined = ["-filter_complex", "concat=n=3:v=1:a=0", "-pix_fmt", "yuv420p"]
    subprocess.run(
        [binary(), "-v", "error", *given, *joined, str(path)], check=True, stdin=subprocess.DEVNULL
    )
    return path


async def indexed(film: Path, vision: ScriptedChat) -> Report:
    with override(vision=vision, writer=mouth(), judge=mouth()):
        return await aindex(film)


async def test_what_is_seen_at_indexing_is_stored_found_and_cited_without_a_model(film: Path) -> None:
    vision = eyes()
    report = await indexed(film, vision)
    clips = [
        c
        for s in await (await open_library()).sources()
        for c in await (await open_library()).items_of(s.id, "clip")
    ]
    assert [c.text for c in clips] == [f"A {c} wall of a harbour." for c in COLOURS]
    assert {row.node: row.calls for row in report.spent} == {"caption": 3, "entities": 1}
    answer = await aask(
        "Where is the blue wall of the harbour shown?", context=Context(mode="extractive"), graph="video_rag"
    )
    assert answer.kind == "quotes" and "A blue wall of a harbour." in answer.sentences[0].text
    cited = answer.citations[0]
    assert cited.locator["start"] == 30.0 * COLOURS.index(cited.quote.split()[1])


async def test_frames_are_looked_at_with_the_question_and_the_answer_cites_their_seconds(film: Path) -> None:
    await indexed(film, eyes())
    await asyncio.to_thread(film.unlink)
    vision = eyes()
    with override(vision=vision, writer=mouth(), judge=mouth()):
        state = await astate("Is the green wall wet?", context=Context(mode="llm"), graph="video_rag")
    # Each call has the frames of one clip.
    shown = [colours(c.messages) for c in vision.calls]
    assert sorted({*seen}.pop() for seen in shown if len({*seen}) == 1) == sorted(COLOURS) and len(shown) == 3
    answer = state["answer"]
    assert (
        answer.text.startswith("The wall of the harbour is green and wet.")
        and answer.sentences[0].support == "verified"
    )
    assert {(c.locator["start"], c.locator["end"]) for c in answer.citations} == {(30.0, 60.0)}


async def test_as_published_every_clip_that_the_judge_keeps_is_looked_at(
    film: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await indexed(film, eyes())
    monkeypatch.setattr(looking, "CLIPS", 1)
    vision = eyes()
    with override(vision=vision, writer=mouth(), judge=mouth()):
        context = Context(mode="llm", preset="video-rag-paper")
        await astate("Is the green wall wet?", context=context, graph="video_rag")
    assert [len(colours(c.messages)) for c in vision.calls] == [15] * 3


async def test_a_writer_that_can_see_looks_at_a_whole_recording(film: Path) -> None:
    await indexed(film, eyes())

    def react(messages: list[Any]) -> Any:
        return "The wall changes from red to blue [1]." if colours(messages) else "UNKNOWN"

    writer = ScriptedChat(react=react)
    with override(vision=writer, writer=writer):
        context = knobs_of(mode="llm", check_by="off", corpora=("video",), form="universal-rag")
        state = await astate(
            "How does the wall of the harbour change?", context=context, graph="universal_rag"
        )
    assert [e["corpus"] for e in state["evidence"]] == ["video"]
    [shown] = [colours(c.messages) for c in writer.calls]
    assert list(dict.fromkeys(shown)) == [*COLOURS] and 3 <= len(shown) <= 32
    assert state["answer"].text.startswith("The wall changes")


async def test_captions_and_entities_share_one_limit_of_calls(
    film: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_INDEX_CALLS", "3")
    corpora_settings.cache_clear()
    report = await indexed(film, eyes())
    assert sum(row.calls for row in report.spent) == 3 and report.extracted == 0
    assert any("3 model calls" in note for note in report.notes)
    monkeypatch.setenv("RAGWEAVE_INDEX_CALLS", "0")
    corpora_settings.cache_clear()
    assert (await indexed(film, eyes())).extracted == 1
