"""Synthesis over a whole question set: concurrent, resumable after a stop, with a report."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from ragweave.corpora.store.library import Library, open_library
from ragweave.evals.runner import Ledger
from ragweave.evals.synthesize import KEPT, SynthesisSettings, Task, read_task, walk
from ragweave.models.chat import Chat, chat
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
    walks = _Walks(job, library, teacher, rewriter, ledger, Meter(job.limits))
    await walks.run(tasks, progress)
    finished = _finished(tasks, ledger.done)
    await asyncio.to_thread(_write, job.out, finished.kept)
    report = walks.report(len(tasks), finished, time.monotonic() - started)
    text = json.dumps(report, indent=1, ensure_ascii=False)
    await asyncio.to_thread(job.report.write_text, text, "utf-8")
    return report


@dataclass
class _Walks:
    """Walks the open questions of a job; `failed` counts those that a model failed on."""

    job: SynthesisJob
    library: Library
    teacher: Chat
    rewriter: Chat
    ledger: Ledger
    meter: Meter
    failed: Counter[str] = field(default_factory=Counter)

    async def run(self, tasks: Sequence[Task], progress: Callable[[int, int], None]) -> None:
        """Walk every task that the ledger does not hold, up to `width` at the same time."""
        unfinished = []
        for task in tasks:
            if task.id not in self.ledger.done:
                unfinished.append(task)
        gate = asyncio.Semaphore(self.job.width)
        ended = 0

        async def one(task: Task) -> None:
            nonlocal ended
            async with gate:
                if not self.meter.refused:
                    await self._walk(task)
                ended += 1
                progress(ended, len(unfinished))

        walks = [one(task) for task in unfinished]
        await asyncio.gather(*walks)

    async def _walk(self, task: Task) -> None:
        """Walk one task; record its result, or count its failure."""
        try:
            made = await walk(task, self.library, self.teacher, self.rewriter, self.job.settings, self.meter)
            self.ledger.add(task.id, {"id": task.id, "answers": list(task.answers), **asdict(made)})
        except BudgetSpent:
            logger.info("the budget ended question %s", task.id)
        except RagweaveError as error:
            self.failed[error.what] += 1

    def report(self, questions: int, finished: _Finished, seconds: float) -> SynthesisReport:
        """Return the report of the run."""
        spent = self.meter.spent
        return {
            "questions": questions,
            "kept": len(finished.kept),
            "dropped": dict(finished.dropped),
            "failed": dict(self.failed),
            "left": questions - finished.number,
            "ended_by": self.meter.refused,
            "hops_of_kept": dict(sorted(finished.hops.items())),
            "missed_rounds": finished.missed,
            "teacher": self.teacher.name,
            "rewriter": self.rewriter.name,
            "model_calls": spent.calls,
            "tokens": spent.input_tokens + spent.output_tokens,
            "cost": round(spent.cost, 6),
            "seconds": round(seconds, 2),
        }


@dataclass
class _Finished:
    """Finished questions: the rows of the kept ones, and counts over all."""

    number: int = 0
    kept: list[dict[str, Any]] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    hops: Counter[int] = field(default_factory=Counter)
    missed: int = 0


def _finished(tasks: Sequence[Task], done: Mapping[str, dict[str, Any]]) -> _Finished:
    """Sort the finished questions, in the order of the tasks."""
    out = _Finished()
    for task in tasks:
        if task.id not in done:
            continue
        row = done[task.id]
        out.number += 1
        out.missed += row["missed"]
        if row["outcome"] == KEPT:
            out.kept.append(row)
            out.hops[row["hops"]] += 1
        else:
            out.dropped[row["outcome"]] += 1
    return out


def read_tasks(path: Path, limit: int = 0) -> list[Task]:
    """Read questions from JSON Lines or one JSON list.

    Raises:
        InputError: if the file cannot be read, a row lacks something, or an id occurs twice.
    """
    try:
        text = path.read_text(encoding="utf-8")
        rows = _rows(text)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path} cannot be read ({error})", "give JSON Lines with a question a line"
        ) from error
    for row in rows:
        if not isinstance(row, dict):
            raise InputError(
                f"{path} holds something that is not an object", "give JSON Lines with a question a line"
            )
    tasks = [read_task(row) for row in (rows[:limit] if limit else rows)]
    ids = [task.id for task in tasks]
    for name, number in Counter(ids).items():
        if number > 1:
            raise InputError(
                f"the id {name!r} occurs more than once in {path}", "give every question an id of its own"
            )
    return tasks


def _rows(text: str) -> list[Any]:
    """Parse one JSON list, or JSON Lines without the blank ones."""
    if text.lstrip()[:1] == "[":
        return list(json.loads(text))
    rows = []
    for line in text.splitlines():
        if line.strip():
            rows.append(json.loads(line))
    return rows


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
