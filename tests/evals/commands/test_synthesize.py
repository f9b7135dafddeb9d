from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ragweave.evals.commands.synthesize import synthesize
from ragweave.models.errors import InputError, ModelError


@pytest.mark.parametrize(
    ("rows", "error"),
    [("{", InputError), (json.dumps({"id": "a", "question": "q", "answers": ["x"]}), ModelError)],
)
def test_command_ends_with_a_named_error(tmp_path: Path, rows: str, error: type[Exception]) -> None:
    app = typer.Typer()
    app.command()(synthesize)
    questions = tmp_path / "q.jsonl"
    questions.write_text(rows, encoding="utf-8")
    result = CliRunner().invoke(app, [str(questions), str(tmp_path / "out.jsonl")])
    assert isinstance(result.exception, error)
