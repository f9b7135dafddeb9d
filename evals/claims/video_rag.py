"""VideoRAG in small: the effect of graph and frames over two hours of recordings.

`video_library` provides the recordings, their entity graph and their captions. Forty questions have a gold
span of seconds: twenty about the speech, and twenty about slides, written from the words on the slides before
any caption existed. A clip among the first 1 or 5 is right if it overlaps the span. The record
video_rag_clips.jsonl has the clips of each arm; with a folder of public data they are measured again.

A writer with recorded prompts and replies answers eight open questions from the six best items of an arm, and
two judges compare them by the judge's prompts, with recorded replies (`video_judged`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ragweave.evals.claims import video_judged
from ragweave.evals.claims.common import (
    ClaimReport,
    Given,
    KeptChat,
    bars,
    drawing,
    gain,
    lookup,
    read_rows,
    save,
    share,
    write_rows,
)
from ragweave.evals.judge import ASPECTS
from ragweave.evals.report import table
from ragweave.models.errors import InputError
from ragweave.models.text import clock

if TYPE_CHECKING:
    from ragweave.corpora.store.library import Library

NAME = "video_rag"
KEPT = 10
"""Number of recorded clips of an arm."""
WHOLE, PLAIN, GRAPH = "whole", "plain RAG over transcripts", "graph alone"
PUBLISHED = "published sort of chunks"
PRESET: dict[str, Any] = {"preset": "video-rag-paper", "grade_by": "local", "look": "off"}
KINDS = ("said", "shown")
LEFT_OUT = ("agreement",)
"""What the short report leaves out."""


class VideoArm(NamedTuple):
    """Whether the library has captions, and the settings of a run."""

    frames: bool
    knobs: dict[str, Any]


def _channels(*names: str) -> dict[str, Any]:
    return {**PRESET, "method": {"channels": names, "chunk_tokens": 0}}


ARMS = {
    WHOLE: VideoArm(True, _channels("chunk", "entity", "visual")),
    "without graph": VideoArm(True, _channels("chunk", "visual")),
    "without frames": VideoArm(False, _channels("chunk", "entity")),
    PLAIN: VideoArm(False, _channels("chunk")),
    GRAPH: VideoArm(True, _channels("entity")),
    "our default, frames": VideoArm(True, {"look": "off"}),
    "our default, no frames": VideoArm(False, {"look": "off"}),
}
JUDGED = tuple(ARMS)[:4]
"""Arms whose answers are compared."""
ITEMS = 6
"""Number of items that the writer sees."""
Clip = tuple[str, float, float]
"""Recording, first and last second."""


def right(found: Sequence[Clip], gold: Sequence[Clip], k: int) -> float:
    """Return 1 if one of the first k clips overlaps a gold span."""
    for name, start, end in found[:k]:
        for gold_name, gold_start, gold_end in gold:
            if name == gold_name and start < gold_end and gold_start < end:
                return 1.0
    return 0.0


def marks(
    questions: Sequence[Mapping[str, Any]], kept: Mapping[str, Mapping[str, Any]], arm: str, k: int
) -> list[float]:
    """Return the score of each question."""
    scores = []
    for q in questions:
        row = kept[q["id"]]
        scores.append(right(row["found"][arm], row["gold"], k))
    return scores


def of_kinds(rows: Sequence[Mapping[str, Any]], *kinds: str) -> list[Mapping[str, Any]]:
    """Return the rows of some kinds."""
    out = []
    for row in rows:
        if row["kind"] in kinds:
            out.append(row)
    return out


async def claim(given: Given) -> ClaimReport:
    """Return the report from the recorded clips and verdicts; with public data, measure them again first."""
    rows = read_rows(f"{NAME}_questions")
    questions = of_kinds(rows, *KINDS)
    if given.data is not None:
        from ragweave.evals.claims.video_library import prepared

        libraries = {}
        for frames in (True, False):
            libraries[frames] = await prepared(given.data, given.work, frames)
        write_rows(f"{NAME}_clips", await measure(questions, given.data, libraries))
        texts = [q["question"] for q in of_kinds(rows, "open")]
        write_rows(f"{NAME}_answers", await answers(texts, libraries))
    said = read_rows(f"{NAME}_answers")
    verdicts = await video_judged.verdicts(said, WHOLE)
    return report(questions, read_rows(f"{NAME}_clips"), verdicts, said)


def report(
    questions: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    verdicts: video_judged.Verdicts,
    said: Sequence[Mapping[str, Any]],
) -> ClaimReport:
    """Return the right seconds, the verdicts and a case, and the function that draws the first two."""
    kept = {}
    for row in rows[1:]:
        kept[row["id"]] = row
    lines = [rows[0]["library"], "", _seconds(questions, kept), ""]
    lines.append("difference with its 95 % interval (paired bootstrap), first 1 and first 5")
    for name in JUDGED[1:]:
        first = gain(marks(questions, kept, name, 1), marks(questions, kept, WHOLE, 1))
        fifth = gain(marks(questions, kept, name, 5), marks(questions, kept, WHOLE, 5))
        lines.append(f"{WHOLE} - {name}: {first}, {fifth}")
    lines += [_sorted(questions, kept), "", video_judged.shown(verdicts), "", case(said)]
    figures: dict[str, float] = {}
    for arm in ARMS:
        figures[f"{arm}, first 1"] = _mean(questions, kept, arm, 1)
        figures[f"{arm}, first 5"] = _mean(questions, kept, arm, 5)
    return ClaimReport("\n".join(lines), figures, lambda path: draw(questions, kept, verdicts, path))


def _sorted(questions: Sequence[Mapping[str, Any]], kept: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the right seconds of the graph's first five clips, and of all clips of the published sort."""
    sizes = []
    for q in questions:
        sizes.append(len(kept[q["id"]]["found"][PUBLISHED]))
    theirs = share(marks(questions, kept, PUBLISHED, max(sizes)))
    ours = share(marks(questions, kept, GRAPH, 5))
    return f"{GRAPH}, its first 5 clips: {ours}; {PUBLISHED}, all {np.mean(sizes):.1f} clips: {theirs}"


def case(said: Sequence[Mapping[str, Any]]) -> str:
    """Return one question with the clips that each arm answers from (section 4.4)."""
    by_digest = {}
    for row in said:
        by_digest[hashlib.sha256(row["question"].encode()).hexdigest()] = row["question"]
    question = by_digest[min(by_digest)]
    rows: list[list[Any]] = []
    for row in said:
        if row["question"] == question:
            rows.append([row["arm"], len(row["answer"].split()), _places(row["clips"])])
    return f"case: {question}\n" + table(["", "words", "clips that the writer saw"], rows)


def _places(clips: Sequence[Clip]) -> str:
    """Return clips in words; each recording is named once as long as it stays the same."""
    places = []
    last = ""
    for name, start, end in clips:
        at = f"{clock(start)}-{clock(end)}"
        places.append(at if name == last else f"{name} {at}")
        last = name
    return ", ".join(places)


def _mean(
    questions: Sequence[Mapping[str, Any]], kept: Mapping[str, Mapping[str, Any]], arm: str, k: int
) -> float:
    return float(np.mean(marks(questions, kept, arm, k)))


def _seconds(questions: Sequence[Mapping[str, Any]], kept: Mapping[str, Mapping[str, Any]]) -> str:
    rows: list[list[Any]] = []
    for arm in ARMS:
        row: list[Any] = [arm, share(marks(questions, kept, arm, 1)), share(marks(questions, kept, arm, 5))]
        for kind in KINDS:
            mine = of_kinds(questions, kind)
            row += [_mean(mine, kept, arm, 1), _mean(mine, kept, arm, 5)]
        rows.append(row)
    columns = ["right seconds", "first 1", "first 5"]
    for kind in KINDS:
        columns += [f"{kind}, 1", f"{kind}, 5"]
    return table(columns, rows)


def draw(
    questions: Sequence[Mapping[str, Any]],
    kept: Mapping[str, Mapping[str, Any]],
    verdicts: video_judged.Verdicts,
    path: Path,
) -> None:
    """Draw right seconds by kind of question, and the share of verdicts that the whole wins."""
    figure, axes = drawing(2, (12, 4.0))
    series = {}
    for kind in KINDS:
        mine = of_kinds(questions, kind)
        series[f"what is {kind}"] = [_mean(mine, kept, arm, 5) for arm in ARMS]
    bars(axes[0], series, list(ARMS))
    axes[0].set_title("A clip of the right seconds among the first five")
    wins: dict[str, list[float]] = {}
    for other in JUDGED[1:]:
        for aspect in ASPECTS:
            votes = video_judged.votes(verdicts, other, aspect)
            wins.setdefault(f"over {other}", []).append(float(np.mean(votes)))
    bars(axes[1], wins, ASPECTS)
    axes[1].axvline(0.5, color="grey", linewidth=0.8)
    axes[1].set_title("Verdicts of two judges that the whole wins")
    save(figure, path)


async def measure(
    questions: Sequence[Mapping[str, Any]], data: Path, libraries: Mapping[bool, Library]
) -> list[dict[str, Any]]:
    """Return a row about the recordings, then one per question with its gold seconds and clips by arm."""
    from ragweave.evals.claims.lectures import placed
    from ragweave.evals.claims.video_library import EPISODES
    from ragweave.evals.claims.video_published import published_clips

    places = placed(data / "slide_lectures_swc")
    lengths: dict[str, float] = {}
    for name, _, end in places.values():
        lengths[name] = max(end, lengths.get(name, 0.0))
    minutes = round(sum(lengths.values()) / 60)
    counts = await libraries[True].counts()
    text = f"{len(lengths)} lectures of {minutes} minutes, and the transcripts of {len(EPISODES)} episodes"
    out: list[dict[str, Any]] = [{"library": f"{text}; {counts['clip']} clips"}]
    published = await published_clips(libraries[True], [q["question"] for q in questions])
    for q, of_chunks in zip(questions, published, strict=True):
        found = {}
        for arm, (frames, knobs) in ARMS.items():
            found[arm] = await clips_of(libraries[frames].name, q["question"], knobs)
        gold = [places[slide] for slide in q["slides"]]
        out.append({"id": q["id"], "gold": gold, "found": {**found, PUBLISHED: of_chunks}})
    return out


async def answers(questions: Sequence[str], libraries: Mapping[bool, Library]) -> list[dict[str, Any]]:
    """Return each arm's answers to the open questions and the clips that its writer saw.

    The replies of the writer are recorded.

    Raises:
        InputError: a prompt has no kept reply.
    """
    from ragweave.components.context import Context
    from ragweave.evals.claims.video_library import REPLIES
    from ragweave.graphs.video_rag import graph
    from ragweave.models.chat import override

    model = KeptChat(kept=lookup(of_kinds(read_rows(REPLIES), "chat"), "key", "reply"))
    out: list[dict[str, Any]] = []
    for question in questions:
        for arm in JUDGED:
            frames, knobs = ARMS[arm]
            more = {"mode": "llm", "check_by": "off", "top_k": ITEMS, "library": libraries[frames].name}
            sent: Any = {"messages": [("human", question)]}
            with override(writer=model):
                state = await graph.ainvoke(sent, context=Context.model_validate({**knobs, **more}))
            if model.missing:
                keys = ", ".join([row["key"] for row in model.missing])
                raise InputError(f"no reply is kept for the prompts {keys}", f"add them to {REPLIES}.jsonl")
            text = str(state["messages"][-1].text)
            clips = _clips(state.get("evidence", []))[:ITEMS]
            out.append({"question": question, "arm": arm, "answer": text, "clips": clips})
    return out


async def clips_of(library: str, question: str, knobs: Mapping[str, Any]) -> list[Clip]:
    """Return the clips that a run without a chat model finds, best first."""
    from ragweave.components.context import Context
    from ragweave.graphs.video_rag import graph

    context = Context.model_validate({"mode": "extractive", "library": library, **knobs})
    sent: Any = {"messages": [("human", question)]}
    state = await graph.ainvoke(sent, context=context)
    return _clips(state.get("evidence", []))[:KEPT]


def _clips(evidence: Sequence[Mapping[str, Any]]) -> list[Clip]:
    """Return the clips among the evidence, in its order."""
    found = []
    for row in evidence:
        at = row["locator"]
        if row["corpus"] == "clip":
            found.append((Path(str(at["file"])).stem, round(at["start"], 1), round(at["end"], 1)))
    return found
