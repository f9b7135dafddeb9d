"""Index the example library into a temporary home, and ask it seven questions on the command line.

Run `make demo`. It needs no key and no language model: the answers are quotes of the closest passages. With
RAGWEAVE_KNOBS=mode=auto a configured chat model writes them.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".demo"

TALK = ["When did the shipyard that built the Marten close?", "And in which town did it stand?"]
ASKED: list[tuple[str, list[str], int, list[str]]] = [
    (
        "The row of a table, below the heads of its columns",
        ["ask", "What does a return ticket of the ferry cost for a child?"],
        0,
        ["return | 100 crowns | 40 crowns", "ferry.md"],
    ),
    (
        "A page of a PDF",
        ["ask", "What does the new pier cost?"],
        0,
        ["2.6 million crowns", "council-2024.pdf, page 1"],
    ),
    (
        "A recording, cited to the second",
        ["ask", "How often has the lifeboat been launched?"],
        0,
        ["sixty-four", "harbour-walk.vtt 1:19"],
    ),
    (
        "A Chinese question about a Chinese document",
        ["ask", "灯塔茶室几点关门?"],
        0,
        ["六点", "灯塔茶室.md"],
    ),
    (
        "A question that nothing in the library is near to",
        ["ask", "Who is allowed to vote in Switzerland?"],
        3,
        [],
    ),
]
"""Rows of a title, a command, its exit code, and words that its output must contain."""


class _Tee(io.TextIOBase):
    """Writes to the terminal, and keeps a copy of the text."""

    def __init__(self, out: io.TextIOBase) -> None:
        self.out, self.kept = out, ""

    def write(self, text: str) -> int:
        self.kept += text
        return self.out.write(text)

    def flush(self) -> None:
        self.out.flush()

    def isatty(self) -> bool:
        return self.out.isatty()

    def fileno(self) -> int:
        return self.out.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return str(self.out.encoding)


def show(title: str, argv: list[str], code: int, words: list[str], typed: str = "") -> bool:
    """Run one command, and return whether it printed the words and exited with the code."""
    from ragweave.app.cli import main

    line = shlex.join(["ragweave", *argv])
    print(f"\n\n── {title}\n$ {line}")
    tee = _Tee(sys.stdout)  # type: ignore[arg-type]
    stdin = sys.stdin
    sys.stdin = io.StringIO(typed)
    try:
        with contextlib.redirect_stdout(tee):
            got = main(argv)
    finally:
        sys.stdin = stdin
    output = " ".join(tee.kept.split())
    missing = [word for word in words if word not in output]
    if got != code or missing:
        print(f"(exit code {got}, expected {code}; not shown: {missing})", file=sys.stderr)
    return got == code and not missing


def collections() -> None:
    """Print the Chroma collections of the library, as any other program sees them."""
    import chromadb
    from chromadb.config import Settings

    [path] = HOME.glob("libraries/*/chroma")
    print(f"\n\n── What chromadb.PersistentClient({str(path.relative_to(ROOT))!r}) lists")
    client = chromadb.PersistentClient(str(path), settings=Settings(anonymized_telemetry=False))
    for collection in sorted(client.list_collections(), key=lambda each: each.name):
        print(f"{collection.name:12} {collection.count():4} vectors")


def run() -> int:
    """Run every command; return the exit code 1 if one of them failed."""
    shutil.rmtree(HOME, ignore_errors=True)
    for name in list(os.environ):
        if name.startswith("RAGWEAVE_") and not name.startswith(("RAGWEAVE_KNOBS", "RAGWEAVE_CHAT")):
            del os.environ[name]
    os.environ["RAGWEAVE_HOME"] = str(HOME)
    os.environ["RAGWEAVE_LIBRARY"] = "default"
    os.environ.setdefault("RAGWEAVE_KNOBS", "mode=extractive")
    os.chdir(ROOT)
    fine = show("A small library: nine files", ["index", "examples/library"], 0, ["9 files"])
    fine &= show(
        "A conversation: a question whose answer needs two documents, and a follow-up",
        ["chat"],
        0,
        ["built in 1961", "closed in 1987", "Ostvik"],
        "\n".join(TALK) + "\n",
    )
    for title, argv, code, words in ASKED:
        fine &= show(title, argv, code, words)
    collections()
    print('\n\nThe library lies in .demo/; ask it more: RAGWEAVE_HOME=.demo .venv/bin/ragweave ask "..."')
    print("Answers in whole sentences need a chat model; set one up: .venv/bin/ragweave setup")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(run())
