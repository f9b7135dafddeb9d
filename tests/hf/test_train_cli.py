from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragweave.app import cli
from ragweave.models import checkpoint

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", reason="the extra hf is not installed; `make test-hf` runs these tests")


@pytest.mark.parametrize(
    ("command", "kind", "variable"),
    [
        ("router", "distilbert", "RAGWEAVE_ROUTER"),
        ("router", "t5", "RAGWEAVE_ROUTER"),
        ("evaluator", "t5", "RAGWEAVE_EVALUATOR"),
    ],
)
def test_a_checkpoint_is_trained_from_the_command_line(
    command: str,
    kind: str,
    variable: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
    routed: Path,
    pairs: Path,
) -> None:
    base = request.getfixturevalue(kind)
    data = routed if command == "router" else pairs
    out = tmp_path / "out"
    options = ["--kind", kind, "--data", str(data), "--base", str(base), "--out", str(out)]
    options += ["--epochs", "1", "--batch", "32", "--rate", "0.003", "--seed", "5", "--licence", "CC0"]
    assert cli.main(["train", command, *options]) == 0
    shown = capsys.readouterr()
    assert f"{variable}={out}" in shown.out
    assert "epoch 1 of 1" in shown.err
    made: Any = getattr(checkpoint, command)(str(out))
    assert made.name == "out"
