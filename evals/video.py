"""Measure answers over recordings and the times that they cite, also without each channel."""

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
"""Seconds by which a cited time may differ from the gold time."""
SUBTITLES = (".vtt", ".srt")
CHANNELS = ("chunk", "entity", "visual", "speech")


@dataclass(frozen=True)
class VideoQuestion:
    """One question over recordings.

    `videos` are names of recordings without suffix, empty if none answers; `at` is the gold second;
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
    """The answer to one question, with its time and its evidence."""

    asked: VideoQuestion
    answer: Answer
    seconds: float
    pooled: list[tuple[set[str], Locator]] = field(default_factory=list)
    """(names of the recording, place) of each retrieved item, best first."""

    @property
    def correct(self) -> bool:
        """Whether the answer contains a gold answer; for an unanswerable question, whether it abstained."""
        if not self.asked.videos:
            return self.answer.abstained
        sentences = [sentence.text for sentence in self.answer.sentences]
        text = fold(" ".join(sentences))
        for answer in self.asked.answers:
            if fold(answer) in text:
                return True
        return False

    @property
    def wrong(self) -> bool:
        """Whether a written answer holds no gold answer; a quote claims nothing."""
        return not (self.correct or self.answer.abstained or self.answer.kind == "quotes")

    @property
    def timely(self) -> bool:
        """Whether a citation of a right recording is within 15 seconds of the gold second."""
        for citation in self.answer.citations:
            if self._is_near(_names(citation.title, citation.locator), citation.locator):
                return True
        return False

    @property
    def right_video(self) -> bool:
        """Whether the first citation is of a right recording."""
        if not self.answer.citations:
            return False
        first = self.answer.citations[0]
        return bool(_names(first.title, first.locator) & {*self.asked.videos})

    @property
    def found(self) -> bool:
        """Whether a retrieved item is within 15 seconds of the gold second."""
        for names, place in self.pooled:
            if self._is_near(names, place):
                return True
        return False

    def _is_near(self, names: set[str], place: Locator) -> bool:
        """Return whether a place is in a right recording and near the gold second."""
        at = self.asked.at
        if at is None or not names & {*self.asked.videos}:
            return False
        return distance(place, at) <= NEAR


def read_asked(path: Path) -> list[VideoQuestion]:
    """Read questions: `id, question, answers, videos, t, evidence`.

    Raises:
        InputError: a line lacks a field.
    """
    out = []
    for row in read_jsonl(path, ["id", "question", "answers", "videos"]):
        videos = listed(row["videos"])
        if videos == ("none",):
            videos = ()
        at = None if row.get("t") is None else float(row["t"])
        id, text, evidence = str(row["id"]), str(row["question"]), str(row.get("evidence", ""))
        out.append(VideoQuestion(id, text, listed(row["answers"]), videos, at, evidence))
    return out


def _names(title: str, locator: Locator) -> set[str]:
    """Return the names of a recording: that of its file, and its title if the file has rows of several."""
    path = Path(locator.get("file", ""))
    names = {path.stem}
    if path.suffix in (".jsonl", ".json"):
        names.add(title.partition(" · ")[0])
    return names


def distance(place: Locator, at: float) -> float:
    """Return the seconds between a place in a recording and a moment; 0 if the moment is inside."""
    start, end = place.get("start"), place.get("end")
    if start is None or end is None:
        return float("inf")
    return max(0.0, start - at, at - end)


async def prepare(data: Path, work: Path, subtitles: bool) -> str:
    """Index the recordings of a folder and return the library's name.

    Copies are made once. With `subtitles`, the subtitle files next to the recordings replace speech
    recognition.
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
    """Run a compiled graph on every question, one after the other."""
    out: list[VideoVerdict] = []
    library = await open_library(context.library)
    for question in asked:
        began = time.perf_counter()
        state = await graph.ainvoke({"messages": [("human", question.text)]}, context=context)
        seconds = time.perf_counter() - began
        items = await library.items(state.get("candidates", []))
        pooled = []
        for item in items.values():
            pooled.append((_names(item.title, item.locator), item.locator))
        out.append(VideoVerdict(question, state["answer"], seconds, pooled))
    return out


def figures(outcomes: Sequence[VideoVerdict]) -> dict[str, float]:
    """Return shares: of answers over all questions, of times and recordings over those with a gold one."""
    correct, wrong, abstained = list[bool](), list[bool](), list[bool]()
    timely, found, right_video = list[bool](), list[bool](), list[bool]()
    seconds = 0.0
    for outcome in outcomes:
        correct.append(outcome.correct)
        wrong.append(outcome.wrong)
        abstained.append(outcome.answer.abstained)
        seconds += outcome.seconds
        if outcome.asked.at is not None:
            timely.append(outcome.timely)
            found.append(outcome.found)
        if outcome.asked.videos:
            right_video.append(outcome.right_video)
    return {
        "questions": len(outcomes),
        "contains_gold": _share(correct),
        "answered_wrong": _share(wrong),
        "abstained": _share(abstained),
        "time_within_15s": _share(timely),
        "right_video": _share(right_video),
        "retrieved_within_15s": _share(found),
        "ms_per_question": round(1000 * seconds / (len(outcomes) or 1), 1),
    }


def _share(rows: Sequence[bool]) -> float:
    return round(sum(rows) / len(rows), 4) if rows else 0.0
