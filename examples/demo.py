"""Index the example library into a throw-away home and ask it seven questions, with the commands a person would type.

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
    ("A Chinese question about a Chinese document", ["ask", "灯塔茶室几点关门?"], 0, ["六点", "灯塔茶室.md"]),
    (
        "A question that nothing in the library is near to",
        ["ask", "Who is allowed to vote in Switzerland?"],
        3,
        [],
    ),
]
"""What is shown, the command, its exit code, and what its output must hold."""


class _Tee(io.TextIOBase):
    """Writes through to the terminal and keeps what was written."""

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
    """Run one command and say whether it did what it should."""
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
    told = " ".join(tee.kept.split())
    missing = [w for w in words if w not in told]
    if got != code or missing:
        print(f"(exit code {got} where {code} was expected; not shown: {missing})", file=sys.stderr)
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
    """Show everything; the exit code is 1 where something did not go as it should."""
    shutil.rmtree(HOME, ignore_errors=True)
    for name in [
        n
        for n in os.environ
        if n.startswith("RAGWEAVE_") and not n.startswith(("RAGWEAVE_KNOBS", "RAGWEAVE_CHAT"))
    ]:
        del os.environ[name]
    os.environ["RAGWEAVE_HOME"] = str(HOME)
    os.environ["RAGWEAVE_LIBRARY"] = "default"
    os.environ.setdefault("RAGWEAVE_KNOBS", "mode=extractive")
    os.chdir(ROOT)
    fine = show("A small library: nine files", ["index", "examples/library"], 0, ["9 files"])
    fine &= show(
        "A conversation: a question whose answer stands in two documents, and a follow-up",
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
