"""Query speed over recordings, as ratios within one run: `python benchmarks/video_query.py [--latency S] [--json OUT]`.

Scripted models of fixed latency stand in for a language model and a vision model (2.5 times as slow), so that what is
measured is everything else. The critical path is four calls in a row: rewrite, judge, all looks at once, answer.
"""

from __future__ import annotations

import asyncio
import os
import re
import statistics
import time
from pathlib import Path
from typing import Any

from printed import options, own_home, tell
from video_lectures import subtitles

QUESTION = "What does the guide say about the red bridge?"
CLIPS = 8
VISION = 2.5
"""Latency of a look, in calls of the text model."""
SERIAL = 3 + VISION
TOGETHER = 4


def react(messages: list[Any]) -> Any:
    """Play every text part: rewrite, a judge that keeps eight clips, one supported sentence."""
    system, user = messages[0].text, messages[-1].text
    if "prepare the search" in system:
        return {"statement": "The guide speaks of the red bridge.", "scene": "a red bridge", "keywords": ["red bridge"]}
    if "judge whether passages" in system:
        count = len(re.findall(r"^\[(\d+)\]", user, re.M))
        verdicts = ["relevant" if n <= CLIPS else "irrelevant" for n in range(1, count + 1)]
        return {"verdicts": [{"n": n, "verdict": v} for n, v in enumerate(verdicts, 1)]}
    return "The red bridge was built in 1931 [1]."


async def build(folder: Path) -> None:
    """Index a transcript of an hour in which twelve clips speak of the bridge; give every clip fifteen frames."""
    from ragweave.corpora.ingest.run import index
    from ragweave.tests.support.frames import add_frames

    cues = []
    for n in range(120):
        said = f"The red bridge of part {n} was built in 1931." if n % 10 == 5 else f"Part {n} is about house {n + 7}."
        cues.append((30 * n, 30 * n + 28, said))
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    await asyncio.to_thread(subtitles, cues, folder / "tour.vtt")
    await index([folder])
    await asyncio.to_thread(add_frames)


async def timed(text: Any, vision: Any) -> float:
    """Return the seconds of one answered question."""
    from ragweave.components.context import Context
    from ragweave.graphs.video_rag import graph
    from ragweave.models.chat import override

    sent: Any = {"messages": [("human", QUESTION)]}
    started = time.perf_counter()
    with override(writer=text, judge=text, vision=vision):
        state = await graph.ainvoke(sent, context=Context(mode="llm"))
    seconds = time.perf_counter() - started
    if "1931" not in state["answer"].text or len(state["looked"]) != CLIPS:
        raise SystemExit(f"the benchmark's question went wrong: {state['answer'].text}, {len(state['looked'])} looks")
    return seconds


async def measure(latency: float) -> dict[str, float]:
    """Measure one asker, then four at once."""
    from ragweave.tests.support import ScriptedChat

    text = ScriptedChat(react=react, delay=latency)
    vision = ScriptedChat(react=lambda messages: "A red bridge over a river.", delay=VISION * latency)
    await timed(text, vision)
    before = len(text.calls), len(vision.calls)
    alone = [await timed(text, vision) for _ in range(5)]
    best = statistics.median(alone)
    started = time.perf_counter()
    await asyncio.gather(*(timed(text, vision) for _ in range(TOGETHER)))
    together = time.perf_counter() - started
    # Of the calls of the five, and of the four after them, the first are counted.
    asked = TOGETHER + 5
    return {
        "text_calls_per_question": (len(text.calls) - before[0]) / asked,
        "vision_calls_per_question": (len(vision.calls) - before[1]) / asked,
        "seconds_per_question": round(best, 3),
        "wall_over_critical_path": round(best / (SERIAL * latency), 3),
        "four_at_once_over_one": round(together / best, 3),
    }


def main() -> None:
    """Print the figures, and write them where `--json` names a file."""
    parser = options(__doc__, latency=0.4)
    given = parser.parse_args()
    with own_home() as folder:
        os.environ["RAGWEAVE_CHAT_WIDTH"] = "64"
        asyncio.run(build(folder / "texts"))
        figures = asyncio.run(measure(given.latency))
    tell(figures, given.json)


if __name__ == "__main__":
    main()
