"""Synthesis over a whole question set: concurrent, resumable after a stop, with a report."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from ragweave.corpora.store.library import open_library
from ragweave.evals.runner import Ledger
from ragweave.evals.synthesize import KEPT, SynthesisSettings, Task, read_task, walk
from ragweave.models.chat import chat
from ragweave.models.errors import BudgetSpent, InputError, ModelError, RagweaveError
from ragweave.models.meter import Limits, Meter

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class SynthesisJob:
    """One synthesis.

    `questions` is JSON Lines or one JSON list with gold answers, `out` gets one conversation per kept
    question; a limit of 0 means all.
    """

    questions: Path
    out: Path
    library: str = "default"
    settings: SynthesisSettings = field(default_factory=SynthesisSettings)
    width: int = 4
    limit: int = 0
    limits: Limits = field(default_factory=lambda: Limits(calls=-1))

    @property
    def journal(self) -> Path:
        """Folder that records finished questions, one file for each choice of models and settings."""
        return self.out.with_name(f"{self.out.name}.journal")

    @property
    def report(self) -> Path:
        """File of the report."""
        return self.out.with_name(f"{self.out.name}.report.json")


class SynthesisReport(TypedDict):
    """What became of a question set."""

    questions: int
    kept: int
    dropped: dict[str, int]
    """Dropped questions by reason."""
    failed: dict[str, int]
    """Questions that a model failed on, by what was wrong; the next run tries them again."""
    left: int
    """Questions that are not finished."""
    ended_by: str
    """The limit that ended the run, or empty."""
    hops_of_kept: dict[int, int]
    """Kept questions by their rounds of retrieval."""
    missed_rounds: int
    """Rounds in which no candidate query found a (sub-)answer."""
    teacher: str
    rewriter: str
    model_calls: int
    """Of this run, as are the tokens, the cost and the seconds."""
    tokens: int
    cost: float
    seconds: float


async def synthesize(
    job: SynthesisJob, progress: Callable[[int, int], None] = lambda done, of: None
) -> SynthesisReport:
    """Walk every question that the journal does not hold yet, write the conversations, and return the report.

    A question that a model failed on is tried again by the next run; a spent budget ends the job with what is
    there.

    Raises:
        InputError: if the questions cannot be read.
        ModelError: if no chat model is configured.
        LibraryError: if the library cannot be opened.
    """
    started = time.monotonic()
    tasks = await asyncio.to_thread(read_tasks, job.questions, job.limit)
    teacher, rewriter = chat("writer"), chat("judge")
    if teacher is None or rewriter is None:
        raise ModelError(
            "synthesis needs a teacher model, and none is configured", "set RAGWEAVE_CHAT (docs/writer.md)"
        )
    library = await open_library(job.library)
    models = [teacher.name, rewriter.name]
    ledger = Ledger(job.journal, {"settings": asdict(job.settings), "library": library.id, "models": models})
    done = ledger.done
    meter = Meter(job.limits)
    gate = asyncio.Semaphore(job.width)
    failed: Counter[str] = Counter()
    ended = 0

    async def one(task: Task) -> None:
        nonlocal ended
        async with gate:
            if not meter.refused:
                try:
                    made = await walk(task, library, teacher, rewriter, job.settings, meter)
                    ledger.add(task.id, {"id": task.id, "answers": list(task.answers), **asdict(made)})
                except BudgetSpent:
                    logger.info("the budget ended question %s", task.id)
                except RagweaveError as error:
                    failed[error.what] += 1
            ended += 1
            progress(ended, len(open_tasks))

    open_tasks = [t for t in tasks if t.id not in done]
    await asyncio.gather(*(one(t) for t in open_tasks))
    rows = [done[t.id] for t in tasks if t.id in done]
    kept = [r for r in rows if r["outcome"] == KEPT]
    await asyncio.to_thread(_write, job.out, kept)
    spent = meter.spent
    report: SynthesisReport = {
        "questions": len(tasks),
        "kept": len(kept),
        "dropped": dict(Counter(r["outcome"] for r in rows if r["outcome"] != KEPT)),
        "failed": dict(failed),
        "left": len(tasks) - len(rows),
        "ended_by": meter.refused,
        "hops_of_kept": dict(sorted(Counter(r["hops"] for r in kept).items())),
        "missed_rounds": sum(r["missed"] for r in rows),
        "teacher": teacher.name,
        "rewriter": rewriter.name,
        "model_calls": spent.calls,
        "tokens": spent.input_tokens + spent.output_tokens,
        "cost": round(spent.cost, 6),
        "seconds": round(time.monotonic() - started, 2),
    }
    text = json.dumps(report, indent=1, ensure_ascii=False)
    await asyncio.to_thread(job.report.write_text, text, "utf-8")
    return report


def read_tasks(path: Path, limit: int = 0) -> list[Task]:
    """Read questions from JSON Lines or one JSON list.

    Raises:
        InputError: if the file cannot be read, a row lacks something, or an id occurs twice.
    """
    try:
        text = path.read_text(encoding="utf-8")
        rows = (
            json.loads(text)
            if text.lstrip()[:1] == "["
            else [json.loads(x) for x in text.splitlines() if x.strip()]
        )
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path} cannot be read ({error})", "give JSON Lines with a question a line"
        ) from error
    if not all(isinstance(row, dict) for row in rows):
        raise InputError(
            f"{path} holds something that is not an object", "give JSON Lines with a question a line"
        )
    tasks = [read_task(row) for row in (rows[:limit] if limit else rows)]
    twice = [i for i, n in Counter(t.id for t in tasks).items() if n > 1]
    if twice:
        raise InputError(
            f"the id {twice[0]!r} occurs more than once in {path}", "give every question an id of its own"
        )
    return tasks


def _write(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write the conversations whole, so that no reader ever sees half of them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    with part.open("w", encoding="utf-8") as out:
        for row in rows:
            kept = {
                "id": row["id"],
                "messages": row["messages"],
                "answers": row["answers"],
                "hops": row["hops"],
            }
            out.write(json.dumps(kept, ensure_ascii=False) + "\n")
    part.replace(path)
