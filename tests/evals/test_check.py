from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from ragweave.app import cli
from ragweave.components import exam
from ragweave.components.evidence import Strip
from ragweave.evals.check import bound, checked, measured, read, write
from ragweave.evals.check_answers import cases, grouped, right_sentences, written
from ragweave.evals.evaluator import none_relevant
from ragweave.evals.evaluator_data import Nearness, bm25, hotpot, idf_of, looked
from ragweave.evals.planting import KINDS, RIGHT, CheckedSentence, planted
from ragweave.evals.thresholds import calibrate
from ragweave.evals.train_evaluator import train
from ragweave.models.chat import override
from ragweave.models.errors import InputError
from ragweave.models.relevance import HEAD, Passage, Scores, head
from ragweave.tests.support import ScriptedChat, checkers

HOUSE = (
    "The keeper of the light is Ada Quill. She gets 40 euros since 3 May 1931. Her helper Jo Reef gets 25"
    " euros."
)
BOAT = "The ferry sails on Monday at 9:30. Bert Osk is the captain of the ferry since 1950 and gets 60 euros."


def strip(name: str, text: str) -> Strip:
    return {
        "id": f"{name}#0", "evidence": name, "text": text, "title": name, "locator": {"file": f"/{name}.md"},
        "origin": "library", "query": "", "hop": 1, "score": 1.0,
    }  # fmt: skip


def said(n: int, text: str) -> CheckedSentence:
    house, boat = strip("house", HOUSE), strip("boat", BOAT)
    return CheckedSentence(
        f"q{n}:0", RIGHT, text, "Who is the keeper?", (house,), (house, boat), ("/house.md",)
    )


TEXT = "The keeper is Ada Quill, who gets 40 euros since 3 May 1931."


def reading(key: checkers.Key) -> ScriptedChat:
    """A model that reads as the key says, whatever is asked of it."""
    model = ScriptedChat(react=lambda messages: checkers.reply(str(messages[-1].text), key), checker=None)
    return model


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_error_changes_what_is_said_or_cited(kind: str) -> None:
    wrong = KINDS[kind](said(1, TEXT))
    assert wrong is not None
    assert (wrong.text != TEXT) == (kind != "citation")
    assert [s["id"] for s in wrong.named] == (["boat#0"] if kind == "citation" else ["house#0"])
    assert kind != "elsewhere" or "60 euros" in wrong.text


def test_errors_are_planted_in_turn_each_into_another_sentence_and_always_the_same() -> None:
    right = [said(n, TEXT) for n in range(20)]
    wrong = planted(right, 9)
    assert wrong == planted(right, 9)
    assert len({s.id for s in wrong}) == 9 and {s.kind for s in wrong} == set(KINDS)
    answers = grouped(right, wrong, 4)
    assert all(len(a) <= 4 and len({s.id for s in a}) == len(a) for a in answers)
    assert sum(map(len, answers)) == 29


async def test_figures_tell_what_was_caught_and_what_was_lost(tmp_path: Path) -> None:
    right, wrong = said(1, "The keeper of the light is Ada Quill."), planted([said(3, TEXT)], 1)
    true = "La gardienne du phare est Ada Quill."
    key: checkers.Key = {
        true: ("supported", [(1, "The keeper of the light is Ada Quill.")]),
        wrong[0].text: ("contradicted", [(1, "She gets 40 euros since 3 May 1931.")]),
    }
    with override(writer=reading(key)):
        found = await checked([[right, said(2, true)], wrong], "model")
    write(found, tmp_path / "kept.jsonl")
    figures = measured(read([tmp_path / "kept.jsonl"]))
    assert figures == measured(found)
    assert (figures["right"], figures["planted"], figures["right not verified"]) == (2, 1, 0)
    assert figures["planted shown as right"] == 0 and figures["planted shown as right, at most"] == 0.95
    assert figures["calls"] == 2


@pytest.mark.exam
async def test_a_model_that_fails_its_exam_marks_nothing() -> None:
    with override(writer=ScriptedChat(react=lambda messages: "no idea", checker=None)):
        figures = measured(await checked([[said(1, TEXT)]], "model"))
    assert figures["right not checked"] == 1 and figures["exam: right of 40"] == 0


async def test_the_written_answers_are_read_by_the_products_own_check() -> None:
    answers = written()
    key = checkers.key_of(exam.ExamCase.model_validate(row) for row in checkers.written_rows())
    with override(writer=reading(key)):
        figures = measured(await checked(answers, "model"))
    assert figures["planted"] + figures["right"] + 3 == sum(map(len, answers))
    assert figures["disagreements told of 3"] == 3
    assert figures["planted shown as right"] == 0 and figures["right not verified"] <= 0.06


@pytest.mark.parametrize(
    ("errors", "of", "most"), [(0, 60, 0.0487), (0, 0, 1.0), (1, 1, 1.0), (2, 40, 0.1490)]
)
def test_the_bound_is_the_rate_that_so_few_errors_allow(errors: int, of: int, most: float) -> None:
    assert bound(errors, of) == pytest.approx(most, abs=2e-3)


async def test_right_sentences_are_those_of_right_answers_with_what_they_cite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def found(query: str, **_: Any) -> list[Any]:
        rows = (("house", HOUSE), ("boat", BOAT))
        return [{**strip(n, t), "id": n, "relevance": 1.0, "corpus": "paragraph"} for n, t in rows]

    monkeypatch.setattr("ragweave.evals.check_answers.asearch", found)
    (tmp_path / "questions.jsonl").write_text(
        '{"id": "a", "question": "Who is the keeper?", "answers": ["Ada Quill"]}\n'
        '{"id": "b", "question": "Who is the captain?", "answers": ["Bert Osk"]}\n'
    )
    kept = tmp_path / "answers.jsonl"
    kept.write_text(
        '{"id": "set/a", "answer": "It is Ada Quill. [1] She gets 40 euros. [1]", "cited": ["house.md"]}\n'
        '{"id": "set/b", "answer": "It is Jo Reef. [1]", "cited": ["boat.md"]}\n'
    )
    right = await right_sentences(tmp_path, "lib", kept)
    assert sorted(s.text for s in right) == ["It is Ada Quill.", "She gets 40 euros."]
    assert {s.named[0]["evidence"] for s in right} == {"house"}
    answers = await cases(tmp_path, "lib", None, 2, 1, 5)
    assert [s.kind for a in answers for s in a].count(RIGHT) == 2


async def test_the_prompt_of_ragas_judges_each_sentence_against_all_that_was_retrieved() -> None:
    reply = '{"statements": [{"n": 1, "reason": "it says so", "verdict": 1}]}'
    right = [said(1, "The keeper of the light is Ada Quill."), said(2, "She keeps a dog.")]
    with override(writer=ScriptedChat(replies=[reply])):
        found = await checked([right], "faithfulness")
    assert [s["support"] for s in found.sentences] == ["verified", "unverified"]
    assert [a["calls"] for a in found.answers] == [1]


def test_none_is_relevant_reads_the_highest_floor() -> None:
    full = [Scores(np.zeros(2), np.array([0.9, -1.0])), Scores(np.zeros(2), np.array([-1.0, 0.8]))]
    empty = [Scores(np.zeros(2), np.array([-0.95, -1.0])), Scores(np.zeros(2), np.array([-0.5, -1.0]))]
    found = none_relevant(full, empty)
    assert found["auc"] == 1.0
    assert found["with_gold"] == {"correct": 1.0, "incorrect": 0.0}
    assert found["without_gold"] == {"correct": 0.0, "incorrect": 0.5}


def test_bm25_prefers_the_passage_with_the_rare_word() -> None:
    found = bm25([Passage("", "the cat sat"), Passage("", "the ferry left"), Passage("", "the dog sat")])(
        "the ferry"
    )
    assert found.argmax() == 1


@pytest.mark.data
def test_training_again_makes_a_head_that_judges_as_the_shipped_one_does(
    data_dir: Path, tmp_path: Path
) -> None:
    again = train(data_dir, tmp_path / "again.json")
    assert (
        json.loads((tmp_path / "again.json").read_text())["trained_on"]
        == json.loads(HEAD.read_text())["trained_on"]
    )
    asked = hotpot(data_dir)[:20]
    passages = [p for a in asked for p in a.passages]
    idf, near = idf_of(passages), Nearness(passages)
    pairs = [(again.scores(s), head().scores(s)) for s in (looked(a, idf, near) for a in asked)]
    new, old = (np.concatenate([pair[i].floor for pair in pairs]) for i in (0, 1))
    assert np.corrcoef(new, old)[0, 1] > 0.99


SCORES = st.lists(st.floats(-1, 1).map(lambda v: round(v, 2)), min_size=1, max_size=30)


@given(SCORES, SCORES, st.floats(0.5, 1), st.floats(0.5, 1))
def test_what_is_promised_holds_on_the_pairs_it_was_read_off(
    present: list[float], absent: list[float], precision: float, kept: float
) -> None:
    found = calibrate(present, absent, precision, kept)
    assert found.lower <= found.upper
    assert np.mean(np.array(present) >= found.lower) >= kept
    hit, false = (np.mean(np.array(s) >= found.upper) for s in (present, absent))
    reached = [p for p in found.curve if p.threshold >= found.lower and p.precision >= precision]
    assert hit / (hit + false) >= precision or not reached or found.upper == found.lower
    assert [p.threshold for p in found.curve] == sorted({p.threshold for p in found.curve})


@pytest.mark.parametrize(
    ("present", "absent"),
    [([], [0.1]), ([0.1], []), ([], []), ([float("nan")], [0.1]), ([0.1], [float("inf")])],
)
def test_scores_that_decide_nothing_are_refused(present: list[float], absent: list[float]) -> None:
    with pytest.raises(InputError):
        calibrate(present, absent, 0.9, 0.98)


def pairs(folder: Path, rows: list[Any]) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


ROWS = [
    {"question": f"When was the {name} opened?", "title": name, "passage": text.format(name), "label": label}
    for name in ("mill", "harbour", "school", "bridge")
    for text, label in (
        ("The {} was opened in 1931 by the mayor.", 1),
        ("Bread is baked near the {} at dawn.", 0),
    )
]


def test_the_command_calibrates_the_small_evaluator(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    given = ["eval", "thresholds", "--pairs", str(pairs(tmp_path, ROWS)), "--json", str(out)]
    done = CliRunner().invoke(cli.app, given)
    assert done.exit_code == 0, done.output
    figures = json.loads(out.read_text())
    assert figures["questions"] == 4
    assert -1 <= figures["lower"] <= figures["upper"] <= 1
    assert figures["present_at_upper"] == 1.0
    assert figures["absent_at_upper"] == 0.0
