"""Lectures made of slides and what was said to them: `python benchmarks/video_lectures.py DATA [--lectures N]`.

Every lecture of the data becomes a film that shows each slide as long as it was spoken about, with the narration as
subtitles beside it. A slide is asked for by its narration; found is a clip of the right lecture that overlaps the
slide's seconds. Indexed are the films alone, so that only what stands on the slides can be found, then films and
subtitles.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from printed import options, own_home, tell

PACE = 2.5
"""Words a second, where the data state no times."""


def write(data: Path, folder: Path, narrated: bool, most: int) -> dict[str, tuple[str, float, float]]:
    """Write the films, and return (lecture, start, end) of each slide by the path of its picture."""
    from ragweave.evals.data import read_jsonl

    lectures: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in read_jsonl(data / "slides.jsonl", ["lecture", "image", "narration"]):
        lectures[row["lecture"]].append(row)
    places: dict[str, tuple[str, float, float]] = {}
    folder.mkdir(parents=True)
    for name, slides in sorted(lectures.items(), key=lambda row: len(row[1]))[: most or None]:
        at, cues, frames = 0.0, [], []
        for slide in slides:
            stated = slide["end_est"] is not None and slide["end_est"] > slide["start_est"]
            lasts = slide["end_est"] - slide["start_est"] if stated else len(slide["narration"].split()) / PACE
            end = at + max(lasts, 1.0)
            places[slide["image"]] = (name, at, end)
            if slide["narration"].strip():
                cues.append((at, end, " ".join(slide["narration"].split())))
            frames.append(((data / slide["image"]).resolve(), end - at))
            at = end
        film(frames, folder / f"{name}.mp4", "scale=640:480,")
        if narrated:
            subtitles(cues, folder / f"{name}.vtt")
    return places


def film(frames: Sequence[tuple[Path, float]], to: Path, scale: str = "") -> None:
    """Make a film of pictures, each shown for so many seconds."""
    from ragweave.corpora.video.ffmpeg import binary

    listed = to.with_suffix(".txt")
    shown = [f"file '{path}'\nduration {lasts:.3f}" for path, lasts in frames]
    listed.write_text("\n".join([*shown, f"file '{frames[-1][0]}'"]), encoding="utf-8")
    form = ["-vf", f"{scale}fps=2,format=yuv420p", "-t", f"{sum(lasts for _, lasts in frames):.3f}"]
    made = [binary(), "-v", "error", "-f", "concat", "-safe", "0", "-i", str(listed), *form]
    subprocess.run([*made, str(to)], check=True)
    listed.unlink()


def subtitles(cues: Iterable[tuple[float, float, str]], to: Path) -> None:
    """Write cues, (start, end, text), as WebVTT."""

    def clock(at: float) -> str:
        return f"{int(at) // 3600:02}:{int(at) // 60 % 60:02}:{at % 60:06.3f}"

    told = [f"{clock(start)} --> {clock(end)}\n{text}\n" for start, end, text in cues]
    to.write_text("WEBVTT\n\n" + "\n".join(told), encoding="utf-8")


def named(item: Any) -> str:
    """Return the name of the lecture that an item is of."""
    return Path(item.locator["file"]).stem


async def asked(data: Path, folder: Path, places: dict[str, tuple[str, float, float]], name: str) -> dict[str, float]:
    """Index the films and return how often the right lecture and slide are found."""
    from ragweave.components.context import Context
    from ragweave.corpora.ingest.run import index
    from ragweave.corpora.store.library import open_library
    from ragweave.evals.data import read_jsonl
    from ragweave.graphs.search import graph

    report = await index([folder], name)
    library = await open_library(name)
    queries = read_jsonl(data / "slide_queries.jsonl", ["query", "gold_image"])
    rows = [row for row in queries if row["gold_image"] in places]
    hits = dict.fromkeys(("lecture@1", "slide@1", "slide@5"), 0)
    for row in rows:
        lecture, start, end = places[row["gold_image"]]
        state = await graph.ainvoke(
            {"messages": [("human", row["query"])]}, context=Context(mode="extractive", library=name, corpora=("clip",))
        )
        items = await library.items(state.get("candidates", []))
        right = [
            (named(i) == lecture, named(i) == lecture and i.locator["start"] < end and i.locator["end"] > start)
            for i in (items[c] for c in state.get("candidates", [])[:5])
        ]
        hits["lecture@1"] += bool(right) and right[0][0]
        hits["slide@1"] += bool(right) and right[0][1]
        hits["slide@5"] += any(found for _, found in right)
    return {
        **{k: round(n / len(rows), 3) for k, n in hits.items()},
        "queries": len(rows),
        "clips": (await library.counts())["clip"],
        "index_seconds": round(report.seconds, 1),
    }


def main() -> None:
    """Print the figures, and write them where `--json` names a file."""
    parser = options(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--lectures", type=int, default=0, help="the shortest so many; 0 means all")
    given = parser.parse_args()
    os.environ["RAGWEAVE_ASR"] = "off"
    figures: dict[str, Any] = {}
    with own_home() as folder:
        for name in ("slides", "narrated"):
            films = folder / name
            places = write(given.data, films, name == "narrated", given.lectures)
            figures |= {f"{name} {k}": v for k, v in asyncio.run(asked(given.data, films, places, name)).items()}
    tell(figures, given.json)


if __name__ == "__main__":
    main()
