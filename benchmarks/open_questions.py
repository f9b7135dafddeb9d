"""Open questions over three episodes of the podcast, as a set for `ragweave bench video-rag`.

`python benchmarks/open_questions.py DATA FOLDER` writes `queries.jsonl` and the episodes as WebVTT. The questions stand
in `recorded.jsonl`, written from the transcripts before the first of them was asked; each has the fact that an answer
must state.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from video_lectures import subtitles

EPISODES = ("practical-ai-134", "practical-ai-138", "practical-ai-139")


def write(data: Path, folder: Path) -> None:
    """Write questions and episodes."""
    from ragweave.corpora.video.cues import read_transcript
    from ragweave.evals.data import read_jsonl

    folder.mkdir(parents=True, exist_ok=True)
    rows = [r for r in read_jsonl(Path(__file__).with_name("recorded.jsonl"), ["id"]) if r["set"] == "open"]
    asked = [{k: r[k] for k in ("id", "question", "answers", "gold")} for r in rows]
    (folder / "queries.jsonl").write_text("".join(f"{json.dumps(r)}\n" for r in asked), encoding="utf-8")
    for episode in read_transcript(data / "transcripts_practicalai" / "segments.jsonl"):
        if episode.title in EPISODES:
            cues = [(c.start, c.end, f"<v {c.speaker}>{c.text}") for c in episode.cues]
            subtitles(cues, folder / f"{episode.title}.vtt")


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
