"""Questions that need a model, as a set for `ragweave bench video-rag`: over a podcast, or of what two films show.

`python benchmarks/open_questions.py DATA FOLDER [--set seen]` writes `queries.jsonl` and lays the recordings beside it:
`open`, three episodes as WebVTT; `seen`, two films. The questions stand in `recorded.jsonl`, written from the
transcripts, or from the frames, before the first of them was asked; each has the fact that an answer must state.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from printed import options
from video_lectures import subtitles

EPISODES = ("practical-ai-134", "practical-ai-138", "practical-ai-139")
FILMS = ("agent327_barbershop_360p", "sintel_trailer_480p")


def write(data: Path, folder: Path, name: str) -> None:
    """Write the questions of a set and its recordings."""
    from ragweave.corpora.video.cues import read_transcript
    from ragweave.evals.data import read_jsonl

    folder.mkdir(parents=True, exist_ok=True)
    rows = [r for r in read_jsonl(Path(__file__).with_name("recorded.jsonl"), ["id"]) if r["set"] == name]
    asked = [{k: r[k] for k in ("id", "question", "answers", "gold")} for r in rows]
    (folder / "queries.jsonl").write_text("".join(f"{json.dumps(r)}\n" for r in asked), encoding="utf-8")
    if name == "seen":
        for film in (p for stem in FILMS for p in (data / "videos").glob(f"{stem}.*")):
            shutil.copy(film, folder)
        return
    for episode in read_transcript(data / "transcripts_practicalai" / "segments.jsonl"):
        if episode.title in EPISODES:
            cues = [(c.start, c.end, f"<v {c.speaker}>{c.text}") for c in episode.cues]
            subtitles(cues, folder / f"{episode.title}.vtt")


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", choices=["open", "seen"], default="open")
    given = parser.parse_args()
    write(given.data, given.folder, given.set)
