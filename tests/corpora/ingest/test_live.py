"""The live library: readers in other processes. Writers that are killed are in test_killed.py and tests/hard."""

import asyncio
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import open_library

pytestmark = pytest.mark.both

READER = """
import asyncio, json, sys
from ragweave.corpora.store.library import open_library

async def main():
    library = await open_library()
    for line in sys.stdin:
        [lists] = await library.search("paragraph", [line], 500)
        items = await library.items([h.id for h in (*lists.dense, *lists.lexical)])
        found = [sorted(items[h.id].title for h in hits) for hits in (lists.dense, lists.lexical)]
        print(json.dumps(found), flush=True)

asyncio.run(main())
"""

NOUNS = "aqueduct basilica citadel dolmen esplanade forum granary hippodrome icon jetty kiln lighthouse".split()


def write_note(folder: Path, n: int, rng: random.Random) -> None:
    parts = [f"## Part {i}\n\n" + " ".join(rng.choices(NOUNS, k=90)) + "." for i in range(rng.randint(1, 4))]
    (folder / f"{n:03}.md").write_text("\n\n".join([f"# Note {n}", *parts]))


def spawn(code: str, home: Path, *given: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *given],
        env={**os.environ, "RAGWEAVE_HOME": str(home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


async def answer(reader: subprocess.Popen[str], question: str) -> list[list[str]]:
    reader.stdin.write(question + "\n")
    reader.stdin.flush()
    try:
        return json.loads(await asyncio.wait_for(asyncio.to_thread(reader.stdout.readline), 300))
    except TimeoutError:
        reader.kill()
        raise


def end(reader: subprocess.Popen[str]) -> None:
    reader.stdin.close()
    try:
        reader.wait(60)
    finally:
        reader.kill()
        reader.stdout.close()


async def test_a_reader_that_was_open_before_sees_every_change_at_its_next_question_and_nothing_deleted(
    tmp_path, home, read_here
):
    notes = tmp_path / "notes"
    notes.mkdir()
    rng = random.Random(3)
    write_note(notes, 0, rng)
    await index([notes])
    library = await open_library()
    reader = spawn(READER, home)
    try:
        there = {"Note 0"}
        for step in range(4):
            dense, words = await answer(reader, "aqueduct granary")
            assert set(dense) == set(words) == there
            if step % 3 == 2:
                gone = rng.choice(sorted(there))
                (notes / f"{int(gone.split()[1]):03}.md").unlink()
                there.remove(gone)
            for n in (100 + 2 * step, 101 + 2 * step):
                write_note(notes, n, rng)
                there.add(f"Note {n}")
            await index([notes])
        for source in (await library.sources())[:3]:
            await library.remove(source.id)
            there.remove(source.title)
            dense, words = await answer(reader, "forum kiln")
            assert set(dense) == set(words) == there
    finally:
        end(reader)
