"""What a question itself narrows a search to: recordings by their titles, clips by clock times."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.app.api import aask
from ragweave.components.context import Context
from ragweave.components.entities import extractor
from ragweave.components.run_context import RunContext, TurnState, searched_within
from ragweave.components.scope import Scope, at_moment, clips_within, named_scope
from ragweave.corpora.ingest.run import index
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.library import Library, open_library
from ragweave.corpora.store.rows import Source
from ragweave.corpora.video.places import named_in, seconds, window_of
from ragweave.models.chat import override
from ragweave.models.meter import Limits, Meter
from ragweave.models.text import clock
from ragweave.tests.support import ScriptedChat

TITLES = [
    "Stream ciphers: an introduction (lecture 3)",
    "Block ciphers (lecture 4)",
    "Café trailer",
    "Module 3 - talk",
]
TALKS = ("Module 2 - lecture", "Module 3 - talk", "teaser")


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What is a key in lecture 3?", TITLES[:1]),
        ("What is a key in stream ciphers: an introduction?", TITLES[:1]),
        ("What does the CAFE TRAILER show?", TITLES[2:3]),
        ("Who speaks in “lecture 3” and in Block ciphers?", TITLES[:2]),
        ("What is a key in lecture 31?", []),
        ("What is a key in module 3?", TITLES[3:]),
        ("What is a key in the lecture on ciphers?", []),
        ("Who speaks in lecture 3, lecture 4, module 3 and the Café trailer?", []),
    ],
)
def test_recordings_whose_title_or_file_name_stands_in_the_question_are_named(
    question: str, named: list[str]
) -> None:
    assert named_in(question, TITLES) == named


@pytest.mark.parametrize(
    ("question", "window"),
    [
        ("What is shown at 1:30?", (75.0, 105.0)),
        ("What is shown at 0:05?", (0.0, 20.0)),
        ("What happens at 1:02:03?", (3708.0, 3738.0)),
        ("What is discussed between 2:30 and 1:00?", (60.0, 150.0)),
        ("Who won 3:2 or 10:75?", None),
    ],
)
def test_clock_times_in_a_question_become_a_window(question: str, window: tuple[float, float] | None) -> None:
    assert window_of(question) == window


@given(st.integers(0, 359_999), st.text(alphabet="0123456789: .,?a", max_size=60))
def test_a_clock_time_reads_back_and_any_window_begins_before_it_ends(at: int, question: str) -> None:
    parts = clock(at).split(":")
    assert seconds(parts[0] if len(parts) == 3 else None, parts[-2], parts[-1]) == at
    window = window_of(question)
    assert window is None or 0 <= window[0] <= window[1]


@pytest.fixture
async def library(tmp_path: Path) -> Library:
    """Three recordings of two minutes, a sentence every ten seconds."""
    for name in TALKS:
        cues = [
            f"0{n // 6}:{n % 6}0.000 --> 0{n // 6}:{n % 6}8.000\nRemark {n} of {name}." for n in range(12)
        ]
        (tmp_path / f"{name}.vtt").write_text("WEBVTT\n\n" + "\n\n".join(cues))
    await index([tmp_path])
    return await open_library("default")


async def test_titles_in_a_question_decide_where_to_look_unless_others_were_asked_for(
    library: Library,
) -> None:
    held = {r.title: r.source for r in await library.recordings()}
    for question, titles in (
        ("What is remarked in module 3 - talk?", {TALKS[1]}),
        ("What is remarked in the teaser and in Module 2 - lecture?", {TALKS[0], TALKS[2]}),
        ("What is remarked in the fourth talk?", set()),
    ):
        scope = await named_scope(library, question, Scope())
        assert ({*scope.titles}, {*scope.sources}) == (titles, {held[t] for t in titles})
    given = Scope(titles=TALKS[:1])
    assert await named_scope(library, "What is remarked in the teaser?", given) == given


async def test_clock_times_keep_the_clips_around_them_and_all_where_there_are_none(library: Library) -> None:
    for question, starts in (
        ("What is remarked at 1:50?", {90.0}),
        ("What is remarked between 0:05 and 0:50?", {0.0, 30.0}),
        ("Who leaves at 10:30?", {0.0, 30.0, 60.0, 90.0}),
        ("What is remarked?", {0.0, 30.0, 60.0, 90.0}),
    ):
        within = await clips_within(library, await at_moment(library, question, Scope()))
        items = await library.items(within)
        assert {i.locator["start"] for i in items.values()} == starts


async def test_a_moment_of_a_named_recording_is_quoted_although_it_shares_no_word_with_the_question(
    library: Library,
) -> None:
    answer = await aask("Was geschieht um 1:45 in module 3?")
    first = answer.citations[0]
    assert "Remark 10 of Module 3 - talk" in answer.text.replace("**", "")
    assert first.locator["start"] <= 105 and first.locator["end"] >= 95
    assert not any(f"Remark {n} " in answer.text for n in range(8))


async def test_the_sources_are_read_once_in_a_run_that_names_recordings(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    sources = Library.sources

    async def counted(self: Library) -> list[Source]:
        read.append(self.name)
        return await sources(self)

    monkeypatch.setattr(Library, "sources", counted)
    turn = TurnState(Meter(Limits()), library)
    context = Context(sources=("teaser", "no such film"))
    runs = [RunContext("retrieve", context, turn) for _ in range(4)]
    found = await asyncio.gather(*map(searched_within, runs))
    assert len(read) == 1 and len({scope.titles for scope in found if scope}) == 1
    assert all("no such film" in run.notes[0] for run in runs)
    other = RunContext("retrieve", Context(sources=("Module 2 - lecture",)), turn)
    assert await searched_within(other) != found[0] and len(read) == 2


FIRST = "entity | Ada | person | She looked.\nrelation | Ada | Pell | lived in | 3"


async def extracted(reply: str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], int, int]:
    monkeypatch.setenv("RAGWEAVE_ENTITIES", "llm")
    corpora_settings.cache_clear()
    model = ScriptedChat(replies=[reply])
    with override(writer=model):
        made = extractor()
        assert made is not None
        entities, relations = await made.ask("Ada lived in Pell.")
    return [e.name for e in entities], len(relations), len(model.calls)


async def test_a_chunk_costs_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await extracted(FIRST, monkeypatch) == (["Ada"], 1, 1)


@pytest.mark.parametrize(("setting", "there"), [("llm", True), ("off", False)])
def test_a_model_extracts_only_where_it_was_asked_to(
    setting: str, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_ENTITIES", setting)
    corpora_settings.cache_clear()
    with override(writer=ScriptedChat()):
        assert (extractor() is not None) is there
