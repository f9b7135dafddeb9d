"""Measure how well facts in recordings are found.

    python benchmarks/recorded.py DATA --channels|--shown [--work FOLDER] [--only podcast]

Three libraries: the four films with their questions and 25 further ones (`unseen`, all written before the
first run), twelve episodes of a podcast as a transcript, and six lectures made of slides with the narration
as subtitles. `sets/recorded.jsonl` has the further questions; the second of an answer is where the words
`said` begin in a turn with a time, or when the slide is shown.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from printed import run

SETS = ("films", "unseen", "podcast", "lecture")
WAYS = {
    "all": (("speech", "chunk", "visual"), True),
    "BM25": (("speech",), True),
    "no speech": (("chunk", "visual"), True),
    "all, not reranked": (("speech", "chunk", "visual"), False),
    "BM25, not reranked": (("speech",), False),
}
"""Channels to search, and whether to rerank; without an image encoder `visual` finds nothing."""


def asked(data: Path, work: Path, name: str) -> list[Any]:
    """Prepare the folder `work/name`, and return the questions on it."""
    from ragweave.evals.claims.lectures import write
    from ragweave.evals.data import read_jsonl
    from ragweave.evals.video import VideoQuestion, read_asked

    folder, fresh = work / library_of(name), not (work / library_of(name)).exists()
    if library_of(name) == "films":
        if fresh:
            shutil.copytree(data / "videos", folder, ignore=shutil.ignore_patterns("*.jsonl"))
        if name == "films":
            return read_asked(data / "videos" / "qa.jsonl")
    turns: list[Any] = []
    slides: Mapping[str, tuple[str, float, float]] = {}
    if library_of(name) == "podcast":
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(data / "transcripts_practicalai" / "segments.jsonl", folder / "segments.jsonl")
        turns = list(read_jsonl(folder / "segments.jsonl", ["episode", "text"]))
    elif library_of(name) == "lecture" and fresh:
        slides = write(data / "slide_lectures_swc", folder)
        (work / "slides.json").write_text(json.dumps(slides), encoding="utf-8")
    elif library_of(name) == "lecture":
        slides = json.loads((work / "slides.json").read_text(encoding="utf-8"))
    questions: list[Any] = []
    for row in read_jsonl(Path(__file__).parent / "sets" / "recorded.jsonl", ["id"]):
        if row["set"] != name:
            continue
        second = row.get("t")
        if row.get("slide"):
            second = slides[f"slides/{row['recording']}/{row['slide']:03}.png"][1]
        elif row.get("said"):
            second = spoken_at(turns, row["said"])
        recordings = (row["recording"],) if row["recording"] else ()
        answers = tuple(row["answers"])
        questions.append(VideoQuestion(row["id"], row["question"], answers, recordings, second, name))
    return questions


def spoken_at(turns: Sequence[Mapping[str, Any]], words: str) -> float:
    """Return the second of a podcast at which words are spoken."""
    from ragweave.evals.claims.lectures import PACE

    for turn in turns:
        if turn["t"] is not None and words in turn["text"]:
            before = turn["text"].split(words)[0]
            return float(turn["t"]) + len(before.split()) / PACE
    raise ValueError(f"no turn says {words!r}")


def library_of(name: str) -> str:
    """Return the name of the library and folder for the questions of a set."""
    return "films" if name == "unseen" else name


async def channels(name: str, questions: Sequence[Any]) -> dict[str, float]:
    """Return how often the clip of the answer is first and among five, in each of `WAYS`."""
    from ragweave.components.context import Context
    from ragweave.corpora.store.library import open_library
    from ragweave.evals.video import NEAR, distance
    from ragweave.graphs.search import graph

    library = await open_library(library_of(name))
    timed = [q for q in questions if q.at is not None]
    out: dict[str, float] = {}
    for way, (of, reranked) in WAYS.items():
        ranks: dict[int, int] = defaultdict(int)
        for q in timed:
            context = Context(
                mode="extractive",
                library=library_of(name),
                corpora=("clip",),
                method={"channels": of, "fusion": "reranked" if reranked else "scores"},
            )
            state = await graph.ainvoke({"messages": [("human", q.text)]}, context=context)
            items = await library.items(state.get("candidates", []))
            found = [items[id] for id in state.get("candidates", []) if id in items]
            right: list[bool] = []
            for item in found[:5]:
                is_video = item.title in q.videos or Path(item.locator["file"]).stem in q.videos
                right.append(is_video and distance(item.locator, q.at) <= NEAR)
            ranks[1] += any(right[:1])
            ranks[5] += any(right)
        for k, n in ranks.items():
            out[f"{name} {way} clip R@{k}"] = round(n / len(timed), 3)
    return out


async def shown(name: str, questions: Sequence[Any]) -> dict[str, float]:
    """Return how often the writer's context has an answer, and its tokens: clips alone, and with chunks."""
    from ragweave.components.context import Context
    from ragweave.corpora.store.library import open_library
    from ragweave.graphs.video_rag import graph
    from ragweave.models.chat_reply import tokens_of
    from ragweave.models.text import fold

    library = await open_library(library_of(name))
    able = [q for q in questions if q.videos]
    out: dict[str, float] = {}
    for length in (0, 3_000, 12_000):
        way = f"with {length:,} tokens of chunks" if length else "clips alone"
        found = tokens = 0
        for q in able:
            context = Context(mode="extractive", library=library_of(name), method={"chunk_tokens": length})
            state = await graph.ainvoke({"messages": [("human", q.text)]}, context=context)
            texts = {row["id"]: row["text"] for row in state.get("evidence", [])}
            chunks: list[str] = []
            for row in state["found"]:
                if row["kind"] == "beside":
                    chunks += row["ids"]
            for item in (await library.items(chunks)).values():
                texts.setdefault(item.id, item.text)
            text = "\n".join(texts.values())
            found += any(fold(answer) in fold(text) for answer in q.answers)
            tokens += tokens_of(text)
        out[f"{name} {way}: answer stands there"] = found / len(able)
        out[f"{name} {way}: tokens"] = tokens / len(able)
    return out


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", choices=SETS)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--channels", action="store_true", help="retrieval alone, by several sets of channels")
    what.add_argument("--shown", action="store_true", help="how often the writer's context has an answer")


async def measure(folder: Path, given: argparse.Namespace) -> dict[str, float]:
    """Return the figures of all sets, or of one."""
    from ragweave.corpora.ingest.run import index

    look = channels if given.channels else shown
    figures: dict[str, float] = {}
    for name in (given.only,) if given.only else SETS:
        questions = asked(given.data, folder, name)
        await index([folder / library_of(name)], library_of(name))
        figures |= await look(name, questions)
    return figures


if __name__ == "__main__":
    run(__doc__, measure, _options)
