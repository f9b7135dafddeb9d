"""Thirty command lines ask one home at once, as a script that loops over questions in the background does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.hard

PROCESSES = 30
TOWNS = {f"Harbour{n:02d}": 1800 + 7 * n for n in range(PROCESSES)}


def test_thirty_processes_that_ask_one_home_at_once_all_answer(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    for town, year in TOWNS.items():
        (files / f"{town}.md").write_text(f"# {town}\n\nThe lighthouse of {town} was built in {year}.\n")
    env = {**os.environ, "RAGWEAVE_HOME": str(tmp_path / "home")}
    ragweave = [sys.executable, "-m", "ragweave.app.cli"]
    subprocess.run([*ragweave, "index", str(files)], env=env, check=True, capture_output=True)

    asking = {
        town: subprocess.Popen(
            [*ragweave, "ask", f"When was the lighthouse of {town} built?"],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for town in TOWNS
    }
    said = {town: process.communicate() for town, process in asking.items()}

    failed = {t: said[t] for t, process in asking.items() if process.returncode or str(TOWNS[t]) not in said[t][0]}
    assert not failed
