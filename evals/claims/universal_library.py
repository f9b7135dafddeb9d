"""A library of text, pictures, slides and recordings, in which documents are long and subjects are shared.

Everything is public data. Sections of a textbook and articles of an encyclopedia are indexed whole as
documents, and in parts as paragraphs. Pictures of the same textbook are indexed by title and caption, slides
by the words that OCR reads on them. Their lectures, and podcasts, are indexed by their speech: whole as
videos, and minute by minute as clips.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from ragweave.evals.data import read_jsonl
from ragweave.evals.mixed_data import library_rows
from ragweave.models.errors import MissingExtra

Row = dict[str, Any]
SLIDES = 100
"""Slides of the library: those whose paths have the lowest SHA-256."""
WORDS = 60
"""Words from which a block of a section is a paragraph of its own."""
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def paragraphs_of(section: str) -> list[str]:
    """Return the paragraphs of a section in Markdown, without headings, pictures, tables and short blocks."""
    found = []
    for block in re.split(r"\n\s*\n", section):
        block = block.strip()
        if block.startswith(("#", "!", "|", ">", "```")):
            continue
        words = _LINK.sub(r"\1", block).split()
        if len(words) >= WORDS:
            found.append(" ".join(words))
    return found


def _sections(data: Path) -> list[Row]:
    rows: list[Row] = []
    for path in sorted((data / "docs_astronomy").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        title = text.partition("\n")[0].strip("# ")
        rows.append({"kind": "document", "id": f"d {path.stem}", "title": title, "text": text})
        for n, paragraph in enumerate(paragraphs_of(text)):
            rows.append({"kind": "paragraph", "id": f"p {path.stem}#{n}", "title": title, "text": paragraph})
    return rows


def _articles(paragraphs: list[Row]) -> list[Row]:
    """Return whole articles, made of their paragraphs."""
    texts: dict[str, list[str]] = defaultdict(list)
    for row in paragraphs:
        texts[row["title"]].append(row["text"])
    out = []
    for title, parts in texts.items():
        name = title.replace(" ", "_")
        out.append({"kind": "document", "id": f"d {name}", "title": title, "text": "\n\n".join(parts)})
    return out


def _slides(data: Path, words: dict[str, str]) -> list[Row]:
    rows: list[Row] = []
    for image, text in words.items():
        lecture = image.split("/")[1].replace("_", " ")
        if text.strip():
            row = {"kind": "image", "id": image, "title": f"slide of {lecture}", "caption": text}
            rows.append({**row, "file": image})
    return rows


def chosen_slides(data: Path) -> list[str]:
    """Return the slides of the library."""
    rows = read_jsonl(data / "slide_lectures_swc/slides.jsonl", ["image"])
    paths = [str(row["image"]) for row in rows]
    return sorted(paths, key=lambda path: hashlib.sha256(path.encode()).hexdigest())[:SLIDES]


def _read(data: Path, images: list[str]) -> dict[str, str]:
    import numpy as np
    from PIL import Image

    from ragweave.models.ocr import ocr

    engine = ocr()
    if engine is None:
        raise MissingExtra("reading the words on slides", "images")
    out = {}
    for image in images:
        with Image.open(data / "slide_lectures_swc" / image) as opened:
            pixels = np.asarray(opened.convert("RGB"))
        lines = [line.text for line in engine.lines(pixels)]
        out[image] = " ".join(lines)
    return out


async def slide_words(data: Path, work: Path) -> dict[str, str]:
    """Return the words on the slides; OCR takes a minute or two, so that they are kept in the work folder.

    Raises:
        MissingExtra: no OCR is installed.
    """
    kept = work / "slides.json"
    if kept.exists():
        return dict(json.loads(kept.read_text(encoding="utf-8")))
    words = await asyncio.to_thread(_read, data, chosen_slides(data))
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")
    return words


async def rows_of(data: Path, work: Path) -> list[Row]:
    """Return the rows of the item list (docs/formats.md)."""
    rows = []
    paragraphs = []
    for row in library_rows(data):
        if row["kind"] != "document":
            rows.append(row)
        if row["kind"] == "paragraph":
            paragraphs.append(row)
    return [*rows, *_articles(paragraphs), *_sections(data), *_slides(data, await slide_words(data, work))]


def source_of(key: str) -> str:
    """Return what an item is a part of: the article or section, the picture, the recording."""
    if key.startswith(("p ", "d ")):
        return key[2:].partition("#")[0]
    return key if "/" in key or key.startswith("OSC_") else key.partition(" ")[0]
