"""What passages by the thousand cost: `python benchmarks/peers/growing.py [PEER ...]`.

Index 1,000 and 10,000 passages (`--passages`), search them, change one file and index again. `--limit` ends what
takes longer. Figures are kept as those of run.py.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from desk import Desk  # noqa: E402
from question_sets import passages, questions  # noqa: E402
from run import GRAPHS, SHARED, call, keep, measured, options  # noqa: E402

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
    given = options(__doc__)
    growth(given.peers, given.work, given.out, given.passages, given.limit)


if __name__ == "__main__":
    main()
