"""Questions over recordings in extractive mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragweave.app.api import aask, astate, astream
from ragweave.components.context import Context
from ragweave.corpora.chunks import chunks_of
from ragweave.corpora.knowledge.facts import facts_of
from ragweave.corpora.knowledge.records import read_records
from ragweave.corpora.knowledge.store import put
from ragweave.corpora.store.library import open_library
from ragweave.corpora.video.chunk_search import nearest_chunks
from ragweave.tests.support.knobs import context as knobs_of
from ragweave.tests.support.library import build_library

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
    assert "entity graph gpt-4o-mini: none in this library, set RAGWEAVE_ENTITIES=llm" in note
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
