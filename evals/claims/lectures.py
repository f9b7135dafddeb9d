"""Make films of lectures: slides, each as long as its narration, with the narration as subtitles."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

PACE = 2.5
"""Words a second, where the data state no times."""
Placed = dict[str, tuple[str, float, float]]
"""Lecture, first and last second, by the path of a slide."""


def placed(data: Path) -> Placed:
    """Return when each slide of the lectures is shown."""
    places: Placed = {}
    for name, slides in _lectures(data).items():
        at = 0.0
        for slide in slides:
            stated = slide["end_est"] is not None and slide["end_est"] > slide["start_est"]
            lasts = (
                slide["end_est"] - slide["start_est"] if stated else len(slide["narration"].split()) / PACE
            )
            places[slide["image"]] = (name, at, at + max(lasts, 1.0))
            at = places[slide["image"]][2]
    return places


def _lectures(data: Path) -> dict[str, list[dict[str, Any]]]:
    from ragweave.evals.data import read_jsonl

    lectures: dict[str, list[dict[str, Any]]] = defaultdict(list)
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
    shown = [f"file '{path}'\nduration {lasts:.3f}" for path, lasts in frames]
    listed.write_text("\n".join([*shown, f"file '{frames[-1][0]}'"]), encoding="utf-8")
    form = ["-vf", "scale=640:480,fps=2,format=yuv420p", "-t", f"{sum(lasts for _, lasts in frames):.3f}"]
    made = [binary(), "-v", "error", "-f", "concat", "-safe", "0", "-i", str(listed), *form]
    subprocess.run([*made, str(to)], check=True)
    listed.unlink()


def subtitles(cues: Iterable[tuple[float, float, str]], to: Path) -> None:
    """Write cues, (start, end, text), as WebVTT."""

    def clock(at: float) -> str:
        return f"{int(at) // 3600:02}:{int(at) // 60 % 60:02}:{at % 60:06.3f}"

    said = [f"{clock(start)} --> {clock(end)}\n{text}\n" for start, end, text in cues]
    to.write_text("WEBVTT\n\n" + "\n".join(said), encoding="utf-8")
