"""Measure the removal of one source of many, and what is left of it on the disk.

    python benchmarks/removing.py
    python benchmarks/removing.py --sources 500 --paragraphs 60
    python benchmarks/removing.py --database postgresql+psycopg://USER@HOST/NAME

A seeded generator makes the texts. The program prints the CPU seconds of this process and its children, the
wall seconds, the seconds that an upload to the same library waits, the megabytes of text and of the home, and
how many files still have a word of the removed source, plain or compressed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import resource
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

WORD = "Quizzacious"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def texts(count: int, paragraphs: int, seed: int = 7) -> dict[str, str]:
    """Return Markdown files of random words whose frequencies fall as in a language."""
    pick = random.Random(seed)
    words: list[str] = []
    for _ in range(20_000):
        length = pick.randint(3, 10)
        words.append("".join(pick.choices(_LETTERS, k=length)))
    weights = [1 / (n + 10) for n in range(len(words))]
    files = {}
    for n in range(count):
        parts = [f"# File {n}"]
        for p in range(paragraphs):
            if p % 8 == 0:
                parts.append(f"## Part {p // 8}")
            parts.append(" ".join(pick.choices(words, weights, k=60)).capitalize() + ".")
        if n == count // 2:
            parts.append(f"The word {WORD} is in this file alone. {WORD} it is.")
        files[f"file{n:04}.md"] = "\n\n".join(parts) + "\n"
    return files


def processor() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def holding(home: Path, words: tuple[str, ...]) -> list[str]:
    """Return the files below a home that have one of some words, in any case."""
    pattern = re.compile("|".join(map(re.escape, words)).lower().encode())
    found: list[str] = []
    for path in files_of(home):
        data = path.read_bytes()
        texts = [data.lower(), *inflated(data)]
        if any(map(pattern.search, texts)):
            found.append(str(path.relative_to(home)))
    return found


def files_of(home: Path) -> list[Path]:
    """Return the files below a home in their order."""
    return [path for path in sorted(home.rglob("*")) if path.is_file()]


def inflated(data: bytes) -> Iterator[bytes]:
    """Yield what begins in a file as zlib's bytes do, as far as it can be read, in lower case."""
    at = data.find(b"\x78\x9c")
    while at >= 0:
        with suppress(zlib.error):
            yield zlib.decompressobj().decompress(data[at : at + 100_000]).lower()
        at = data.find(b"\x78\x9c", at + 1)


def megabytes(home: Path) -> float:
    """Return the size of the files of a home."""
    return sum([path.stat().st_size for path in files_of(home)]) / 1e6


def main() -> None:
    """Index, remove, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=int, default=500)
    parser.add_argument("--paragraphs", type=int, default=40)
    parser.add_argument("--database", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        os.environ |= {"RAGWEAVE_HOME": f"{place}/home", "RAGWEAVE_DATABASE_URL": given.database}
        files = texts(given.sources, given.paragraphs)
        folder = Path(place) / "files"
        folder.mkdir()
        size = 0
        for name, text in files.items():
            size += (folder / name).write_bytes(text.encode())
        asyncio.run(measure(folder, Path(place) / "home", size / 1e6))


class Waiting(threading.Thread):
    """Takes the lock of a library again and again, as uploads do, and measures the longest wait."""

    def __init__(self, library: str) -> None:
        super().__init__()
        self.longest = 0.0
        self._library = library
        self._done = threading.Event()

    def run(self) -> None:
        """Wait for the lock until the end."""
        from ragweave.corpora.store import locks

        while not self._done.wait(0.05):
            at = time.monotonic()
            with locks.writer(self._library, "default"):
                self.longest = max(self.longest, time.monotonic() - at)

    def end(self) -> None:
        """Stop."""
        self._done.set()
        self.join()


async def measure(folder: Path, home: Path, text: float) -> None:
    """Remove one source in the middle while a thread waits for the library."""
    from ragweave.corpora.ingest.run import index
    from ragweave.corpora.store.library import open_library

    began, cpu = time.monotonic(), processor()
    await index([folder], "default")
    print(
        f"indexing {text:.1f} MB: {time.monotonic() - began:.1f} s, {processor() - cpu:.1f} s of the"
        " processor"
    )
    print(f"home: {megabytes(home):.1f} MB, {megabytes(home) / text:.1f} for a megabyte of text", flush=True)
    library = await open_library("default")
    sources = await library.sources()
    name = f"file{len(sources) // 2:04}.md"
    [middle] = [source for source in sources if source.path.endswith(name)]
    print(f"files that hold the word before: {len(holding(home, (WORD,)))}")
    waiting = Waiting(library.id)
    waiting.start()
    began, cpu = time.monotonic(), processor()
    await library.remove(middle.id)
    took, used = time.monotonic() - began, processor() - cpu
    waiting.end()
    print(
        f"removing one of {len(sources)}: {took:.2f} s, {used:.2f} s of the processor; uploads wait"
        f" {waiting.longest:.2f} s"
    )
    began, cpu = time.monotonic(), processor()
    (folder / name).unlink()
    (folder / "file0001.md").write_text("# File 1\n\nIt was changed.\n")
    await index([folder], "default")
    took, used = time.monotonic() - began, processor() - cpu
    print(f"a run after it, one file changed: {took:.2f} s, {used:.2f} s of the processor")
    print(
        f"home: {megabytes(home):.1f} MB; files that hold the word:"
        f" {holding(home, (WORD, WORD[:11])) or 'none'}"
    )


if __name__ == "__main__":
    main()
