"""Every program of benchmarks/ starts and explains itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
PROGRAMS = [p for p in sorted(FOLDER.rglob("*.py")) if "parse_args" in p.read_text("utf-8")]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_benchmark_explains_itself(program: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(program), "--help"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "usage:" in done.stdout
