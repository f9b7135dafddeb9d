"""Read the passages, relevance judgements, recordings and pictures of a question set."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ragweave.evals.data import read_jsonl

Row = dict[str, Any]
RECORDED = (".mp4", ".mkv", ".webm", ".mov", ".mp3", ".wav", ".m4a", ".vtt", ".srt", ".png", ".jpg", ".jpeg")


def read_passages(path: Path) -> list[Row]:
    """Read JSON Lines with `text` (ours, BEIR) or `contents` (FlashRAG), or the passage table of DPR."""
    if path.suffix == ".tsv":
        with path.open(encoding="utf-8", newline="") as file:
            return _table_of_dpr(csv.reader(file, delimiter="\t"))
    out: list[Row] = []
    for n, row in enumerate(read_jsonl(path), 1):
        title, _, text = str(row.get("contents", "")).partition("\n")
        key = row.get("id", row.get("_id", n))
        title, text = str(row.get("title") or title.strip('"') or key), str(row.get("text", text) or title)
        out.append({"id": str(key), "title": title, "text": text})
    return out


def _table_of_dpr(lines: Iterable[list[str]]) -> list[Row]:
    """Return the passages of a table with the columns id, text and title; a heading is left out."""
    out: list[Row] = []
    for key, text, title in lines:
        if key != "id":
            out.append({"id": key, "title": title, "text": text})
    return out


def qrels_of(folder: Path) -> dict[str, list[str]]:
    """Return the relevant passages by question of a BEIR folder, preferably of its test split."""
    found = sorted((folder / "qrels").glob("*.tsv"), key=lambda p: (p.stem != "test", p.name))
    out: dict[str, list[str]] = {}
    if not found:
        return out
    for line in found[0].read_text(encoding="utf-8").splitlines()[1:]:
        question, passage, grade = line.split("\t")
        if int(grade) > 0:
            out.setdefault(question, []).append(passage)
    return out


def recorded(folder: Path) -> list[Path]:
    """Return the recordings, subtitles and pictures of a folder, and of its `videos` and `images`."""
    out = []
    for place in (folder, folder / "videos", folder / "video", folder / "images"):
        if place != folder and not place.is_dir():
            continue
        for path in sorted(place.iterdir()):
            if path.suffix.lower() in RECORDED:
                out.append(path)
    return out


def _folders(raw: Sequence[Row], file: Path, *keys: str) -> list[Path]:
    """Return the folders of the files that UniversalRAG's rows name.

    The names are relative to a folder above the file of questions.
    """
    named: dict[str, None] = {}
    for row in raw:
        for key in keys:
            named.update(dict.fromkeys(row.get(key) or ()))
    folders: dict[Path, None] = {}
    for path in named:
        for above in file.parents:
            if (above / path).exists():
                folders[(above / path).parent] = None
                break
    return list(folders)


def texts(raw: Sequence[Row], file: Path) -> list[Row]:
    """Return all texts of the folders with the texts that UniversalRAG's rows name."""
    out = []
    for folder in _folders(raw, file, "gt_texts"):
        for path in sorted(folder.glob("*.txt")):
            text = path.read_text(encoding="utf-8")
            out.append({"id": path.name, "title": text.partition("\n")[0][:200] or path.stem, "text": text})
    return out


def named_files(raw: Sequence[Row], file: Path) -> list[Path]:
    """Return all files of the folders with the pictures and recordings that UniversalRAG's rows name."""
    out: list[Path] = []
    for folder in _folders(raw, file, "gt_images", "gt_videos"):
        out += recorded(folder)
    return out
