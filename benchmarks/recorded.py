"""Facts out of recordings: `python benchmarks/recorded.py DATA [--work FOLDER] [--only podcast] [--show]`.

Four libraries: the four films with their questions and 25 further ones (`unseen`, written before the first of them
was asked), twelve episodes of a podcast as a transcript, and six lectures made of slides with the narration as
subtitles; `heard` asks all questions on the films, and some on the sound of a lecture, without subtitles beside them;
`many` asks the podcast about several episodes or people at once, `numbers` and `digits` ask podcast and lectures with
each number in words where they have digits, and the other way round. The further questions stand in
`recorded.jsonl`; the second of an answer is where the words `said` begin in a turn of stated time, or when the slide is
shown. Questions fall into two halves by the hash of their id: what is chosen is chosen on `a`, and `b` says what it is
worth.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from printed import answered, is_right, options, own_home, rates, tell
from video_lectures import PACE, write

SETS = ("films", "unseen", "heard", "podcast", "numbers", "many", "lecture", "digits")
SUBTITLED = ("films", "unseen", "podcast", "lecture")
"""Sets that are summed up as those with subtitles."""
WAYS = {
    "all": (("speech", "chunk", "visual"), True),
    "BM25": (("speech",), True),
    "no speech": (("chunk", "visual"), True),
    "all, not reranked": (("speech", "chunk", "visual"), False),
    "BM25, not reranked": (("speech",), False),
}
"""Channels that are asked, and whether what they find is reranked; without an image encoder `visual` finds nothing."""


def asked(data: Path, work: Path, name: str) -> list[Any]:
    """Prepare the folder `work/name`, and return the questions on it."""
    from ragweave.evals.data import read_jsonl
    from ragweave.evals.video import VideoQuestion, read_asked

    folder, fresh = work / library_of(name), not (work / library_of(name)).exists()
    if library_of(name) == "films":
        if fresh:
            shutil.copytree(data / "videos", folder, ignore=shutil.ignore_patterns("*.jsonl"))
        if name == "films":
            return read_asked(data / "videos" / "qa.jsonl")
    if name == "heard" and fresh:
        shutil.copytree(data / "videos", folder, ignore=shutil.ignore_patterns("*.jsonl", "*.vtt"))
        shutil.copy(data / "audio" / "swc_softeng_intro.mp3", folder)
    at: dict[str, float] = {}
    slides: Mapping[str, tuple[str, float, float]] = {}
    if library_of(name) == "podcast":
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(data / "transcripts_practicalai" / "segments.jsonl", folder / "segments.jsonl")
        turns = read_jsonl(folder / "segments.jsonl", ["episode", "text"])
    elif library_of(name) == "lecture" and fresh:
        slides = write(data / "slide_lectures_swc", folder, True, 0)
        (work / "slides.json").write_text(json.dumps(slides), encoding="utf-8")
    elif library_of(name) == "lecture":
        slides = json.loads((work / "slides.json").read_text(encoding="utf-8"))
    if name == "many":
        return []
    wanted = (name, "unseen") if name == "heard" else (name,)
    rows = [r for r in read_jsonl(Path(__file__).with_suffix(".jsonl"), ["id"]) if r["set"] in wanted]
    for row in rows:
        if row.get("slide"):
            at[row["id"]] = slides[f"slides/{row['recording']}/{row['slide']:03}.png"][1]
        elif row.get("said"):
            turn = next(t for t in turns if t["t"] is not None and row["said"] in t["text"])
            at[row["id"]] = turn["t"] + len(turn["text"].split(row["said"])[0].split()) / PACE
    before = read_asked(data / "videos" / "qa.jsonl") if name == "heard" else []
    return before + [
        VideoQuestion(
            r["id"],
            r["question"],
            tuple(r["answers"]),
            (r["recording"],) if r["recording"] else (),
            at.get(r["id"], r.get("t")),
            name,
        )
        for r in rows
    ]


def library_of(name: str) -> str:
    """Return the library, and the folder, that the questions of a set are asked of."""
    return {"unseen": "films", "numbers": "podcast", "many": "podcast", "digits": "lecture"}.get(name, name)


def half(id: str) -> str:
    """Return the half that a question falls into."""
    return "ab"[hashlib.sha256(id.encode()).digest()[0] % 2]


async def measured(name: str, questions: Sequence[Any], show: bool) -> dict[str, float]:
    """Ask all questions of the agent; return the shares, over both halves and over each."""
    from ragweave.components.context import Context
    from ragweave.corpora.store.library import open_library
    from ragweave.evals.video import ask_all, figures
    from ragweave.graphs.agent import graph

    outcomes = await ask_all(graph, questions, Context(mode="extractive", library=library_of(name)))
    for o in outcomes if show else ():
        marks = "".join("-+"[b] for b in (o.correct, o.timely, o.found, o.answer.abstained))
        print(f"{o.asked.id} {half(o.asked.id)} {marks} {o.asked.text} {list(o.asked.answers)} @{o.asked.at}")
        for c in o.answer.citations:
            print(f"      [{c.n}] {c.title} {c.locator.get('start')}-{c.locator.get('end')}")
        print(f"      {o.answer.text}\n")
    out: dict[str, float] = {}
    for part in ("", " a", " b"):
        rows = [o for o in outcomes if not part or half(o.asked.id) == part.strip()]
        of = figures(rows)
        keys = ("questions", "contains_gold", "answered_wrong", "time_within_15s", "retrieved_within_15s")
        out |= {f"{name}{part} {k}": of[k] for k in keys}
        out |= {f"{name}{part} timed": sum(o.asked.at is not None for o in rows)}
        out |= {f"{name}{part} to be declined": sum(not o.asked.videos for o in rows)}
        told = [sum(len(s.text.split()) for s in o.answer.sentences) for o in rows if o.answer.sentences]
        out[f"{name}{part} words_an_answer"] = sum(told) / (len(told) or 1)
    library = await open_library(library_of(name))
    given = [o.answer for o in outcomes if not o.answer.abstained]
    cited = [await library.items([c.id for c in answer.citations]) for answer in given]
    out[f"{name} answers"] = len(given)
    out[f"{name} answers that cite a whole"] = sum(any(i.corpus == "video" for i in of.values()) for of in cited)
    return out


async def many(show: bool) -> dict[str, float]:
    """Ask about several recordings or people at once: all that a question names must be cited, and one word be said."""
    from ragweave.evals.data import read_jsonl

    rows = [r for r in read_jsonl(Path(__file__).with_suffix(".jsonl"), ["id"]) if r["set"] == "many"]
    told = []
    for row in rows:
        answer = await answered(row["question"], library_of("many"))
        said = [s.text for s in answer.sentences]
        right = is_right(answer, row["answers"]) and {*row["cited"]} <= {c.title for c in answer.citations}
        right = right and not any(name in " ".join(said) for name in row.get("not", ()))
        told.append((right and row.get("first", "") in "".join(said[:1]), answer.abstained))
        if show:
            print(f"{'-+'[told[-1][0]]}{'-+'[answer.abstained]} {row['question']}\n      {answer.text[:600]}\n")
    return {"many questions": len(rows), **rates(told, "many ")}


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
                mode="extractive", library=library_of(name), corpora=("clip",), method={"channels": of}, rerank=reranked
            )
            state = await graph.ainvoke({"messages": [("human", q.text)]}, context=context)
            items = await library.items(state.get("candidates", []))
            found = [items[i] for i in state.get("candidates", []) if i in items][:5]
            right = [
                (i.title in q.videos or Path(i.locator["file"]).stem in q.videos) and distance(i.locator, q.at) <= NEAR
                for i in found
            ]
            ranks[1] += any(right[:1])
            ranks[5] += any(right)
        out |= {f"{name} {way} clip R@{k}": round(n / len(timed), 3) for k, n in ranks.items()}
    return out


async def shown(name: str, questions: Sequence[Any]) -> dict[str, float]:
    """Return how often an answer stands in what a writer is shown, and its tokens: clips alone, and with chunks."""
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
            read = {e["id"]: e["text"] for e in state.get("evidence", [])}
            items = await library.items(state.get("chunks", []))
            text = "\n".join([*read.values(), *(i.text for i in items.values() if i.id not in read)])
            found += any(fold(a) in fold(text) for a in q.answers)
            tokens += tokens_of(text)
        out |= {f"{name} {way}: answer stands there": found / len(able), f"{name} {way}: tokens": tokens / len(able)}
    return out


async def about(name: str) -> dict[str, float]:
    """Ask of every recording what it is about, and print the answers: they are judged by reading them."""
    from ragweave.corpora.store.library import open_library

    recordings = await (await open_library(library_of(name))).recordings()
    for r in recordings:
        answer = await answered(f"What is “{r.title}” about?", library_of(name))
        print(f"{'-' if answer.abstained else '+'} {r.title}\n{answer.text}\n")
    return {f"{name} recordings": len(recordings)}


async def indexed(folder: Path, name: str) -> None:
    """Index a folder, or what has changed in it."""
    from ragweave.corpora.ingest.run import index

    await index([folder], name)


def main() -> None:
    """Print the figures, and write them where `--json` names a file."""
    parser = options(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, help="keep films and libraries here for the next run")
    parser.add_argument("--only", choices=SETS)
    parser.add_argument("--channels", action="store_true", help="retrieval alone, by several sets of channels")
    parser.add_argument("--shown", action="store_true", help="how often an answer stands in what a writer is shown")
    parser.add_argument("--about", action="store_true", help="print what each recording is said to be about")
    parser.add_argument("--show", action="store_true", help="print each question with its answer")
    given = parser.parse_args()
    figures: dict[str, Any] = {}
    with own_home(given.work) as folder:
        for name in (given.only,) if given.only else SETS:
            questions = asked(given.data, folder, name)
            asyncio.run(indexed(folder / library_of(name), library_of(name)))
            if given.about:
                figures |= asyncio.run(about(name)) if name == library_of(name) else {}
            elif name == "many":
                figures |= {} if given.channels or given.shown else asyncio.run(many(given.show))
            elif given.channels or given.shown:
                figures |= asyncio.run((channels if given.channels else shown)(name, questions))
            else:
                figures |= asyncio.run(measured(name, questions, given.show))
    if not given.only and f"{SUBTITLED[-1]} timed" in figures:
        for key, count in (
            ("contains_gold", "questions"),
            ("answered_wrong", "questions"),
            ("time_within_15s", "timed"),
        ):
            sizes = [figures[f"{name} {count}"] for name in SUBTITLED]
            total = sum(n * figures[f"{name} {key}"] for name, n in zip(SUBTITLED, sizes, strict=True))
            figures[f"with subtitles: {key}"] = total / sum(sizes)
    tell(figures, given.json)


if __name__ == "__main__":
    main()
