"""Figures over recordings: answers with their second, channels off in turn."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragweave.components.answer import Answer
from ragweave.components.context import Context
from ragweave.corpora.store.library import open_library
from ragweave.corpora.types import Locator
from ragweave.evals.corpus import indexed
from ragweave.evals.data import listed, read_jsonl
from ragweave.models.text import fold

NEAR = 15.0
"""Seconds that a cited time may lie from the gold time."""
SUBTITLES = (".vtt", ".srt")
CHANNELS = ("chunk", "entity", "visual", "speech")


@dataclass(frozen=True)
class VideoQuestion:
    """One question over recordings.

    `videos` are names of recordings without suffix, empty where none answers; `at` is the gold second;
    `evidence` is `speech`, `visual`, `visual+speech`, `cross` or `unanswerable`.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    videos: tuple[str, ...]
    at: float | None
    evidence: str


@dataclass
class VideoVerdict:
    """What became of one question."""

    asked: VideoQuestion
    answer: Answer
    seconds: float
    pooled: list[tuple[set[str], Locator]] = field(default_factory=list)
    """(names of the recording, place) of what retrieval kept, best first."""

    @property
    def correct(self) -> bool:
        """A shown sentence contains a gold answer; for what cannot be answered, nothing was."""
        if not self.asked.videos:
            return self.answer.abstained
        said = fold(" ".join(s.text for s in self.answer.sentences))
        return any(fold(a) in said for a in self.asked.answers)

    @property
    def wrong(self) -> bool:
        """What was written holds no gold answer; a quote claims nothing."""
        return not (self.correct or self.answer.abstained or self.answer.kind == "quotes")

    @property
    def timely(self) -> bool:
        """A citation of the right recording lies within 15 seconds of the gold second."""
        at = self.asked.at
        return at is not None and any(
            _of(c.title, c.locator) & {*self.asked.videos} and distance(c.locator, at) <= NEAR
            for c in self.answer.citations
        )

    @property
    def right_video(self) -> bool:
        """The first citation is of a right recording."""
        cited = self.answer.citations[:1]
        return any(_of(c.title, c.locator) & {*self.asked.videos} for c in cited)

    @property
    def found(self) -> bool:
        """What retrieval kept holds the gold second."""
        at = self.asked.at
        return at is not None and any(
            names & {*self.asked.videos} and distance(place, at) <= NEAR for names, place in self.pooled
        )


def read_asked(path: Path) -> list[VideoQuestion]:
    """Read questions: `id, question, answers, videos, t, evidence`.

    Raises:
        InputError: a line lacks a field.
    """
    return [
        VideoQuestion(
            str(row["id"]),
            str(row["question"]),
            listed(row["answers"]),
            () if (videos := listed(row["videos"])) == ("none",) else videos,
            None if row.get("t") is None else float(row["t"]),
            str(row.get("evidence", "")),
        )
        for row in read_jsonl(path, ["id", "question", "answers", "videos"])
    ]


def _of(title: str, locator: Locator) -> set[str]:
    """Return what a recording is called: by the name of its file, and where rows of it hold several, by its title."""
    path = Path(locator.get("file", ""))
    return {path.stem, *([title.partition(" · ")[0]] if path.suffix in (".jsonl", ".json") else [])}


def distance(place: Locator, at: float) -> float:
    """Return how many seconds a place in a recording lies from a moment; 0 inside it."""
    start, end = place.get("start"), place.get("end")
    if start is None or end is None:
        return float("inf")
    return max(0.0, start - at, at - end)


async def prepare(data: Path, work: Path, subtitles: bool) -> str:
    """Index the recordings of a folder and return the library's name.

    Copies are made once; with `subtitles` those beside the recordings take the place of speech recognition.
    """
    folder = await asyncio.to_thread(_copied, data, work, subtitles)
    await indexed(folder, folder.name)
    return folder.name


def _copied(data: Path, work: Path, subtitles: bool) -> Path:
    folder = work / ("videos-subtitled" if subtitles else "videos-heard")
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(data.iterdir()):
        wanted = path.suffix not in (".jsonl", ".json", ".md", ".txt") and (
            subtitles or path.suffix not in SUBTITLES
        )
        if path.is_file() and wanted and not (folder / path.name).exists():
            shutil.copyfile(path, folder / path.name)
    return folder


async def ask_all(graph: Any, asked: Sequence[VideoQuestion], context: Context) -> list[VideoVerdict]:
    """Ask every question of a compiled graph, one after the other."""
    out: list[VideoVerdict] = []
    library = await open_library(context.library)
    for question in asked:
        began = time.perf_counter()
        state = await graph.ainvoke({"messages": [("human", question.text)]}, context=context)
        seconds = time.perf_counter() - began
        items = await library.items(state.get("candidates", []))
        pooled = [(_of(i.title, i.locator), i.locator) for i in items.values()]
        out.append(VideoVerdict(question, state["answer"], seconds, pooled))
    return out


def figures(outcomes: Sequence[VideoVerdict]) -> dict[str, float]:
    """Return shares: answers over all questions, times and recordings over those that have a gold one."""
    timed = [o for o in outcomes if o.asked.at is not None]
    placed = [o for o in outcomes if o.asked.videos]
    return {
        "questions": len(outcomes),
        "contains_gold": _share([o.correct for o in outcomes]),
        "answered_wrong": _share([o.wrong for o in outcomes]),
        "abstained": _share([o.answer.abstained for o in outcomes]),
        "time_within_15s": _share([o.timely for o in timed]),
        "right_video": _share([o.right_video for o in placed]),
        "retrieved_within_15s": _share([o.found for o in timed]),
        "ms_per_question": round(1000 * sum(o.seconds for o in outcomes) / (len(outcomes) or 1), 1),
    }


def _share(rows: Sequence[bool]) -> float:
    return round(sum(rows) / len(rows), 4) if rows else 0.0
