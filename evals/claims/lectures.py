"""Make films of lectures: slides, each as long as its narration, with the narration as subtitles."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

PACE = 2.5
"""Words a second, where the data state no times."""
Row = dict[str, Any]
Placed = dict[str, tuple[str, float, float]]
"""Lecture, first and last second, by the path of a slide."""


def placed(data: Path) -> Placed:
    """Return when each slide of the lectures is shown."""
    places: Placed = {}
    for name, slides in _lectures(data).items():
        at = 0.0
        for slide in slides:
            end = at + max(_seconds(slide), 1.0)
            places[slide["image"]] = (name, at, end)
            at = end
    return places


def _seconds(slide: Row) -> float:
    """Return the length of a slide: as the data state it, or by the words of its narration."""
    if slide["end_est"] is not None and slide["end_est"] > slide["start_est"]:
        return float(slide["end_est"] - slide["start_est"])
    return len(slide["narration"].split()) / PACE


def _lectures(data: Path) -> dict[str, list[Row]]:
    from ragweave.evals.data import read_jsonl

    lectures: dict[str, list[Row]] = defaultdict(list)
    for row in read_jsonl(data / "slides.jsonl", ["lecture", "image", "narration"]):
        lectures[row["lecture"]].append(row)
    return lectures


def write(data: Path, folder: Path) -> Placed:
    """Write each lecture as a film of its slides, with subtitles; return when each slide is shown."""
    places = placed(data)
    folder.mkdir(parents=True)
    for name, slides in _lectures(data).items():
        cues, frames = [], []
        for slide in slides:
            _, start, end = places[slide["image"]]
            if slide["narration"].strip():
                cues.append((start, end, " ".join(slide["narration"].split())))
            frames.append(((data / slide["image"]).resolve(), end - start))
        film(frames, folder / f"{name}.mp4")
        subtitles(cues, folder / f"{name}.vtt")
    return places


def film(frames: Sequence[tuple[Path, float]], to: Path) -> None:
    """Make a film of pictures, each shown for so many seconds."""
    from ragweave.corpora.video.ffmpeg import binary

    listed = to.with_suffix(".txt")
    shown = []
    total = 0.0
    for path, lasts in frames:
        shown.append(f"file '{path}'\nduration {lasts:.3f}")
        total += lasts
    # The format ignores the length of the last picture unless it comes twice.
    shown.append(f"file '{frames[-1][0]}'")
    listed.write_text("\n".join(shown), encoding="utf-8")
    form = ["-vf", "scale=640:480,fps=2,format=yuv420p", "-t", f"{total:.3f}"]
    made = [binary(), "-v", "error", "-f", "concat", "-safe", "0", "-i", str(listed), *form]
    subprocess.run([*made, str(to)], check=True)
    listed.unlink()


def subtitles(cues: Iterable[tuple[float, float, str]], to: Path) -> None:
    """Write cues, (start, end, text), as WebVTT."""

    def clock(at: float) -> str:
        return f"{int(at) // 3600:02}:{int(at) // 60 % 60:02}:{at % 60:06.3f}"

    blocks = []
    for start, end, text in cues:
        blocks.append(f"{clock(start)} --> {clock(end)}\n{text}\n")
    to.write_text("WEBVTT\n\n" + "\n".join(blocks), encoding="utf-8")
