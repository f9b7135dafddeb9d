"""Print the files of Ragweave that a plain question in LLM mode runs through, by room.

python benchmarks/touched.py

A library of one file is asked once to load everything. The second question is counted: a file counts where one of its
functions is called. The model is scripted and answers from its first passage.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import ragweave
from ragweave.models.chat import override
from ragweave.tests.support import ScriptedChat, build_library

ROOT = Path(ragweave.__file__).resolve().parent
TEXT = "# The pump\n\nThe pump was built by Ada Kern in 1931.\n"


async def ask() -> None:
    """Ask the library one question."""
    answer = await ragweave.aask("Who built the pump?", context=ragweave.Context(mode="llm"))
    assert "Ada Kern" in answer.text, answer


class Calls(Counter[str]):
    """Counts the calls of each file while `counting` is set, in every thread that starts after `install`."""

    counting = False

    def install(self) -> None:
        """Begin to watch."""
        threading.setprofile(self._seen)
        sys.setprofile(self._seen)

    def _seen(self, frame: FrameType, event: str, argument: Any) -> None:
        if self.counting and event == "call":
            self[frame.f_code.co_filename] += 1

    def own(self) -> dict[str, int]:
        """Return the files of the package with their calls."""
        files = {Path(f).relative_to(ROOT): n for f, n in self.items() if f.startswith(str(ROOT))}
        return {
            str(f): n for f, n in files.items() if f.parts[0] not in {"tests", "benchmarks"} and f.parts[0][0] != "."
        }


async def main() -> None:
    """Build the library, ask twice and print the files."""
    calls = Calls()
    calls.install()
    model = ScriptedChat(react=lambda messages: "Final Answer: The pump was built by Ada Kern in 1931 [1].")
    with tempfile.TemporaryDirectory() as folder, override(writer=model):
        os.environ["RAGWEAVE_HOME"] = f"{folder}/home"
        await build_library(Path(folder) / "notes", {"pump.md": TEXT})
        await ask()
        calls.counting = True
        await ask()
        calls.counting = False
    files = calls.own()
    rooms = Counter(f.split("/")[0] for f in files)
    for file in sorted(files):
        print(f"{files[file]:>7}  {file}")
    print(f"{len(files)} files: " + ", ".join(f"{room} {n}" for room, n in rooms.most_common()))


if __name__ == "__main__":
    asyncio.run(main())
