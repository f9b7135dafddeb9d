from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ragweave.evals.commands.synthesize import report_lines, synthesize
from ragweave.evals.synthesis_job import SynthesisReport
from ragweave.models.errors import InputError, ModelError

REPORT: SynthesisReport = {
    "questions": 10,
    "kept": 6,
    "dropped": {"no new query could be read": 1},
    "failed": {"the server is down": 1},
    "left": 2,
    "ended_by": "50 model calls",
    "hops_of_kept": {1: 2, 2: 4},
    "missed_rounds": 3,
    "teacher": "t",
    "rewriter": "r",
    "model_calls": 50,
    "tokens": 900,
    "cost": 0.0,
    "seconds": 3.2,
}


def test_report_tells_what_was_kept_dropped_and_left(tmp_path: Path) -> None:
    text = "\n".join(report_lines(REPORT, tmp_path / "data.jsonl"))
    for part in (
        "6 of 10",
        "dropped 1: no new query",
        "failed 1: the server is down",
        "50 model calls",
        "2 questions are left",
    ):
        assert part in text
    assert "data.jsonl.report.json" in text


@pytest.mark.parametrize(
    ("rows", "error"), [("{", InputError), (json.dumps({"id": "a", "question": "q", "answers": ["x"]}), ModelError)]
)
def test_command_ends_with_a_named_error(tmp_path: Path, rows: str, error: type[Exception]) -> None:
    app = typer.Typer()
    app.command()(synthesize)
    questions = tmp_path / "q.jsonl"
    questions.write_text(rows, encoding="utf-8")
    result = CliRunner().invoke(app, [str(questions), str(tmp_path / "out.jsonl")])
    assert isinstance(result.exception, error)
