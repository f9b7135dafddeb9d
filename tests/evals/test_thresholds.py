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
from ragweave.evals.thresholds import calibrate
from ragweave.models.errors import InputError

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
