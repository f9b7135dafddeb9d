"""Killed at random times, a library ends as it would have without."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.hard

WRITER = """
import asyncio, os, sys
from pathlib import Path
from ragweave.corpora.ingest import pipeline
from ragweave.corpora.ingest.run import index
pipeline.COMMIT_CHUNKS = 100
log = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def tell(event):
    if event.kind == "started":
        print("started", flush=True)
    elif event.kind in ("staged", "done"):
        stage = event.stage or "done"
        os.write(log, f"{stage} {event.path}\\n".encode())

asyncio.run(index([Path(sys.argv[1])], on_event=tell))
"""

CARER = """
import asyncio
from ragweave.corpora.store.repair import repair
print("started", flush=True)
while True:
    done = asyncio.run(repair())
    print("repaired", done.sound, flush=True)
"""


def documents(folder: Path, rng: random.Random) -> None:
    """Lay out the documents to index: real ones where they are at hand, others made up; some bear no title."""
    data = (
        Path(os.environ.get("RAGWEAVE_DATA", Path(__file__).parents[3] / "shared" / "data"))
        / "docs_astronomy"
    )
    folder.mkdir()
    if data.is_dir():
        for path in sorted(data.glob("*.md")):
            shutil.copy(path, folder / path.name)
    words = "aqueduct basilica citadel dolmen esplanade forum granary hippodrome icon jetty kiln lighthouse".split()
    for n in range(12 if data.is_dir() else 40):
        parts = [
            (f"## Part {i}\n\n" if n % 3 else "") + " ".join(rng.choices(words, k=400)) + "."
            for i in range(12)
        ]
        (folder / f"{n:03}.md").write_text("\n\n".join([*([f"# Note {n}"] if n % 3 else []), *parts]))


def change(folder: Path, rng: random.Random, step: int) -> set[str]:
    """Edit, remove, copy and rename some documents; return the paths whose content is another one now."""
    paths = sorted(folder.glob("*.md"))
    touched = set()
    for path in rng.sample(paths, 12):
        path.write_text(path.read_text() + f"\n\nA remark of step {step}: {rng.random()}.\n")
        touched.add(str(path))
    victim = rng.choice(paths)
    added = folder / f"added {step}.md"
    if step % 4 == 0:
        added.write_text(victim.read_text() + f"\n\nContinued in step {step}.\n")
        touched.add(str(added))
    elif step % 4 == 1:
        victim.unlink()
    else:
        victim.rename(added)
        touched.add(str(added))
    return touched


def test_killed_at_any_moment_nothing_is_lost_doubled_or_orphaned(
    tmp_path: Path, kit: SimpleNamespace
) -> None:
    rng = random.Random(11)
    folder, home, calm = tmp_path / "documents", tmp_path / "killed", tmp_path / "calm"
    documents(folder, rng)
    log = tmp_path / "log"
    landed = redone = 0
    finished: set[str] = set()
    # Seconds in which a kill lands: so many that about every third run ends, however slow the machine is.
    window, run = 3.0, 0
    while landed < kit.kills:
        run += 1
        log.unlink(missing_ok=True)
        writer = kit.spawn(WRITER, home, folder, log)
        if rng.random() < 0.1:  # while it starts, opens the stores, or makes them
            wait = rng.uniform(0, 2.0)
        else:
            assert writer.line() == "started\n", writer.errors()
            wait = rng.uniform(0, window)
        if writer.ended_within(wait):
            window = max(0.3, window * 0.8)
        else:
            writer.kill()
            landed += 1
            window *= 1.1
        writer.end()
        told = [line.split(" ", 1) for line in log.read_text().splitlines()] if log.exists() else []
        redone += sum(path in finished for stage, path in told if stage == "read")
        finished |= {path for stage, path in told if stage == "done"}
        finished -= change(folder, rng, run)
    for place in (home, calm):
        writer = kit.spawn(WRITER, place, folder, log)
        writer.rest()
        assert writer.end() == 0, writer.errors()
    killed, undisturbed = kit.Content(home), kit.Content(calm)
    apart, faults = killed.differences(undisturbed), killed.faults()
    print(f"\n{landed} kills in {run} runs over {len(undisturbed.rows['paths'])} documents")
    assert not any(apart.values()), apart
    assert not any(faults.values()), faults
    assert redone == 0


def test_repair_and_compaction_killed_at_any_moment_lose_nothing(
    tmp_path: Path, kit: SimpleNamespace
) -> None:
    rng = random.Random(13)
    folder, home, calm = tmp_path / "documents", tmp_path / "killed", tmp_path / "calm"
    documents(folder, rng)
    writer = kit.spawn(WRITER, home, folder, tmp_path / "log")
    writer.rest()
    assert writer.end() == 0, writer.errors()
    shutil.copytree(home, calm)
    kills, ended, window = max(2, kit.kills // 5), Counter[str](), 6.0
    for _ in range(kills):
        carer = kit.spawn(CARER, home)
        assert carer.line() == "started\n", carer.errors()
        time.sleep(rng.uniform(0, window))
        carer.kill()
        carer.end()
        told = [line.strip() for line in carer.rest()]
        ended.update(told)
        window *= 0.8 if told else 1.2
    assert not ended["repaired False"]
    carer = kit.spawn(CARER, home)
    assert [carer.line() for _ in range(2)] == ["started\n", "repaired True\n"], carer.errors()
    carer.kill()
    killed, undisturbed = kit.Content(home), kit.Content(calm)
    apart, faults = killed.differences(undisturbed), killed.faults()
    print(f"\n{kills} kills of repair and compaction, {ended['repaired True']} rounds ended in between")
    assert not any(apart.values()), apart
    assert not any(faults.values()), faults
