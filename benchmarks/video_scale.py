"""130 hours of conversation in one library: `python benchmarks/video_scale.py TRANSCRIPT [--hours 130] [--json OUT]`.

The recordings of a real transcript are repeated under other names, their utterances in another order, until they last
so long. Printed are the seconds of indexing, the milliseconds of a question, in all and by retriever,
and the memory of the process that asks.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from printed import options, own_home, tell
from video_lectures import subtitles

QUESTIONS = 30


def write(transcript: Path, folder: Path, hours: float, seed: int = 1) -> int:
    """Write WebVTT files of recordings that last `hours` together; return how many."""
    from ragweave.corpora.video.cues import read_transcript

    shuffled = random.Random(seed)
    recordings = read_transcript(transcript)
    lasted, count = 0.0, 0
    folder.mkdir(parents=True)
    while lasted < hours * 3600:
        recording = recordings[count % len(recordings)]
        cues = list(recording.cues)
        texts = [f"<v {c.speaker}>{c.text}" if c.speaker else c.text for c in cues]
        if count >= len(recordings):
            shuffled.shuffle(texts)
        told = [(c.start, c.end, text) for c, text in zip(cues, texts, strict=True)]
        subtitles(told, folder / f"recording-{count:04}.vtt")
        lasted += recording.duration
        count += 1
    return count


async def ask(transcript: Path) -> dict[str, float]:
    """Ask for moments of the transcript, and return times and memory."""
    from ragweave.components.context import Context
    from ragweave.corpora.store.library import open_library
    from ragweave.evals.video import moments
    from ragweave.graphs.video_rag import graph

    counts = await (await open_library()).counts()
    context = Context(mode="extractive")
    walls: list[float] = []
    channels: dict[str, list[float]] = {}
    for n, moment in enumerate(moments(transcript, QUESTIONS + 1)):
        sent: Any = {"messages": [("human", moment.query)]}
        steps: list[dict[str, Any]] = []
        started = time.perf_counter()
        async for part in graph.astream(sent, context=context, stream_mode=["custom"], version="v2", subgraphs=True):
            steps.append(part["data"])
        if n:  # the first question opens the stores
            walls.append(1000 * (time.perf_counter() - started))
            for step in steps:
                name = step["by"] if step.get("node") == "retrieve_clips" else step.get("node", "")
                channels.setdefault(name, []).append(1000 * step.get("seconds", 0.0))
    return {
        "clips": counts.get("clip", 0),
        "recordings": counts.get("video", 0),
        "ms_per_question": round(statistics.median(walls), 1),
        "ms_slowest_question": round(max(walls), 1),
        **{f"ms_{name}": round(statistics.median(ms), 1) for name, ms in sorted(channels.items()) if name},
        "peak_mb_of_asking": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }


def stored(home: Path) -> float:
    """Return the megabytes of a home."""
    return round(sum(p.stat().st_size for p in home.rglob("*") if p.is_file()) / 2**20, 1)


def main() -> None:
    """Print the figures, and write them where `--json` names a file."""
    parser = options(__doc__)
    parser.add_argument("transcript", type=Path)
    parser.add_argument("--hours", type=float, default=130.0)
    parser.add_argument("--ask", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.ask:
        print(json.dumps(asyncio.run(ask(given.transcript))))
        return
    with own_home() as folder:
        write(given.transcript, folder / "texts", given.hours)
        from ragweave.corpora.ingest.run import index

        report = asyncio.run(index([folder / "texts"]))
        figures: dict[str, Any] = {
            "hours": given.hours,
            "index_seconds": round(report.seconds, 1),
            "index_peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
            "stored_mb": stored(folder / "home"),
        }
        # A process of its own, so that its memory is that of asking alone.
        asked = subprocess.run(
            [sys.executable, __file__, str(given.transcript), "--ask"], check=True, capture_output=True, text=True
        )
        figures |= json.loads(asked.stdout.strip().rpartition("\n")[2])
    tell(figures, given.json)


if __name__ == "__main__":
    main()
