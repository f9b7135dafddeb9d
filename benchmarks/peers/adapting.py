"""How an adapter is driven, in the peer's own environment: standard library alone.

    of_NAME.py index STORE FOLDER     prints {"documents": N, "mb": of its largest process, "cpu": seconds}
    of_NAME.py ask STORE WIDTH < questions.jsonl > answers.jsonl
    of_NAME.py find STORE WIDTH < questions.jsonl > found.jsonl
    of_NAME.py turns STORE - < rounds.jsonl > answers.jsonl      a line is {"width", "rows": questions}

A question is {"id", "question", "previous"}; an answer {"id", "answer", "read", "seconds"}, files in the
order of the numbers that the answer cites. What fails is told as {"id", "error"}.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def text_of(path: Path) -> str:
    """Return the text of a file for programs that take texts; of a workbook none."""
    if path.suffix == ".pdf":
        from pypdf import PdfReader

        return "\n\n".join(page.extract_text() for page in PdfReader(path).pages)
    if path.suffix == ".docx":
        from docx import Document

        return "\n\n".join(p.text for p in Document(str(path)).paragraphs)
    return path.read_text(encoding="utf-8", errors="replace") if path.suffix != ".xlsx" else ""


async def serve(index: Callable[[Path, Path], Any], asker: Callable[[Path], Any]) -> None:
    """Do what the command line says."""
    verb, store, what = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    if verb == "index":
        made = index(store, Path(what))
        count = await made if asyncio.iscoroutine(made) else made
        spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        cpu = sum(u.ru_utime + u.ru_stime for u in spent)
        print(json.dumps({"documents": count, "mb": max(u.ru_maxrss for u in spent) // 1024, "cpu": cpu}))
        return
    made = asker(store)
    if hasattr(made, "ready"):
        await made.ready()

    async def one(row: dict[str, Any], room: asyncio.Semaphore) -> None:
        async with room:
            began = time.perf_counter()
            try:
                if verb == "find":
                    told: dict[str, Any] = {"read": await made.find(row["question"])}
                else:
                    answer, read = await made.ask(row["question"], row.get("previous", []))
                    told = {"answer": answer, "read": read}
            except Exception as error:
                told = {"answer": "", "read": [], "error": f"{type(error).__name__}: {error}"[:500]}
            print(json.dumps({"id": row["id"], **told, "seconds": time.perf_counter() - began}), flush=True)

    async def round_of(rows: list[dict[str, Any]], width: int) -> None:
        room, began, spent = asyncio.Semaphore(width), time.perf_counter(), time.process_time()
        await asyncio.gather(*(one(row, room) for row in rows))
        mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        took = {
            "seconds": time.perf_counter() - began,
            "cpu": time.process_time() - spent,
            "opening": spent,
            "mb": mb,
        }
        print(json.dumps({"id": "", **took}), flush=True)

    if verb == "turns":
        print(json.dumps({"ready": True}), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            asked = json.loads(line)
            await round_of(asked["rows"], asked["width"])
        return
    await round_of([json.loads(line) for line in sys.stdin if line.strip()], int(what))
