"""Questions over recordings with the small mind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragweave.app.api import aask, astate, astream
from ragweave.minds.context import Context
from ragweave.tests.support.knobs import context as knobs_of
from ragweave.tests.support.library import build_library

SMALL = Context(mind="small")


async def ask(question: str, context: Context = SMALL) -> Any:
    return await aask(question, context=context, graph="video_rag")


async def test_an_answer_cites_the_recording_and_the_seconds_of_its_sentence(recordings: Path) -> None:
    answer = await ask("Who found the comet?")
    assert "Ada Ostrander" in answer.text
    place = answer.citations[0].locator
    assert Path(place["file"]).name == "comet.vtt"
    assert (place["start"], place["end"]) == (6.0, 19.0)  # with the sentence that leads to it


async def test_the_first_mention_comes_from_the_timeline(recordings: Path) -> None:
    answer = await ask("When is Ostrander first mentioned?")
    assert "0:14" in answer.text and "comet" in answer.text
    assert answer.citations[0].locator["start"] == 14.0


async def test_mentions_are_counted(recordings: Path) -> None:
    answer = await ask("How many times is the comet mentioned?")
    assert "4 times" in answer.text
    assert [c.locator["start"] for c in answer.citations] == [6.0, 14.0, 65.0, 80.0]


async def test_what_comes_after_is_what_follows_in_time(recordings: Path) -> None:
    answer = await ask("What comes after the weather on Mount Helder?")
    assert answer.text.startswith("The comet returns every ninety years.")


async def test_a_time_in_the_question_is_answered_with_what_was_said_then(recordings: Path) -> None:
    answer = await ask("What is said at 1:37?", Context(mind="small", videos=("comet",)))
    assert "crater" in answer.text


async def test_order_is_told_with_both_times(recordings: Path) -> None:
    answer = await ask("Which is mentioned first, the moon or the telescope?")
    assert "“telescope” comes first" in answer.text and "0:35" in answer.text and "1:20" in answer.text


async def test_what_is_never_mentioned_is_not_told_by_similarity(recordings: Path) -> None:
    answer = await ask("When is the volcano first mentioned?")
    assert answer.abstained and "“volcano” is never mentioned" in answer.text


async def test_a_question_stays_within_the_recording_that_is_named(recordings: Path) -> None:
    answer = await ask("How long does the dough rest?", Context(mind="small", videos=("comet.vtt",)))
    assert all(Path(c.locator["file"]).name == "comet.vtt" for c in answer.citations)
    found = await ask("How long does the dough rest?", Context(mind="small", videos=("bread.vtt",)))
    assert "sixteen hours" in found.text


async def test_a_question_stays_within_its_time_range(recordings: Path) -> None:
    answer = await ask("How many times is the comet mentioned?", Context(mind="small", from_time=60))
    assert "twice" in answer.text


async def test_a_recording_that_is_not_there_is_told(recordings: Path) -> None:
    answer = await ask("Who found the comet?", Context(mind="small", videos=("lecture.mp4",)))
    assert answer.abstained
    assert any("lecture.mp4" in n and "comet.vtt" in n for n in answer.notes)


async def test_a_folder_without_sources_is_told(recordings: Path, tmp_path: Path) -> None:
    answer = await ask("Who found the comet?", Context(mind="small", collection=str(tmp_path / "elsewhere")))
    assert answer.abstained and any("elsewhere" in n for n in answer.notes)


async def test_a_library_without_recordings_says_so(home: Path, tmp_path: Path) -> None:
    await build_library(tmp_path / "texts", {"a.md": "# Tea\n\nTea is picked in April.\n"})
    answer = await ask("When is tea picked?")
    assert answer.abstained
    assert any("no recordings" in n for n in answer.notes)


async def test_a_retriever_that_is_off_does_not_block_the_others(recordings: Path) -> None:
    for name in ("chunk", "speech"):
        answer = await ask("Who found the comet?", knobs_of(mind="small", channels=(name,)))
        assert "Ada Ostrander" in answer.text


async def test_every_retriever_tells_what_it_found(recordings: Path) -> None:
    every = knobs_of(mind="small", channels=("chunk", "entity", "visual", "speech"))
    told = [
        e["data"]["retriever"]
        async for e in astream("Who found the comet?", context=every, graph="video_rag")
        if e["type"] == "step" and e["node"] == "retrieve_clips"
    ]
    assert {"chunk", "speech", "visual", "entity", "video"} <= set(told)


async def test_one_of_several_answers_is_chosen_by_the_evidence(recordings: Path) -> None:
    choices = ("Boris Pell", "Ada Ostrander", "Chris Helder")
    answer = await ask("Who found the comet?", Context(mind="small", choices=choices))
    assert answer.text.startswith("B. Ada Ostrander")
    assert answer.citations[0].locator["start"] == 14.0


async def test_a_question_that_names_its_recording_stays_within_it(recordings: Path) -> None:
    answer = await ask("How many times is the comet mentioned in the recording bread?")
    assert answer.abstained
    answer = await ask("How many times is the comet mentioned in comet?")
    assert "4 times" in answer.text


async def test_the_agent_searches_recordings_that_speak_of_a_name_beside_what_the_words_resemble(
    recordings: Path, tmp_path: Path
) -> None:
    await build_library(tmp_path / "texts", {"tea.md": "# Tea\n\nTea is picked in April by hand.\n"})
    state = await astate("Who is Ada Ostrander?", context=SMALL)
    assert "clip" in {t["corpus"] for t in state["tasks"]}
    assert any("Ostrander" in c.quote for c in state["answer"].citations)
    other = await astate("When is tea picked?", context=SMALL)
    assert "April" in other["answer"].text


async def test_the_whole_agent_leads_questions_about_moments_to_the_recordings(recordings: Path) -> None:
    state = await astate("What does the speaker say about the comet in the talk?", context=SMALL)
    assert "clip" in {t["corpus"] for t in state["tasks"]}
    assert state["answer"].citations[0].locator["kind"] == "time"


async def test_a_stretch_of_time_is_asked_about_something(recordings: Path) -> None:
    answer = await ask("What does she say about the moon between 1:00 and 1:45?")
    assert "moon" in answer.text and "ninety" not in answer.text


async def test_the_end_of_a_recording_is_its_last_words(recordings: Path) -> None:
    answer = await ask("What is said at the end of the comet talk?")
    assert "good night" in answer.text
    assert all(c.locator["file"].endswith("comet.vtt") for c in answer.citations)


async def test_the_recordings_that_mention_a_thing_are_told_with_their_times(recordings: Path) -> None:
    answer = await ask("Which recordings mention the comet?")
    assert "comet" in answer.text and "0:06" in answer.text
    assert "bread" not in answer.text
