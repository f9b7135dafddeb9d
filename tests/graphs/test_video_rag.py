"""Questions over recordings in extractive mode."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ragweave.app.api import aask, asearch, astate, astream
from ragweave.app.integrations import _content
from ragweave.app.places import place
from ragweave.components import look as looking
from ragweave.components.answer import Answer
from ragweave.components.clips import AT_LEAST
from ragweave.components.context import Context
from ragweave.corpora.chunks import chunks_of
from ragweave.corpora.knowledge.facts import facts_of
from ragweave.corpora.knowledge.records import read_records
from ragweave.corpora.knowledge.store import put
from ragweave.corpora.store.library import open_library
from ragweave.corpora.video.chunk_search import nearest_chunks
from ragweave.models.chat import override
from ragweave.serve.quotes import where
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.frames import add_frames
from ragweave.tests.support.knobs import context as knobs_of
from ragweave.tests.support.library import build_library
from ragweave.tests.support.talks import KITCHEN, TALK, script, vtt, written

SMALL = Context(mode="extractive")


async def ask(question: str, context: Context = SMALL) -> Any:
    return await aask(question, context=context, graph="video_rag")


async def test_an_answer_cites_the_recording_and_the_seconds_of_its_sentence(recordings: Path) -> None:
    answer = await ask("Who found the comet?")
    assert answer.kind == "quotes" and "The **comet** was **found** by Ada Ostrander" in answer.text
    place = answer.citations[0].locator
    assert Path(place["file"]).name == "comet.vtt"
    assert answer.sentences[0].text.startswith("Welcome to") and place["start"] == 0.0
    assert place["end"] >= 19.0


async def test_a_recording_that_is_not_there_is_told(recordings: Path) -> None:
    answer = await ask("Who found the comet?", Context(mode="extractive", sources=("lecture.mp4",)))
    assert answer.abstained
    assert any("lecture.mp4" in n and "comet.vtt" in n for n in answer.notes)


async def test_a_folder_without_sources_is_told(recordings: Path, tmp_path: Path) -> None:
    answer = await ask(
        "Who found the comet?", Context(mode="extractive", collection=str(tmp_path / "elsewhere"))
    )
    assert answer.abstained and any("elsewhere" in n for n in answer.notes)


async def test_every_retriever_tells_what_it_found(recordings: Path) -> None:
    every = knobs_of(mode="extractive", channels=("chunk", "entity", "visual", "speech"))
    told = [
        e["data"]["retriever"]
        async for e in astream("Who found the comet?", context=every, graph="video_rag")
        if e["type"] == "step" and e["node"] == "retrieve_clips"
    ]
    assert {"chunk", "speech", "visual", "entity", "video"} <= set(told)


async def test_chunks_are_found_by_vectors_of_their_own(recordings: Path) -> None:
    found = await nearest_chunks(
        await open_library(), ["how long the dough of a rye bread rests", "the comet"], 9
    )
    bread, comet = ([chunk.text for chunk, _ in near] for near in found)
    assert "dough" in bread[0] and "comet" in comet[0] and sorted(bread) == sorted(comet)
    assert all(
        cosines == sorted(cosines, reverse=True) for near in found if (cosines := [c for _, c in near])
    )


async def test_a_question_that_names_its_recording_stays_within_it(recordings: Path) -> None:
    answer = await ask("What is said about the dough in the recording bread?")
    assert "sixteen hours" in answer.text
    assert {Path(c.locator["file"]).name for c in answer.citations} == {"bread.vtt"}


async def test_the_agent_searches_recordings_that_speak_of_a_name_beside_what_the_words_resemble(
    recordings: Path, tmp_path: Path
) -> None:
    await build_library(tmp_path / "texts", {"tea.md": "# Tea\n\nTea is picked in April by hand.\n"})
    state = await astate("Who is Ada Ostrander?", context=SMALL)
    assert "clip" in state["routes"][0]["corpora"]
    assert any("Ostrander" in c.quote for c in state["answer"].citations)
    other = await astate("When is tea picked?", context=SMALL)
    assert "April" in other["answer"].text


async def test_as_published_the_note_of_what_stands_in_names_the_graph_that_is_missing(
    recordings: Path, tmp_path: Path
) -> None:
    preset = Context(preset="video-rag-paper", mode="extractive", grade_by="local")
    (note,) = [n for n in (await ask("Who found the comet?", preset)).notes if "was published" in n]
    assert "entity graph gpt-4o-mini: none in this library; `ragweave setup entities` offers it" in note
    library = await open_library()
    (source, *_) = await library.sources()
    chunk = chunks_of(await library.items_of(source.id, "clip"))[0]
    facts = facts_of(*read_records("entity | comet | thing | It was found by Ada Ostrander."))
    put(library.held.catalog, library.id, source.id, chunk.id, facts, "params")
    (note,) = [n for n in (await ask("Who found the comet?", preset)).notes if "was published" in n]
    assert "entity graph" not in note and "image encoder ImageBind: none" in note


async def test_a_library_without_recordings_lacks_no_entity_graph(home: Path, tmp_path: Path) -> None:
    await build_library(tmp_path / "texts", {"comet.md": "The comet was found by Ada Ostrander."})
    preset = Context(preset="video-rag-paper", mode="extractive", grade_by="local")
    answer = await ask("Who found the comet?", preset)
    assert not any("entity graph" in note for note in answer.notes)


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


MARK = "(heard, perhaps wrongly)"


def doubt(catalog: Path) -> None:
    """Turn what people wrote into what a recogniser heard that was half sure of it, as indexing would store it."""
    with sqlite3.connect(catalog) as database:
        found = database.execute(
            "SELECT n, locator, spans, meta FROM items WHERE corpus IN ('clip', 'video')"
        )
        for n, locator, spans, meta in found.fetchall():
            sure = json.loads(meta) | {"sure": [0.5] * len(json.loads(spans)), "speech": "whisper"}
            told = json.loads(locator) | {"doubtful": True}
            database.execute(
                "UPDATE items SET locator = ?, meta = ? WHERE n = ?", (json.dumps(told), json.dumps(sure), n)
            )


@pytest.fixture
def _heard(stock: Callable[[Mapping[str, str]], Path]) -> None:
    [catalog] = stock({"comet.vtt": vtt(TALK), "bread.vtt": vtt(KITCHEN)}).glob("libraries/*/catalog.sqlite")
    doubt(catalog)


def assert_marked(answer: Answer) -> None:
    """Every sentence and every place of an answer is marked."""
    assert answer.citations
    assert all(s.text.endswith(MARK) for s in answer.sentences), answer.text
    assert all(c.locator.get("doubtful") for c in answer.citations), answer.citations
    assert MARK in answer.text


@pytest.mark.usefixtures("_heard")
@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("Who found the comet?", "Ada Ostrander"),
        ("How long does the dough rest?", "sixteen hours"),
    ],
)
@pytest.mark.parametrize("graph", ["agent", "video_rag"])
async def test_without_a_model_nothing_that_was_heard_is_quoted_unmarked(
    question: str, says: str, graph: str
) -> None:
    answer = await aask(question, context=SMALL, graph=graph)
    assert answer.kind == "quotes" and says in answer.text
    assert_marked(answer)


@pytest.mark.usefixtures("_heard")
@pytest.mark.parametrize("checked", ["on", "off"])
async def test_what_a_chat_model_says_of_it_is_marked_once(checked: Any) -> None:
    def said(messages: list[Any]) -> str:
        parts = messages[-1].text.split("Evidence:")[1].split("<<<")[1:]
        n = 1 + next(n for n, part in enumerate(parts) if "sixty centimetres" in part)
        found = "The comet was found by Ada Ostrander in 1889 [1]."
        return f"{found} Her telescope had a mirror of sixty centimetres [{n}]."

    with override(writer=script(generate=said)):
        answer = await aask(
            "Who found the comet?", context=Context(mode="llm", check_by=checked), graph="video_rag"
        )
    assert answer.mode == "llm" and len(answer.sentences) == 2
    assert_marked(answer)
    assert answer.text.count(MARK) == 2


@pytest.mark.usefixtures("_heard")
async def test_a_place_says_it_wherever_it_is_shown() -> None:
    found = await asearch("Who found the comet?")
    rows = [e for e in found if e["corpus"] == "clip"]
    assert rows and all(place(e["locator"]).endswith(MARK) for e in rows)
    assert where(rows[0]["locator"]).endswith(MARK)
    answer = await aask("Who found the comet?", context=SMALL, graph="video_rag")
    places = [line for line in _content(answer).splitlines() if line.startswith("[")]
    assert len(places) == len(answer.citations) and all(line.endswith(MARK) for line in places)
