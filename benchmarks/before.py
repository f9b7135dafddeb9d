"""A benchmark here and at an earlier commit, in turns: the processor's seconds of each run, and their ratio.

    python benchmarks/before.py COMMIT index.py --paragraphs 1000

Everything after the commit is a program of this folder with its options; it runs with the package of either.
What a run prints goes before its line, and processes that it starts count with it. `ROUNDS=4` takes four
rounds instead of two.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def checked_out(commit: str, folder: Path) -> Path:
    """Put the files of a commit into a folder, linked as a package; return the folder of the files."""
    kept = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x"], cwd=folder, input=kept, check=True)
    return folder


def seconds(tree: Path, links: Path, command: list[str]) -> float:
    """Run a benchmark of a tree; return the processor's seconds."""
    links.mkdir(exist_ok=True)
    (links / "ragweave").symlink_to(tree)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    program = [sys.executable, str(ROOT / "benchmarks" / command[0]), *command[1:]]
    subprocess.run(program, env={**os.environ, "PYTHONPATH": str(links)}, check=True)
    (links / "ragweave").unlink()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Read the command line, run in turns, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commit")
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, help="a program of this folder, with its options"
    )
    given = parser.parse_args()
    commit, command = given.commit, given.command
    with tempfile.TemporaryDirectory() as place:
        (earlier := Path(place) / "earlier").mkdir()
        trees = {"earlier": checked_out(commit, earlier), "here": ROOT}
        took: dict[str, list[float]] = {name: [] for name in trees}
        for _ in range(int(os.environ.get("ROUNDS", "2"))):
            for name, tree in trees.items():
                took[name].append(seconds(tree, Path(place) / "links", command))
                print(f"{name}: {took[name][-1]:.1f} s of the processor", flush=True)
    ratio = statistics.median(took["here"]) / statistics.median(took["earlier"])
    print(f"{' '.join(command)}: x{ratio:.2f} of {commit}")


if __name__ == "__main__":
    main()
