"""Many processes at one home: thirty that ask at once, as a script in the background does; ten readers of a commit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ragweave.models.subprocess_env import import_path

pytestmark = [pytest.mark.hard, pytest.mark.xdist_group("in time")]

ITEMS = int(os.environ.get("TEST_ITEMS", "5000"))
READERS = 10
READER = """
import asyncio, sys, threading, time
from ragweave.corpora.store.library import open_library

stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()

async def main():
    library, answers, longest = await open_library(), 0, 0.0
    while not stop.is_set():
        began = time.monotonic()
        [lists] = await library.search("paragraph", ["the lighthouse of Harbour07"], 5)
        items = await library.items([h.id for h in (*lists.dense, *lists.lexical)])
        assert any("Harbour07 was built in 1849" in item.text for item in items.values()), items
        answers, longest = answers + 1, max(longest, time.monotonic() - began)
    print(answers, longest)

asyncio.run(main())
"""
PROCESSES = 30
COMMAND = [sys.executable, "-m", "ragweave.app.cli"]
TOWNS = {f"Harbour{n:02d}": 1800 + 7 * n for n in range(PROCESSES)}


@pytest.fixture
def ragweave(tmp_path: Path) -> dict[str, Any]:
    """How a process is started whose home holds a note of each town."""
    files = tmp_path / "files"
    files.mkdir()
    for town, year in TOWNS.items():
        (files / f"{town}.md").write_text(f"# {town}\n\nThe lighthouse of {town} was built in {year}.\n")
    env = {**os.environ, "RAGWEAVE_HOME": str(tmp_path / "home"), "PYTHONPATH": import_path()}
    subprocess.run([*COMMAND, "index", str(files)], env=env, check=True, capture_output=True)
    return {"env": env, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}


def test_thirty_processes_that_ask_one_home_at_once_all_answer(ragweave: dict[str, Any]) -> None:
    asking = {
        town: subprocess.Popen([*COMMAND, "ask", f"When was the lighthouse of {town} built?"], **ragweave)
        for town in TOWNS
    }
    said = {town: process.communicate() for town, process in asking.items()}

    failed = {
        t: said[t] for t, process in asking.items() if process.returncode or str(TOWNS[t]) not in said[t][0]
    }
    assert not failed


def test_ten_readers_are_answered_while_one_large_file_is_committed(
    tmp_path: Path, ragweave: dict[str, Any]
) -> None:
    (tmp_path / "large").mkdir()
    buoys = (f"## Buoy {n}\n\nThe buoy {n} was laid at {n % 40 + 3} fathoms.\n\n" for n in range(ITEMS))
    (tmp_path / "large" / "buoys.md").write_text("# Buoys\n\n" + "".join(buoys))
    reading = [
        subprocess.Popen([sys.executable, "-c", READER], stdin=subprocess.PIPE, **ragweave)
        for _ in range(READERS)
    ]
    done = subprocess.run([*COMMAND, "index", str(tmp_path / "large")], check=False, **ragweave)
    said = [process.communicate("") for process in reading]

    assert done.returncode == 0, done.stderr
    assert not any(process.returncode for process in reading), said
    counted = [out.split() for out, _ in said]
    answers, longest = sum(int(n) for n, _ in counted), max(float(seconds) for _, seconds in counted)
    print(
        f"\n{ITEMS} items: {done.stdout.splitlines()[1]} {answers} answers meanwhile, the longest in"
        f" {longest:.2f} s"
    )
    assert answers
