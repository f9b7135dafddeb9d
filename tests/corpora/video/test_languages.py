"""Subtitles of other languages: which are searched, what language they state, and that they answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.components.context import Context
from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import open_library
from ragweave.corpora.video.sidecars import language_of, others, tagged
from ragweave.graphs.agent import graph
from ragweave.nodes.answer import Answer
from tests.corpora.video.conftest import Film

SAID = {
    "en": "The lighthouse was built by Ada Ostrander.",
    "de": "Der Leuchtturm wurde von Ada Ostrander in Cuxhaven gebaut.",
    "zh": "灯塔是一九六八年由阿达建造的。",
}


def beside(film: Path, *tags: str) -> None:
    for tag in tags:
        cue = f"1\n00:00:01,000 --> 00:00:05,000\n{SAID[language_of(tag)]}\n"
        film.with_suffix(f".{tag}.srt").write_text(cue, encoding="utf-8")


async def asked(question: str) -> Answer:
    state = await graph.ainvoke({"messages": [("human", question)]}, context=Context(mode="extractive"))
    answer: Answer = state["answer"]
    return answer


@pytest.mark.parametrize(
    ("tag", "language"), [("zh-CN", "zh"), ("chs", "zh"), ("deu.forced", "de"), ("pt_BR", "pt"), ("forced", "")]
)
def test_a_tag_states_a_language(tag: str, language: str) -> None:
    assert language_of(tag) == language


def test_one_file_of_each_further_language_is_read_and_partial_ones_are_not(tmp_path: Path) -> None:
    names = ("a.mp4", "a.en.srt", "a.eng.vtt", "a.de.srt", "a.de.forced.srt", "a.fr.forced.srt", "a.it.srt", "a.zh.srt")
    for name in names:
        (tmp_path / name).write_text("x")
    assert [p.name for p in others(str(tmp_path / "a.mp4"))] == ["a.de.srt", "a.it.srt"]
    assert tagged(str(tmp_path / "a.mp4")) == "en"
    assert others(str(tmp_path / "b.mp4")) == [] and tagged(str(tmp_path / "b.mp4")) == ""


async def test_a_film_with_chinese_subtitles_is_answered_in_chinese(film: Film) -> None:
    path = film("lighthouse.mp4", 8)
    beside(path, "zh")
    await index([path.parent])
    answer = await asked("灯塔是谁建造的?")
    assert not answer.abstained and "阿达建造" in answer.text
    library = await open_library("default")
    items = await library.items([c.id for c in answer.citations])
    assert {i.language for i in items.values()} == {"zh"}


@pytest.mark.parametrize(
    ("question", "said"),
    [("Who built the lighthouse?", SAID["en"]), ("Was wurde in Cuxhaven gebaut?", SAID["de"])],
)
async def test_a_film_is_answered_from_its_subtitles_in_either_language(film: Film, question: str, said: str) -> None:
    path = film("lighthouse.mp4", 8)
    beside(path, "de", "en")
    report = await index([path.parent])
    assert report.indexed == 1
    answer = await asked(question)
    assert not answer.abstained and said in answer.text
    assert [(c.locator["start"], c.locator["end"]) for c in answer.citations] == [(1.0, 5.0)]
