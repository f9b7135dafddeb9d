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
from ragweave.evals import thresholds
from ragweave.evals.evaluator_data import LabelledQuestion
from ragweave.evals.pairs import read_pairs, scorer
from ragweave.evals.thresholds import Calibration, best_scores, calibrate
from ragweave.models.chat import override
from ragweave.models.errors import InputError
from ragweave.models.relevance import Passage, Scores
from ragweave.tests.support import ScriptedChat

SCORES = st.lists(st.floats(-1, 1).map(lambda v: round(v, 2)), min_size=1, max_size=30)


def test_separable_scores_are_separated() -> None:
    found = calibrate([0.6, 0.7, 0.9], [-0.9, -0.8, -0.2], precision=1.0, kept=1.0)
    assert (found.lower, found.upper) == (0.6, 0.6)
    assert found.at(0.6) == thresholds.ThresholdPoint(0.6, 1.0, 0.0, 1.0)


def test_precision_raises_the_upper_and_kept_lowers_the_lower_threshold() -> None:
    present, absent = [-0.9, -0.1, 0.2, 0.6, 0.9], [-0.95, -0.5, 0.0, 0.5]
    strict, loose = calibrate(present, absent, 0.95, 1.0), calibrate(present, absent, 0.6, 0.6)
    assert (strict.upper, strict.lower) == (0.6, -0.9)
    assert (loose.upper, loose.lower) == (0.2, 0.2)


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
    ("present", "absent"), [([], [0.1]), ([0.1], []), ([], []), ([float("nan")], [0.1]), ([0.1], [float("inf")])]
)
def test_scores_that_decide_nothing_are_refused(present: list[float], absent: list[float]) -> None:
    with pytest.raises(InputError):
        calibrate(present, absent, 0.9, 0.98)


def scores(values: Any) -> Scores:
    return Scores(np.array(values), np.array(values))


async def test_a_question_is_judged_with_and_without_its_relevant_candidates_in_lists_of_one_length() -> None:
    asked = LabelledQuestion("q", tuple(Passage("", str(n)) for n in range(5)), np.array([0, 1, 0, 0, 0]))
    lists: list[list[str]] = []

    async def judge(question: str, passages: Any) -> Scores:
        lists.append([p.text for p in passages])
        return scores([float(p.text) / 10 for p in passages])

    assert await best_scores([asked], judge) == ([0.3], [0.4])
    assert [sorted(found) for found in lists] == [["0", "1", "2", "3"], ["0", "2", "3", "4"]]


async def test_questions_of_one_kind_only_give_scores_of_that_kind() -> None:
    passages = (Passage("", "1"),)
    gold, none = LabelledQuestion("a", passages, np.array([1])), LabelledQuestion("b", passages, np.array([0]))

    async def judge(question: str, passages: Any) -> Scores:
        return scores([0.5 if question == "a" else -0.5])

    assert await best_scores([gold, none], judge) == ([0.5], [-0.5])


def pairs(folder: Path, rows: list[Any]) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


ROWS = [
    {"question": f"When was the {name} opened?", "title": name, "passage": text.format(name), "label": label}
    for name in ("mill", "harbour", "school", "bridge")
    for text, label in (("The {} was opened in 1931 by the mayor.", 1), ("Bread is baked near the {} at dawn.", 0))
]


CURVE = calibrate([0.2, 0.9], [-0.9, 0.1], 0.9, 0.9)


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


async def test_a_model_is_calibrated_by_its_verdicts_with_one_call_per_list(tmp_path: Path) -> None:
    asked = read_pairs(pairs(tmp_path, ROWS))
    model = ScriptedChat(
        react=lambda messages: {
            "verdicts": [{"n": 1, "verdict": "relevant" if "1931" in messages[-1].text else "irrelevant"}]
        }
    )
    with override(writer=model):
        present, absent = await best_scores(asked, scorer("llm")(asked))
    assert (set(present), set(absent)) == ({0.9}, {-0.9})
    assert len(model.calls) == 2 * len(asked)


def test_the_curve_ends_beyond_its_last_threshold() -> None:
    found: Calibration = CURVE
    assert found.at(0.95) == thresholds.ThresholdPoint(0.95, 0.0, 0.0, 1.0)
