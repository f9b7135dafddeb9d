"""Two hours of recordings with an entity graph and captions, both from kept replies of a played model.

Six lectures are films of slides with their narration as subtitles; two episodes of a podcast are transcripts
alone, so that there is more to search. OCR is off, so that what is seen comes from captions alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from ragweave.corpora.ingest.run import Models, index
from ragweave.corpora.knowledge.facts import Extractor, Found
from ragweave.corpora.knowledge.records import read_records
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.library import Library, open_library
from ragweave.evals.claims.common import lookup, read_rows
from ragweave.evals.claims.lectures import PACE, subtitles, write
from ragweave.evals.data import read_jsonl
from ragweave.models.caption import Captioner
from ragweave.models.errors import InputError
from ragweave.models.settings import model_settings

EPISODES = ("practical-ai-139", "practical-ai-141")
"""The two shortest episodes."""
REPLIES = "video_rag_replies"


def key_of(kind: str, text: str) -> str:
    """Return the key of what a model reads."""
    return hashlib.sha256(f"{kind}\0{' '.join(text.split())}".encode()).hexdigest()[:16]


class KeptIndexing:
    """Kept replies by key; what has none is noted in a folder, with its pictures."""

    def __init__(self, replies: Mapping[str, str], missing: Path) -> None:
        self.replies, self.missing = replies, missing

    def reply(self, kind: str, text: str, images: Sequence[bytes] = ()) -> str | None:
        """Return the reply to a text, or None."""
        key = key_of(kind, text)
        if key in self.replies:
            return self.replies[key]
        self.missing.mkdir(parents=True, exist_ok=True)
        row = json.dumps({"key": key, "kind": kind, "text": text}, ensure_ascii=False)
        (self.missing / f"{key}.json").write_text(row, encoding="utf-8")
        for n, image in enumerate(images):
            (self.missing / f"{key}-{n}.jpg").write_bytes(image)
        return None

    def models(self, frames: bool) -> Models:
        """Return what indexing asks; without `frames` no model describes any."""

        async def caption(images: Sequence[bytes], context: str, language: str) -> str | None:
            return self.reply("caption", context, images)

        async def check() -> None:
            return None

        async def entities(text: str) -> Found:
            return read_records(self.reply("entities", text) or "")

        async def same(pairs: Sequence[tuple[str, str]]) -> set[int]:
            shown = ["\n".join(pair) for pair in pairs]
            reply = self.reply("same", "\n\n".join(shown))
            return set(json.loads(reply)) if reply else set()

        captioner = Captioner("kept replies", caption, check) if frames else None
        return Models(captioner, Extractor("kept replies", entities, same))


def _write_podcast(data: Path, folder: Path) -> None:
    rows = read_jsonl(data / "transcripts_practicalai/segments.jsonl", ["episode", "text"])
    for episode in EPISODES:
        at = 0.0
        cues = []
        for row in rows:
            if row["episode"] == episode:
                words = row["text"].split()
                end = at + max(1.0, len(words) / PACE)
                cues.append((at, end, " ".join(words)))
                at = end
        subtitles(cues, folder / f"{episode}.vtt")


def write_recordings(data: Path, folder: Path) -> None:
    """Write the films of the lectures and the transcripts of the podcast into a folder."""
    write(data / "slide_lectures_swc", folder)
    _write_podcast(data, folder)


async def prepared(data: Path, work: Path, frames: bool) -> Library:
    """Index the recordings once, with the kept entities and, with `frames`, the kept captions.

    Raises:
        InputError: replies are missing; they are listed in the work folder.
    """
    rows = read_rows(REPLIES)
    kept = KeptIndexing(lookup(rows, "key", "reply"), work / "missing")
    read = []
    for row in rows:
        if row["kind"] in ("caption", "entities"):
            read.append(row)
    digest = hashlib.sha256(json.dumps(read).encode()).hexdigest()[:10]
    name = f"recordings-{'frames' if frames else 'heard'}-{digest}"
    folder = work / "recordings"
    os.environ["RAGWEAVE_OCR"], os.environ["RAGWEAVE_ENTITIES"] = "off", "llm"
    model_settings.cache_clear()
    corpora_settings.cache_clear()
    if not (work / "recordings.done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        write_recordings(data, folder)
        (work / "recordings.done").touch()
    await index([folder], name, models=kept.models(frames))
    if kept.missing.exists() and any(kept.missing.glob("*.json")):
        raise InputError(
            f"replies are missing for what lies in {kept.missing}", f"add them to {REPLIES}.jsonl"
        )
    return await open_library(name)
