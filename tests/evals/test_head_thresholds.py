"""The two thresholds that ship with the relevance head."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ragweave.app import cli
from ragweave.components.grade import locally
from ragweave.evals.head_thresholds import SHIPPED
from ragweave.evals.thresholds import VerdictShares, verdict_shares
from ragweave.tests.conftest import Main


def test_both_thresholds_are_inclusive() -> None:
    upper, lower = SHIPPED
    assert verdict_shares([upper, lower, lower - 0.01, upper - 0.01], SHIPPED) == VerdictShares(
        0.25, 0.5, 0.25
    )


async def test_the_head_grades_with_the_thresholds_that_are_printed() -> None:
    graded = await locally(None, "", [], ())  # type: ignore[arg-type]
    assert (graded.upper, graded.lower) == SHIPPED


def test_the_rule_chooses_what_ships_on_the_set_that_the_head_has_not_seen(
    data_dir: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    given = ["eval", "thresholds", "--data", str(data_dir), "--json", str(out)]
    shown = CliRunner().invoke(cli.app, given, catch_exceptions=False).output
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["xquad_rule_upper"] == pytest.approx(found["upper"], abs=0.1)
    assert found["xquad_rule_lower"] == pytest.approx(found["lower"], abs=0.05)
    assert "+0.00 and -0.90" in shown and "XQuAD, not trained on" in shown


def test_thresholds_of_nothing_are_refused_with_a_remedy(main: Main) -> None:
    code, _, error = main("eval", "thresholds")
    assert code and "--pairs FILE or --data DATA" in error
