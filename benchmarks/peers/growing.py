"""What passages by the thousand cost, and what becomes of changed files: `growing.py growth|graph|life [PEER ...]`.

    growth   index 1,000 and 10,000 passages (--passages), search them, change one file and index again;
             `--limit` ends what takes longer graph    index 200 passages with a graph of entities, beside a
             model of fixed latency life     edit a file, remove one, rename one, index again while it is
             searched; kill indexing, and begin again

Kept as run.py keeps its figures.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from against_plain_rag import passages, questions  # noqa: E402
from desk import Desk  # noqa: E402
from run import GRAPHS, LATENCY, SHARED, call, keep, measured, options  # noqa: E402

EDITED = "# Zorvex\n\nThe zorvex of Quellmoor weighs 4,711 kilograms.\n"


def growth(peers: list[str], work: Path, out: Path, counts: list[int], limit: float | None) -> None:
    """Index passages by the thousand, search them, change one and index again: HotpotQA's, then of their sentences.

    All programs of one size take turns. What a program has not done within the limit is ended, and not told.
    """
    asked = [{"id": q["id"], "question": q["question"]} for q in questions(4) if q["set"] == "hops"][:20]
    for count in counts:
        folder = work / "growth" / str(count)
        if not folder.exists():
            write(folder, passages(), count)
        for peer in peers:
            of = f"{peer}-{count}"
            if of in measured(out, "growth") or peer in SHARED or peer in GRAPHS:
                continue
            store = work / "stores" / f"{peer}-{count}"
            shutil.rmtree(store, ignore_errors=True)
            edited = folder / "00" / "000003.md"
            before = edited.read_text(encoding="utf-8")
            figures: dict[str, Any] = {"load": os.getloadavg()[1]}
            ends = time.perf_counter() + limit if limit else None
            with Desk(0.0) as desk:
                first = call(peer, work, desk, "index", store, str(folder), limit=limit)
                figures |= {
                    "index": first["seconds"],
                    "index_cpu": spent(first),
                    "ended": not first["killed"],
                }
                if not first["killed"]:
                    disk = sum(p.stat().st_size for p in store.rglob("*") if p.is_file()) // 2**20
                    figures |= {"mb": first["mb"], "disk": disk}
                    figures |= searched(call(peer, work, desk, "find", store, "1", asked, limit=left(ends)))
                    edited.write_text(EDITED, encoding="utf-8")
                    again = call(peer, work, desk, "index", store, str(folder), limit=left(ends))
                    edited.write_text(before, encoding="utf-8")
                    if not again["killed"]:
                        figures |= {"again": again["seconds"], "again_cpu": spent(again)}
            figures |= {"load_after": os.getloadavg()[1]}
            keep(out, "growth", of, figures)
            print(peer, count, figures, flush=True)
            shutil.rmtree(store)


def graph(peers: list[str], work: Path, out: Path, count: int = 200) -> None:
    """Index passages with the programs that make a graph of them, and keep how many calls were in flight, by tenths."""
    folder = work / "growth" / str(count)
    if not folder.exists():
        write(folder, passages(), count)
    for peer in peers:
        store = work / "stores" / f"{peer}-graph"
        if peer in measured(out, "graph") or peer not in GRAPHS:
            continue
        shutil.rmtree(store, ignore_errors=True)
        figures: dict[str, Any] = {"files": count, "load": os.getloadavg()[1]}
        with Desk(LATENCY) as desk:
            started = time.perf_counter()
            ran = call(peer, work, desk, "index", store, str(folder))
            tenth = (time.perf_counter() - started) / 10
            starts = [int((began - started) / tenth) for began in desk.began]
        flying = [round(starts.count(n) * LATENCY / tenth, 1) for n in range(10)]
        figures |= {"index": ran["seconds"], "index_cpu": spent(ran), "calls": ran["calls"], "flying": flying}
        keep(out, "graph", peer, figures | {"tokens_in": ran["tokens_in"]})
        print(peer, figures, flush=True)


def left(ends: float | None) -> float | None:
    """Return the seconds that are left of a limit, one at least."""
    return max(1.0, ends - time.perf_counter()) if ends else None


def searched(ran: dict[str, Any]) -> dict[str, float]:
    """Return what searches took, and the opening of the store before them; nothing of a run that was ended."""
    took = sorted(line["seconds"] for line in ran["lines"] if line.get("id"))
    if ran["killed"]:
        return {}
    whole = ran["lines"][-1]
    return {
        "open_cpu": whole["opening"],
        "find": took[len(took) // 2],
        "find_cpu": (whole["cpu"] + ran["encoding"]) / len(took),
        "find_mb": ran["mb"],
    }


def life(peers: list[str], work: Path, out: Path) -> None:
    """Edit a file of 300, remove one, rename one, index again while it is searched; then kill indexing half way.

    A hundred files where each takes calls of the model.
    """
    texts = passages()
    for peer in peers:
        folder, store = work / "life" / peer, work / "stores" / f"{peer}-life"
        if peer in measured(out, "life") or peer in SHARED:
            continue
        for old in (folder, store):
            shutil.rmtree(old, ignore_errors=True)
        count = 100 if peer in GRAPHS else 300
        write(folder, texts, count)
        edited, removed, moved, last = (folder / "00" / f"{n:06d}.md" for n in (3, 5, 7, count - 10))
        asked = [
            {"id": f.name, "question": f.read_text(encoding="utf-8")[:200]} for f in (removed, moved, last)
        ]
        asked += [{"id": edited.name, "question": "What does the zorvex of Quellmoor weigh?"}]

        def found(asked: list[dict[str, str]], peer: str = peer, store: Path = store) -> dict[str, list[str]]:
            lines = call(peer, work, desk, "find", store, "1", asked, fails=True)["lines"]
            return {r["id"]: [Path(f).name for f in r["read"]] for r in lines if r["id"] and "error" not in r}

        with Desk(0.0) as desk, ThreadPoolExecutor(1) as beside:
            first = call(peer, work, desk, "index", store, str(folder))
            edited.write_text(EDITED, encoding="utf-8")
            removed.unlink()
            moved.rename(moved.with_name("renamed.md"))
            meanwhile = beside.submit(found, [asked[2] | {"id": str(n)} for n in range(20)])
            again = call(peer, work, desk, "index", store, str(folder))
            now = found(asked)
            figures = {
                "files": count,
                "first": spent(first),
                "again": spent(again),
                "again_calls": again["calls"],
                "meanwhile": len(meanwhile.result()),
                "edited": now[edited.name][:1] == [edited.name],
                "removed": removed.name in now[removed.name],
                "moved": "renamed.md" in now[moved.name] and moved.name not in now[moved.name],
            }
            shutil.rmtree(store)
            killed = call(peer, work, desk, "index", store, str(folder), within=first["lines"][0]["cpu"] / 2)[
                "killed"
            ]
            after = call(peer, work, desk, "index", store, str(folder), fails=True)
            figures |= {
                "killed": killed,
                "after_kill": spent(after),
                "told": after["told"],
                "calls": first["calls"],
            }
            figures |= {
                "after_kill_calls": after["calls"],
                "last": found(asked).get(last.name, []).count(last.name),
            }
        keep(out, "life", peer, figures)


def write(folder: Path, texts: list[str], count: int) -> None:
    """Write texts as files, a thousand a folder; those missing to `count` are five sentences each, drawn."""
    dice, part = random.Random(0), folder.with_suffix(".part")
    said = [s for text in texts for s in re.split(r"(?<=\.)\s+", text.split("\n\n", 1)[1])]
    for n in range(count):
        text = texts[n] if n < len(texts) else f"# Passage {n}\n\n{' '.join(dice.sample(said, 5))}\n"
        file = part / f"{n // 1000:02d}" / f"{n:06d}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    part.rename(folder)


def spent(ran: dict[str, Any]) -> float:
    """Return the seconds of the processor that an indexing took, the vectors' with them; 0 if it failed."""
    taken = ran["lines"][0]["cpu"] if ran["lines"] else ran["spent"]
    return taken + ran["encoding"] if taken else 0.0


def main() -> None:
    """Run what is not kept yet."""
    given = options(__doc__, "growth", "graph", "life")
    if given.verb == "growth":
        growth(given.peers, given.work, given.out, given.passages, given.limit)
    elif given.verb == "graph":
        graph(given.peers, given.work, given.out)
    else:
        life(given.peers, given.work, given.out)


if __name__ == "__main__":
    main()
