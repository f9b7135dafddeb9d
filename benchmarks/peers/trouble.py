"""What becomes of a broken file, a second process and a model that refuses: `trouble.py [PEER ...]`.

Broken: six files that are not what their names say lie between twenty good ones. Two at once: two processes index one
store at the same time. A storm: every other call of the model is refused (429, to be tried again after a second) while
twenty questions are asked, four at a time. Kept as run.py keeps its figures.
"""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from against_plain_rag import as_files, passages, questions  # noqa: E402
from desk import Desk  # noqa: E402
from run import LATENCY, call, keep, options  # noqa: E402

from ragweave.tests.support.faults import Fault  # noqa: E402
from ragweave.tests.support.server import Received  # noqa: E402

BROKEN = {
    "cut.pdf": b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n",
    "empty.pdf": b"",
    "noise.docx": bytes(range(256)) * 8,
    "half.xlsx": b"PK\x03\x04\x14\x00\x06\x00",
    "latin.txt": "Gr\u00fc\u00dfe aus K\u00f6ln".encode("latin-1"),
    "deep.html": b"<div>" * 50_000,
}


class Storm(Desk):
    """The desk, refusing every other call."""

    def __init__(self) -> None:
        super().__init__(LATENCY)
        self._turns = itertools.count()

    def _reply(self, request: Received) -> Any:
        refuses = next(self._turns) % 2 == 0
        return Fault.status(429, "too many requests", retry_after="1") if refuses else super()._reply(request)


def broken(peer: str, work: Path, store: Path) -> dict[str, Any]:
    """Index good files with broken ones between; tell whether it ends well, and how many good ones are found."""
    texts = passages()[:20]
    folder = as_files(texts, work / "broken")
    for name, data in BROKEN.items():
        (folder / name).write_bytes(data)
    with Desk(0.0) as desk:
        ran = call(peer, work, desk, "index", store, str(folder), fails=True)
        return {"told": ran["told"]} | found(peer, work, desk, store, texts)


def two(peer: str, work: Path, store: Path) -> dict[str, Any]:
    """Index one folder into one store by two processes; tell how many failed, and how often a file is found."""
    texts = passages()[:200]
    folder = as_files(texts, work / "two")
    with Desk(0.0) as desk, ThreadPoolExecutor(2) as pool:
        both = [pool.submit(call, peer, work, desk, "index", store, str(folder), fails=True) for _ in range(2)]
        told = [b.result()["told"] for b in both]
        return {"failed": sum(map(bool, told)), "told": max(told)} | found(peer, work, desk, store, texts[:20])


def found(peer: str, work: Path, desk: Desk, store: Path, texts: list[str]) -> dict[str, int]:
    """Search for files by their own beginnings: how many stand first, and how many are held more than once."""
    asked = [{"id": f"{n:06d}.md", "question": text[:200]} for n, text in enumerate(texts)]
    lines = call(peer, work, desk, "find", store, "1", asked, fails=True)["lines"]
    read = {r["id"]: [Path(f).name for f in r["read"]] for r in lines if r["id"]}
    first = sum(files[:1] == [name] for name, files in read.items())
    return {"asked": len(asked), "first": first, "doubled": sum(files.count(n) > 1 for n, files in read.items())}


def storm(peer: str, work: Path, store: Path) -> dict[str, Any]:
    """Ask twenty questions, four at a time, of a model that refuses every other call."""
    folder = as_files(passages()[:200], work / "two")
    asked = [q for q in questions(4) if q["set"] == "hops"][:20]
    with Desk(0.0) as desk:
        call(peer, work, desk, "index", store, str(folder))
    with Storm() as desk:
        lines = call(peer, work, desk, "ask", store, "4", asked)["lines"]
    told = [r for r in lines if r["id"]]
    errors = [r["error"] for r in told if "error" in r]
    return {
        "answered": len(told) - len(errors),
        "seconds": next(r["seconds"] for r in lines if not r["id"]),
        "error": next(iter(errors), "")[:120],
    }


def main() -> None:
    """Run what is not kept yet."""
    given = options(__doc__)
    for peer in given.peers:
        kept = given.out / f"trouble-{peer}.json"
        if kept.exists() or peer == "lightrag":  # every text that it indexes asks the model
            continue
        figures = {}
        for act in (broken, two, storm):
            store = given.work / "stores" / f"{peer}-{act.__name__}"
            shutil.rmtree(store, ignore_errors=True)
            figures[act.__name__] = act(peer, given.work, store)
        keep(kept, figures)
        print(peer, json.dumps(figures, ensure_ascii=False))


if __name__ == "__main__":
    main()
