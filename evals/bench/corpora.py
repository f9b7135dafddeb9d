"""What lies beside a file of questions: passages in their published forms, relevance, recordings and pictures."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ragweave.evals.data import read_jsonl

Row = dict[str, Any]
RECORDED = (".mp4", ".mkv", ".webm", ".mov", ".mp3", ".wav", ".m4a", ".vtt", ".srt", ".png", ".jpg", ".jpeg")


def read_passages(path: Path) -> list[Row]:
    """Read passages: JSON Lines with `text` and `id` or `_id` (ours, BEIR), or `contents` (FlashRAG); DPR's table."""
    if path.suffix == ".tsv":
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file, delimiter="\t")
            return [{"id": i, "title": title, "text": body} for i, body, title in rows if i != "id"]
    out: list[Row] = []
    for n, row in enumerate(read_jsonl(path), 1):
        title, _, text = str(row.get("contents", "")).partition("\n")
        key = row.get("id", row.get("_id", n))
        title, text = str(row.get("title") or title.strip('"') or key), str(row.get("text", text) or title)
        out.append({"id": str(key), "title": title, "text": text})
    return out


def qrels_of(folder: Path) -> dict[str, list[str]]:
    """Return the relevant passages by question of a BEIR folder, those of its test split where there are several."""
    found = sorted((folder / "qrels").glob("*.tsv"), key=lambda p: (p.stem != "test", p.name))
    out: dict[str, list[str]] = {}
    for line in found[0].read_text(encoding="utf-8").splitlines()[1:] if found else ():
        question, passage, grade = line.split("\t")
        if int(grade) > 0:
            out.setdefault(question, []).append(passage)
    return out


def recorded(folder: Path) -> list[Path]:
    """Return the recordings, subtitles and pictures of a folder, and of its `videos` and `images`."""
    held = [folder, *(folder / n for n in ("videos", "video", "images") if (folder / n).is_dir())]
    return [p for f in held for p in sorted(f.iterdir()) if p.suffix.lower() in RECORDED]


def _roots(raw: Sequence[Row], file: Path, keys: Sequence[str]) -> Iterator[Path]:
    """Yield the files that UniversalRAG's rows name, where the folder that their paths begin in is above."""
    named = dict.fromkeys(p for row in raw for k in keys for p in row.get(k) or ())
    for p in named:
        found = next((up / p for up in file.parents if (up / p).exists()), None)
        if found is not None:
            yield found


def texts(raw: Sequence[Row], file: Path) -> list[Row]:
    """Return the whole corpora that the texts named by UniversalRAG's rows lie in."""
    folders = dict.fromkeys(p.parent for p in _roots(raw, file, ["gt_texts"]))
    out = []
    for path in (p for f in folders for p in sorted(f.glob("*.txt"))):
        text = path.read_text(encoding="utf-8")
        out.append({"id": path.name, "title": text.partition("\n")[0][:200] or path.stem, "text": text})
    return out


def named_files(raw: Sequence[Row], file: Path) -> list[Path]:
    """Return the whole corpora that the pictures and recordings named by UniversalRAG's rows lie in."""
    folders = dict.fromkeys(p.parent for p in _roots(raw, file, ["gt_images", "gt_videos"]))
    return [p for f in folders for p in recorded(f)]
