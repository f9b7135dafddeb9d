"""A reader in another process asks without a pause while a writer adds, edits and deletes."""

from __future__ import annotations

import asyncio
import json
import random
import time
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.ingest.run import index
from ragweave.corpora.ingest.stages import prepare

pytestmark = [pytest.mark.hard, pytest.mark.chroma]

BATCH = 20
READER = """
import asyncio, json, sys, threading, time
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.stores import stay

stay()
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()

async def main():
    library = await open_library()
    while not stop.is_set():
        began = time.monotonic()
        [lists] = await library.search("paragraph", ["aqueduct granary"], 5000)
        ended = time.monotonic()
        items = await library.items([h.id for h in (*lists.dense, *lists.lexical)])
        dense, words = ([items[h.id].title for h in hits if h.id in items] for hits in (lists.dense, lists.lexical))
        print(json.dumps([began, ended, dense, words]), flush=True)

asyncio.run(main())
"""
FOREVER = float("inf")


class Life:
    """When the writer began to make a version known, had made it known, began to forget it, had forgotten it."""

    def __init__(self, began: float) -> None:
        self.came = [began, FOREVER]
        self.went = [FOREVER, FOREVER]

    def must(self, began: float, ended: float) -> bool:
        """Whether a question asked in this time has to find it."""
        return self.came[1] <= began and ended <= self.went[0]

    def may(self, began: float, ended: float) -> bool:
        """Whether a question asked in this time is allowed to find it."""
        return self.came[0] <= ended and began <= self.went[1]


async def test_every_answer_is_right_while_the_library_changes(
    tmp_path: Path, home: Path, kit: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        Readers,
        "read",
        lambda self, path, source, words, *more, **_: prepare(Path(path), source, words, *more),
    )
    rng = random.Random(17)
    notes = tmp_path / "notes"
    notes.mkdir()
    lives: dict[str, Life] = {}
    current: dict[int, int] = {}

    def write(n: int, version: int) -> str:
        filler = " ".join(rng.choices("citadel dolmen forum icon jetty kiln".split(), k=20))
        title = f"Note {n} version {version}"
        (notes / f"{n}.md").write_text(f"# {title}\n\nThe aqueduct ends at the granary. {filler}.\n")
        return title

    async def run(come: list[str], go: list[str]) -> None:
        began = time.monotonic()
        for title in come:
            lives[title] = Life(began)
        for title in go:
            lives[title].went[0] = began
        await index([notes])
        for title in come:
            lives[title].came[1] = time.monotonic()
        for title in go:
            lives[title].went[1] = time.monotonic()

    for n in range(40):
        current[n] = 1
    await run([write(n, 1) for n in current], [])
    reader = kit.spawn(READER, home)
    answers: list[tuple[float, float, list[str], list[str]]] = []

    async def collect() -> None:
        while line := await asyncio.to_thread(reader.line):
            answers.append(tuple(json.loads(line)))

    async def another_answer() -> None:
        """Wait until a question that was asked from now on has its answer, however slow this machine is."""
        now = time.monotonic()
        while not answers or answers[-1][0] < now:
            assert not collecting.done(), reader.errors()
            await asyncio.sleep(0.05)

    collecting = asyncio.create_task(collect())
    changes = {"added": 0, "edited": 0, "deleted": 0}
    kinds = cycle(
        ["added", "edited", "deleted", "added", "edited", "added", "edited", "deleted", "added", "added"]
    )
    following = 40
    while sum(changes.values()) < kit.changes:
        kind = next(kinds)
        come: list[str] = []
        go: list[str] = []
        if kind == "added":
            for n in range(following, following + BATCH):
                current[n] = 1
                come.append(write(n, 1))
            following += BATCH
        else:
            for n in rng.sample(sorted(current), min(BATCH, len(current) - 10)):
                go.append(f"Note {n} version {current[n]}")
                if kind == "edited":
                    current[n] += 1
                    come.append(write(n, current[n]))
                else:
                    del current[n]
                    (notes / f"{n}.md").unlink()
        await another_answer()
        await run(come, go)
        changes[kind] += max(len(come), len(go))
    await another_answer()
    reader.told_to_stop()
    await collecting
    assert await asyncio.to_thread(reader.end) == 0, reader.errors()

    wrong = {"deleted or not there yet": 0, "missing in the word list": 0, "two versions of one note": 0}
    unseen = asked = 0
    for began, ended, dense, words in answers:
        must = {t for t, life in lives.items() if life.must(began, ended)}
        for found in (dense, words):
            wrong["deleted or not there yet"] += sum(not lives[t].may(began, ended) for t in found)
            wrong["two versions of one note"] += len(found) - len(
                {t.rpartition(" version ")[0] for t in found}
            )
        wrong["missing in the word list"] += len(must - set(words))
        unseen += len(must - set(dense))
        asked += len(must)
    last = {f"Note {n} version {v}" for n, v in current.items()}
    print(f"\n{len(answers)} questions while items changed: {changes}; {unseen} of {asked} unseen")
    assert not any(wrong.values()), wrong
    assert set(answers[-1][3]) == last
    # An approximate index may miss a vector; that is its recall, no matter of generations.
    assert unseen <= asked * 0.002
