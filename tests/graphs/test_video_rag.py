"""Questions over recordings, with the small mind and with scripted models."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from ragweave.app.api import aask, astate, astream
from ragweave.corpora.store.stores import close_stores
from ragweave.graphs.run import GRAPHS
from ragweave.minds.context import Context
from ragweave.minds.llm import look as looking
from ragweave.minds.small.clips import AT_LEAST
from ragweave.models.errors import ModelError
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.frames import add_frames
from ragweave.tests.support.knobs import context as knobs_of
from ragweave.tests.support.library import build_library

TALK = [
    (0, "Welcome to the evening talk of the Corvane Observatory."),
    (6, "Tonight we speak about the great comet of Pell."),
    (14, "The comet was found by Ada Ostrander in 1889."),
    (35, "Her telescope had a mirror of sixty centimetres."),
    (48, "Now a word about the weather on Mount Helder."),
    (65, "The comet returns every ninety years."),
    (80, "After the comet we look at the moon."),
    (95, "The moon has a crater that is named after Ostrander."),
    (130, "Thank you, and good night."),
]
KITCHEN = [
    (0, "Today we bake a rye bread."),
    (10, "The dough rests for sixteen hours."),
    (40, "Bake it at 250 degrees for ten minutes."),
]


def vtt(rows: list[tuple[int, str]]) -> str:
    """Write cues of five seconds."""
    cues = [f"{clock(at)} --> {clock(at + 5)}\n{text}\n" for at, text in rows]
    return "WEBVTT\n\n" + "\n".join(cues)


def clock(at: int) -> str:
    return f"{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}.000"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Index the two recordings once; return the home that holds them."""
    folder = tmp_path_factory.mktemp("recorded")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGWEAVE_HOME", str(folder / "home"))
        asyncio.run(build_library(folder / "videos", {"comet.vtt": vtt(TALK), "bread.vtt": vtt(KITCHEN)}))
        close_stores()
    return folder / "home"


@pytest.fixture
def recordings(recorded: Path, home: Path) -> Path:
    """Copy the recordings into the test's own home."""
    shutil.copytree(recorded, home)
    return home


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


def script(**parts: Any) -> ScriptedChat:
    """Play the parts of the video graph."""
    words = {
        "rewrite": "prepare the search",
        "grade": "judge whether passages",
        "generate": "answer a question from numbered evidence",
        "choose": "multiple-choice question",
        "reason": "Final Answer",
    }
    count = len(TALK)
    default: dict[str, Any] = {
        "rewrite": {"statement": "Somebody found the comet.", "scene": "a comet", "keywords": ["comet", "found"]},
        "grade": {"verdicts": [{"n": n, "verdict": "relevant"} for n in range(1, count + 1)]},
        "generate": "The comet was found by Ada Ostrander in 1889 [1].",
        "choose": "B",
        "reason": "Final Answer: The comet was found by Ada Ostrander in 1889 [1].",
    }

    def react(messages: list[Any]) -> Any:
        part = next(name for name, said in words.items() if said in messages[0].text)
        reply = {**default, **parts}[part]
        if isinstance(reply, Exception):
            raise reply
        return reply(messages) if callable(reply) else reply

    return ScriptedChat(react=react)


async def written(model: ScriptedChat, question: str = "Who found the comet?", **knobs: Any) -> Any:
    from ragweave.models.chat import override

    with override(writer=model):
        return await astate(question, context=Context(mind="llm", **knobs), graph="video_rag")


async def test_a_model_rewrites_judges_and_writes_in_three_calls(recordings: Path) -> None:
    model = script()
    state = await written(model, look="off", grade_by="llm", expand_when="always")
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
        knobs = {"corpora": ("clip",), "look": "off", "expand_when": "never"} | knobs
        return await astate("Who found the comet?", context=Context(mind="llm", grade_by="llm", max_hops=1, **knobs))


async def test_clips_that_the_filter_has_judged_are_not_judged_again(recordings: Path) -> None:
    model = script()
    state = await graded(model)
    assert len(judged(model)) == 1
    assert state["grade"]["action"] == "correct" and state["grade"]["best"] == 0.9 and state["grade"]["by"] == "llm"
    assert {e["relevance"] for e in state["evidence"]} == {0.9}


async def test_only_what_the_filter_has_not_judged_is_asked_about(recordings: Path, tmp_path: Path) -> None:
    await build_library(tmp_path / "notes", {"comet.md": "# Comet\n\nAda Ostrander found the comet with a mirror."})
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


async def test_where_the_filter_fell_back_to_the_small_mind_the_model_still_grades(recordings: Path) -> None:
    replies = iter(["%% no json %%", "%% no json %%"])
    model = script(grade=lambda _: next(replies, {"verdicts": [{"n": 1, "verdict": "relevant"}]}))
    state = await graded(model)
    assert state["grade"]["best"] == 0.9 and state["grade"]["by"] == "llm"


@pytest.mark.parametrize("part", ["rewrite", "grade"])
async def test_garbage_from_a_model_leaves_the_decision_to_the_small_mind(recordings: Path, part: str) -> None:
    state = await written(script(**{part: "%% no json, sorry %%"}), look="off")
    assert "Ada Ostrander" in state["answer"].text


async def test_where_the_judge_keeps_none_the_best_of_the_pool_stay(recordings: Path) -> None:
    none = {"verdicts": [{"n": n, "verdict": "irrelevant"} for n in range(1, 20)]}
    state = await written(script(grade=none), look="off")
    assert 0 < len(state["candidates"]) <= AT_LEAST


async def test_a_time_outside_the_evidence_is_not_verified(recordings: Path) -> None:
    model = script(generate="At 45:10 the comet was found by Ada Ostrander in 1889 [1].")
    state = await written(model, look="off")
    assert [s.support for s in state["answer"].sentences] == ["unverified"]


async def test_a_multiple_choice_ends_after_two_unreadable_replies(recordings: Path) -> None:
    model = script(choose="I would rather not say.")
    state = await written(model, look="off", choices=("Boris Pell", "Ada Ostrander"))
    assert state["answer"].text.startswith("B. Ada Ostrander")
    assert sum("multiple-choice" in c.prompt for c in model.calls) == 2


async def test_the_whole_agent_leads_questions_about_moments_to_the_recordings(recordings: Path) -> None:
    state = await astate("What does the speaker say about the comet in the talk?", context=SMALL)
    assert "clip" in {t["corpus"] for t in state["tasks"]}
    assert state["answer"].citations[0].locator["kind"] == "time"


async def test_a_model_that_fails_is_noted_and_the_small_mind_answers(recordings: Path) -> None:
    state = await written(script(generate=ModelError("the server refused", "ask again")), look="off")
    assert "Ada Ostrander" in state["answer"].text
    assert any("refused" in n for n in state["answer"].notes)


async def test_a_writer_reads_the_chunks_around_the_nearest_clip_where_the_preset_asks_for_them(
    recordings: Path,
) -> None:
    shown = []
    for preset in ("video-rag-paper", "none"):
        model = script()
        state = await written(model, look="off", preset=preset, method={"clips": 1})
        shown.append(next(c.prompt for c in model.calls if "numbered evidence" in c.prompt))
        assert len(state["evidence"]) == 1
    assert all(text in shown[0] for _, text in TALK)
    assert not any("crater" in prompt for prompt in shown[1:])


async def test_a_clip_that_is_read_beside_the_evidence_is_cited_by_its_own_seconds(recordings: Path) -> None:
    def react(messages: list[Any]) -> Any:
        numbers = re.findall(r"^\[(\d+)\]$", messages[-1].text.partition("a crater")[0], re.M)
        return f"A crater is named after Ostrander [{numbers[-1]}]."

    state = await written(script(generate=react), look="off", preset="video-rag-paper", method={"clips": 1})
    [cited] = state["answer"].citations
    assert cited.id not in {e["id"] for e in state["evidence"]}
    assert cited.locator["start"] <= 95.0 < cited.locator["end"] and "crater" in cited.quote


async def test_chunks_stay_within_the_time_that_is_asked_about(recordings: Path) -> None:
    state = await written(script(), look="off", preset="video-rag-paper", from_time=60.0, to_time=90.0)
    assert state["chunks"] and state["chunks"] == [i for i in state["chunks"] if i in await within(60.0, 90.0)]


async def within(start: float, end: float) -> set[str]:
    from ragweave.corpora.store.library import open_library

    library = await open_library()
    held = [i for s in await library.sources() for i in await library.items_of(s.id, "clip")]
    return {i.id for i in held if i.locator["end"] > start and i.locator["start"] < end}


PLAIN = ("crag", "rag_fusion", "auto_rag", "universal_rag")


@pytest.mark.parametrize("graph", PLAIN)
@pytest.mark.parametrize(
    ("question", "knobs", "within"),
    [
        ("What is said about the moon?", {"videos": ("bread",)}, ("bread", 0, 60)),
        ("What is said about the comet?", {"from_time": 60, "to_time": 70}, ("comet", 60, 70)),
        ("What is said about the comet between 1:00 and 1:10?", {}, ("comet", 60, 70)),
        ("What is said about the comet?", {"videos": ("bread",), "to_time": 5}, ("bread", 0, 5)),
    ],
)
async def test_every_graph_stays_within_the_recording_and_the_time_range(
    recordings: Path, graph: str, question: str, knobs: dict[str, Any], within: tuple[str, float, float]
) -> None:
    context = Context(mind="small", corpora=("clip",), max_hops=1, **knobs)
    found = (await astate(question, context=context, graph=graph))["evidence"]
    assert found
    title, start, end = within
    assert all(e["title"] == title for e in found)
    assert all(e["locator"]["end"] > start and e["locator"]["start"] < end for e in found)


@pytest.mark.parametrize("graph", [*GRAPHS])
@pytest.mark.parametrize(("start", "end"), [(None, 5.0), (12.0, 17.0), (60.0, 70.0), (75.0, None)])
@pytest.mark.parametrize("question", ["What is said about the comet?", "What is the talk about?", "Who found it?"])
async def test_nothing_is_cited_that_lies_outside_the_time_range(
    recordings: Path, graph: str, start: float | None, end: float | None, question: str
) -> None:
    state = await astate(question, context=Context(mind="small", from_time=start, to_time=end), graph=graph)
    places = [c.locator for c in state["answer"].citations] + [e["locator"] for e in state["evidence"]]
    assert all(p["end"] > (start or 0) and (end is None or p["start"] < end) for p in places)
    outside = [text for at, text in TALK if at + 5 <= (start or 0) or (end is not None and at >= end)]
    told = [state["answer"].text, *(e["text"] for e in state["evidence"]), *(s["text"] for s in state["knowledge"])]
    assert not any(text in shown for text in outside for shown in told)


@pytest.mark.parametrize("preset", ["none", "video-rag-paper"])
async def test_a_model_reads_nothing_that_lies_outside_the_time_range(recordings: Path, preset: Any) -> None:
    model = script(generate="The comet returns every ninety years [1].")
    state = await written(model, look="off", preset=preset, from_time=64.0, to_time=75.0)
    prompts = [c.prompt for c in model.calls]
    assert any("ninety years" in prompt for prompt in prompts)
    assert not any(text in prompt for prompt in prompts for at, text in TALK if at != 65)
    assert [(c.locator["start"], c.locator["end"]) for c in state["answer"].citations] == [(65.0, 70.0)]


async def test_a_time_of_day_that_no_recording_reaches_leaves_what_was_found(recordings: Path) -> None:
    context = Context(mind="small", corpora=("clip",))
    found = await astate("Who spoke of the comet at 14:30?", context=context, graph="crag")
    assert found["evidence"]


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
