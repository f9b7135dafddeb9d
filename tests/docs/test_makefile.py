"""`make setup`: a machine that is set up for minutes says so, and a failure stops it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PIP = """#!/bin/sh
n=0
while [ $n -lt 60 ]; do n=$((n + 1)); echo "Collecting package$n"; done
echo "Installing collected packages: package1"
exit {code}
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("code", [0, 1])
def test_setting_up_tells_each_step_in_a_few_lines_and_fails_with_pip(tmp_path: Path, code: int) -> None:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(PIP.format(code=code), encoding="utf-8")
    python.chmod(0o755)
    command = ["make", "--no-print-directory", "-C", str(ROOT), f"VENV={tmp_path}", "setup"]
    done = subprocess.run(command, capture_output=True, text=True)
    steps = ["found 25 packages", "found 50 packages", "installing 60 packages"]
    first, *rest = done.stdout.splitlines()
    assert "minutes" in first and [line.strip() for line in rest] == steps
    assert (done.returncode, (tmp_path / ".base").exists()) == ((0, True) if code == 0 else (2, False))
