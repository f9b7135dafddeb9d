from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.components.evidence import Sentence
from ragweave.corpora.web.providers import available
from ragweave.evals.answers import AnswerVerdict, Question
from ragweave.evals.corruption import SHARES, WAYS, CorruptionQuestion, cell, lost, measure, save_pages, web_folder
from ragweave.nodes.answer import Answer

IDS = [f"i{n}" for n in range(8)]


def test_nothing_is_lost_where_nothing_is_replaced_and_all_gold_where_all_is() -> None:
    assert lost(IDS, {"i0", "x"}, 0.0, "q") == frozenset()
    assert lost(IDS, {"i0", "x"}, 1.0, "q") == {"i0", "x"}


@given(st.sets(st.sampled_from([*IDS, "x", "y"])), st.sampled_from(SHARES), st.text(max_size=5))
def test_only_gold_is_lost_and_never_the_same_question_differently(gold: set[str], share: float, seed: str) -> None:
    found = lost(IDS, gold, share, seed)
    assert found <= gold
    assert found == lost(IDS, gold, share, seed)


def test_half_of_the_positions_are_hit() -> None:
    hits = [len(lost(IDS, set(IDS), 0.5, str(n))) for n in range(20)]
    assert set(hits) == {4}
    first = sum("i0" in lost(IDS, {"i0"}, 0.5, str(n)) for n in range(400))
    assert 150 < first < 250


def asked(text: str, action: str = "") -> CorruptionQuestion:
    sentences = (Sentence(text=text, support="quoted"),) if text else ()
    answer = Answer(text=text, sentences=sentences, abstained=not text, kind="quotes" if text else "nothing")
    return CorruptionQuestion(AnswerVerdict(Question("1", "q", ("gold",)), answer, 0.0), action)


def test_a_cell_counts_answers_actions_and_what_was_mended() -> None:
    before = [asked("gold"), asked("wrong"), asked(""), asked("")]
    after = [asked("wrong", "correct"), asked("gold", "incorrect"), asked("gold", "ambiguous"), asked("", "incorrect")]
    assert cell(before) == {"answer_shown": 0.25}
    assert cell(after, before) == {
        "answer_shown": 0.5,
        "correct": 0.25,
        "ambiguous": 0.25,
        "incorrect": 0.5,
        "repaired": 0.6667,
        "broken": 1.0,
    }


def test_the_folder_stands_in_for_the_web_and_gives_the_environment_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_WEB_FOLDER", "mine")
    save_pages([{"title": "T", "text": "x"}], tmp_path)
    with web_folder(tmp_path):
        assert available() == "folder"
    assert os.environ["RAGWEAVE_WEB_FOLDER"] == "mine"


def data_set(
    folder: Path, name: str, passages: str, rows: list[dict[str, Any]], questions: list[dict[str, Any]]
) -> None:
    (folder / name).mkdir(parents=True)
    for file, content in ((passages, rows), ("queries.jsonl", questions)):
        (folder / name / file).write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")


def test_what_is_lost_costs_the_answer_and_the_web_brings_it_back(tmp_path: Path) -> None:
    towns = ("Vellmouth", "Pell", "Helder", "Ostra", "Corvane", "Marten", "Skerry", "Brandt", "Jonna", "Tolly")
    passages = [
        {"id": f"p{n}", "title": town, "text": f"The harbour crane of {town} was built in {1900 + n} by a local firm."}
        for n, town in enumerate(towns)
    ]
    questions = [
        {"id": "q", "question": "When was the harbour crane of Pell built?", "answers": ["1901"], "gold": ["p1"]}
    ]
    data_set(tmp_path / "data", "squad_xquad_en", "passages.jsonl", passages, questions)
    data_set(
        tmp_path / "data", "multihop_hotpotqa", "corpus.jsonl", [{"id": "x", "title": "X", "text": "Y."}], questions
    )
    found = asyncio.run(measure(tmp_path / "data", tmp_path / "work", 5))["xquad"]
    assert set(found) == {f"{share:.0%} wrong, {way}" for share in SHARES for way in WAYS}
    assert found["0% wrong, graded"]["answer_shown"] == 1.0
    assert found["100% wrong, plain"]["answer_shown"] == 0.0
    assert found["100% wrong, web"]["answer_shown"] == 1.0
    assert found["100% wrong, web"]["repaired"] == 1.0
