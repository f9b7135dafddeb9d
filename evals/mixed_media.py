"""The mixed library with media: pictures and transcripts go through indexing, in place of rows that describe them.

Pictures stand in the book they are from, with title and caption; their alternative text stays out, because the
questions were written from it. The text of the book stands beside them. Recordings with times become transcript files,
which Ragweave cuts into clips itself; those without any stay rows of the list, like paragraphs and documents.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragweave.corpora.store.library import Library
from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import CORPORA, Item
from ragweave.corpora.video.cues import read_transcript
from ragweave.evals.data import read_jsonl
from ragweave.evals.images import astronomy, indexed, name_of
from ragweave.evals.mixed_data import Asked, Row, library_rows, questions
from ragweave.models.errors import InputError, MissingExtra
from ragweave.models.ocr import installed

Turn = tuple[str, float, float]
"""Id of a turn, its start and its end in seconds."""


@dataclass(frozen=True)
class Media:
    """A folder to be indexed, and what is asked of it.

    Attributes:
        folder: files.
        name: of the library: another one where the files are others.
        asked: questions; gold are ids of rows, names of pictures and recordings, and turns as `recording:turn`.
        turns: when each turn of a recording with times is said.
    """

    folder: Path
    name: str
    asked: list[Asked]
    turns: Mapping[str, Sequence[Turn]]

    def names(self, item: Item) -> list[str]:
        """Return what an item is called in gold: a clip by the turns that share half of the shorter's time with it."""
        if "key" in item.meta:
            return [str(item.meta["key"])]
        if item.corpus == "image":
            return [name_of(item)]
        recording = Path(str(item.locator.get("file", ""))).stem
        if item.corpus == "video":
            return [recording]
        start, end = item.locator.get("start", 0.0), item.locator.get("end", 0.0)
        return [
            f"{recording}:{turn}"
            for turn, begins, ends in self.turns.get(recording, ())
            if min(end, ends) - max(start, begins) >= min(end - start, ends - begins) / 2
        ]


def media(data: Path, work: Path) -> Media:
    """Write the files of the mixed library into a folder.

    Raises:
        MissingExtra: pictures cannot be read.
    """
    if not installed():
        raise MissingExtra("`--media` reads pictures, which", "images")
    folder = work / "mixed-media"
    book, _ = astronomy(data, folder, alt=(), caption=("title", "caption"))
    told = hashlib.sha256()
    for path in sorted(p for p in book.rglob("*") if p.is_file()):
        told.update(path.name.encode() + path.read_bytes())
    timed = _timed(data)
    turns: dict[str, list[Turn]] = {}
    for name, rows in timed.items():
        path = folder / "recordings" / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text(_lines(rows), encoding="utf-8")
        told.update(path.read_bytes())
        # The turns as indexing places them; rows without words are none there.
        cues = read_transcript(path)[0].cues
        spoken = [r["turn"] for r in rows if r["text"].strip()]
        turns[name] = [(turn, c.start, c.end) for turn, c in zip(spoken, cues, strict=True)]
    gone = {f"recordings/{name}.mp4" for name in timed}
    rest = [r for r in library_rows(data) if r["kind"] != "image" and r.get("file") not in gone]
    (folder / "items.jsonl").write_text(_lines(rest), encoding="utf-8")
    told.update(_lines(rest).encode())
    return Media(folder, f"mixed-media-{told.hexdigest()[:10]}", questions(data, timed), turns)


def _timed(data: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each recording of which the data say a time."""
    out: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for s in read_jsonl(data / "transcripts_practicalai/segments.jsonl", ["episode", "text"]):
        rows = out[str(s["episode"])]
        rows.append({"turn": str(len(rows)), "t": s.get("t"), "speaker": s.get("speaker") or "", "text": s["text"]})
    for s in read_jsonl(data / "slide_lectures_swc/slides.jsonl", ["lecture", "n", "narration"]):
        times = {"start": s.get("start_est"), "end": s.get("end_est")}
        out[str(s["lecture"])].append({"turn": str(s["n"]), **times, "text": s["narration"] or ""})
    return {
        name: [{"episode": name.replace("_", " ").replace("-", " "), **row} for row in rows]
        for name, rows in out.items()
        if any(row.get("t", row.get("start")) is not None for row in rows)
    }


def _lines(rows: Sequence[Row]) -> str:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


async def prepare(made: Media) -> tuple[Library, dict[str, list[str]]]:
    """Index what has changed since the last run; return the library, and what each item is called in gold.

    Raises:
        InputError: what is asked for is not in the library, so that figures over it would be wrong.
    """
    library = await indexed(made.folder, made.name)
    names = {i.id: made.names(i) for c in CORPORA for page in stores().catalog.pages(library.id, c) for i in page}
    held = {name for each in names.values() for name in each}
    lost = sorted({g for q in made.asked for g in q.gold} - held)
    if lost:
        why = [s.reason for s in await library.sources() if s.status != "ok"]
        raise InputError(
            f"{len(lost)} of the items asked for were not indexed, {lost[0]!r} among them"
            + (f" ({why[0]})" if why else ""),
            f"mend the data, or delete {made.folder} and try again",
        )
    return library, names
