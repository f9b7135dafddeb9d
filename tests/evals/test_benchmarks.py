"""Every program of benchmarks/ starts and explains itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


def programs() -> list[Path]:
    """Return the programs that read options; `printed.py` reads them for others and is none itself."""
    found: list[Path] = []
    for path in sorted(FOLDER.rglob("*.py")):
        text = path.read_text("utf-8")
        if "__main__" in text and ("parse_args" in text or "run(__doc__" in text):
            found.append(path)
    return found


@pytest.mark.parametrize("program", programs(), ids=lambda path: path.stem)
def test_a_benchmark_explains_itself(program: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(program), "--help"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "usage:" in done.stdout
