"""Measure the CPU time of indexing a folder and of asking it, in processes of their own, and the disk size.

Run `python benchmarks/store.py FOLDER [RUNS]`. The middle of the runs counts, in seconds of all processes
together.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

QUESTIONS = (
    "Which heating system does the house have?",
    "When was the house built?",
    "What does the insurance cover?",
)
ASK_OFTEN = """
import asyncio, sys, time
from ragweave.corpora.store.library import open_library
try:
    from ragweave.corpora.store.stores import stay
    stay()
except ImportError:  # an earlier one
    pass
async def main():
    library = await open_library()
    for n in range(101):
        if n == 1:
            began = time.process_time()
        for corpus in await library.counts():
            await library.search(corpus, [sys.argv[1]], 50)
    print((time.process_time() - began) / 100)
asyncio.run(main())
"""


def spent(home: Path, *argv: str) -> tuple[float, str]:
    """Return the seconds of the processor of a command and of all that it starts, and what it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = os.environ | {"RAGWEAVE_HOME": str(home), "RAGWEAVE_KNOBS": "mode=extractive"}
    done = subprocess.run([sys.executable, *argv], env=env, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 3):
        raise SystemExit(done.stderr)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def main(folder: Path, runs: int) -> None:
    """Print one line a command."""
    cli, figures = ("-m", "ragweave.app.cli"), dict[str, list[float]]()
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as name:
            home = Path(name) / "home"
            note = Path(name) / "note.md"
            note.write_text("# A note\n\nThe gate of the garden sticks in wet weather.\n")
            figures.setdefault("index", []).append(spent(home, *cli, "index", str(folder))[0])
            figures.setdefault("index one more file", []).append(spent(home, *cli, "index", str(note))[0])
            figures.setdefault("index, nothing new", []).append(spent(home, *cli, "index", str(folder))[0])
            for question in QUESTIONS:
                figures.setdefault("ask", []).append(spent(home, *cli, "ask", question)[0])
            searched = float(spent(home, "-c", ASK_OFTEN, QUESTIONS[0])[1])
            figures.setdefault("search of every corpus in a process that stays", []).append(searched)
            size = 0
    for path in home.rglob("*"):
        if path.is_file() and not path.is_symlink():
            size += path.stat().st_size
            figures.setdefault("MiB", []).append(size / 2**20)
    for what, seconds in figures.items():
        print(f"{what:50} {statistics.median(seconds):8.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3)
