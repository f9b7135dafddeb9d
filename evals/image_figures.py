"""The figures of docs/images.md, computed in one run; what was read is kept for the next one."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.stores import stores
from ragweave.evals.images import (
    around,
    astronomy,
    indexed,
    measure,
    names_in,
    rewritten,
    slides,
    transcribed,
    without,
    word_recall,
)
from ragweave.minds.context import Context
from ragweave.models.errors import ModelError

Figures = dict[str, float]
Tell = Callable[[str, Figures], None]
SOURCES = ("alt", "caption", "words", "around", "name", "heading")
"""Text sources that are switched off in turn; of these pictures the caption slot holds the title."""
PICTURES = 100
"""Pictures of each of two sets whose indexing is timed."""
SCANS = (10, 50)
"""Pages of the scans whose memory is measured."""


async def book(data: Path, work: Path, context: Context, tell: Tell) -> None:
    """Ask for the pictures of the book by their captions: with every text source, and with each switched off."""
    folder, asked = astronomy(data, work)
    base = await indexed(folder, "images-astronomy")
    names = await names_in(base)
    plain = context.model_copy(update={"rerank": False})
    tell("astronomy", (await measure(base, asked, names, context)).flat("astronomy"))
    tell("astronomy, without reranking", (await measure(base, asked, names, plain)).flat("astronomy_fused"))
    # Libraries of pictures alone weigh rare words otherwise: what is switched off is compared with one of these.
    alone = await rewritten(base, "images-astronomy-alone", without())
    tell("astronomy, the pictures alone", (await measure(alone, asked, names, context)).flat("astronomy_alone"))
    for source in SOURCES:
        library = await rewritten(base, f"images-astronomy-without-{source}", without(source))
        figures = (await measure(library, asked, names, context)).flat(f"astronomy_without_{source}")
        tell(f"astronomy, without {source}", figures)
    only = await rewritten(base, "images-astronomy-words", without(*(s for s in SOURCES if s != "words")))
    tell("astronomy, words in the picture alone", (await measure(only, asked, names, context)).flat("astronomy_words"))


async def lectures(data: Path, work: Path, context: Context, tell: Tell) -> None:
    """Ask for slides by what was said to them: by their words, and with what was said around them."""
    folder, asked, said = slides(data, work)
    base = await indexed(folder, "images-slides")
    names = await names_in(base)
    tell("slides, by OCR", (await measure(base, asked, names, context)).flat("slides_ocr"))
    beside = await rewritten(base, "images-slides-beside", around(said, own=False))
    figures = (await measure(beside, asked, names, context)).flat("slides_ocr_beside")
    tell("slides, by OCR and what was said to the slides beside", figures)
    own = await rewritten(base, "images-slides-said", around(said, own=True))
    figures = (await measure(own, asked, names, context)).flat("slides_ocr_said")
    tell("slides, by OCR and what was said to them (the queries themselves)", figures)


def reading(data: Path, tell: Tell) -> None:
    """Compare the words that are read on slides with those written down by eye, and measure what reading costs.

    It happens in a process of its own: seconds of one core for a picture, and the peak of its memory.
    """
    eyes = transcribed()
    files = [data / "slide_lectures_swc" / name for name in eyes]
    told = _apart("read", *files)
    recall, words = word_recall(zip(eyes.values(), told.pop("texts"), strict=True))
    tell("words read", {"ocr_word_recall": round(recall, 4), "ocr_words": words, "ocr_slides": len(eyes)})
    tell("cost of reading", told)


def pace(data: Path, work: Path, tell: Tell) -> None:
    """Index pictures of both sets, scans of two lengths, and a bomb, each from nothing in a process of its own."""
    folder = work / "pace"
    shutil.rmtree(folder, ignore_errors=True)
    photos = sorted((data / "images_astronomy" / "images").iterdir())[:PICTURES]
    shown = sorted((data / "slide_lectures_swc" / "slides").rglob("*.png"))[:PICTURES]
    for n, path in enumerate((*photos, *shown)):
        target = folder / "pictures" / f"{n:03}{path.suffix}"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    told = _apart("index", folder / "pictures", folder / "home")
    told["pictures_per_minute"] = round(60 * told["pictures"] / told["pictures_seconds"], 1)
    tell("pictures, indexed from nothing by two reading processes", told)
    for pages in SCANS:
        scan = folder / f"scan{pages}" / "scan.pdf"
        scan.parent.mkdir()
        _scan([photos[n % len(photos)] for n in range(pages)], scan)
        told = _apart("index", scan.parent, folder / f"home{pages}")
        figures = {f"scan_{pages}_seconds": told["pictures_seconds"], f"scan_{pages}_peak_mb": told["reading_peak_mb"]}
        tell(f"a scan of {pages} pages", figures)

    bomb = folder / "bomb" / "bomb.png"
    bomb.parent.mkdir()
    bomb.write_bytes(_bomb(50_000))
    told = _apart("index", bomb.parent, folder / "homebomb")
    tell("a picture of 50,000 x 50,000 pixels", {"bomb_peak_mb": told["reading_peak_mb"]})


def _bomb(side: int) -> bytes:
    """Return a PNG that would take 3 x side x side bytes."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes(3 * side + 1) * 100)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def _scan(pictures: Sequence[Path], target: Path) -> None:
    from PIL import Image

    pages = []
    for path in pictures:
        page = Image.new("RGB", (1_240, 1_754), "white")
        with Image.open(path) as image:
            image.draft("RGB", (1_000, 1_000))
            small = image.convert("RGB")
        small.thumbnail((1_000, 1_500))
        page.paste(small, (120, 120))
        pages.append(page)
    pages[0].save(target, save_all=True, append_images=pages[1:], resolution=150)


def _apart(what: str, *given: Path) -> dict[str, Any]:
    """Do one thing in a process of its own, which says what it took."""
    command = [sys.executable, "-m", "ragweave.evals.image_figures", what, *map(str, given)]
    settings = {
        "RAGWEAVE_PARSE_WORKERS": "2",
        "RAGWEAVE_OCR": "rapidocr",
        "RAGWEAVE_IMAGE_TEXT": "",
        "RAGWEAVE_VISION": "",
    }
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | settings)
    if done.returncode:
        raise ModelError(f"the measurement {what!r} failed: {done.stderr.strip()[-300:]}", "run it again")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _read(files: Sequence[str]) -> dict[str, Any]:
    """Read pictures one after the other; return their words and what it took."""
    from ragweave.models.ocr import RapidOcr
    from ragweave.models.pictures import load

    pictures = [load(Path(f).read_bytes()) for f in files]
    engine = RapidOcr()
    engine.lines(pictures[0])
    began, wall = time.process_time(), time.monotonic()
    texts = ["\n".join(line.text for line in engine.lines(picture)) for picture in pictures]
    spent, wall = (time.process_time() - began) / len(files), (time.monotonic() - wall) / len(files)
    figures = {"ocr_cpu_seconds": round(spent, 3), "ocr_seconds": round(wall, 3)}
    return {"texts": texts, **figures, "ocr_peak_mb": _peak(resource.RUSAGE_SELF)}


def _index(folder: str, home: str) -> dict[str, Any]:
    """Index a folder into a new library; return the pictures in it and what it took."""
    from ragweave.corpora.store.library import close_all
    from ragweave.evals.corpus import use_home

    shutil.rmtree(home, ignore_errors=True)
    use_home(Path(home))
    report = asyncio.run(index([Path(folder)]))
    count = stores().catalog.counts(stores().catalog.library("default").id).get("image", 0)
    close_all()
    # The reading processes have ended: the largest of them is the peak of all children.
    peaks = {"reading_peak_mb": _peak(resource.RUSAGE_CHILDREN), "index_peak_mb": _peak(resource.RUSAGE_SELF)}
    return {"pictures": count, "pictures_seconds": round(report.seconds, 1), **peaks}


def _peak(who: int) -> int:
    return round(resource.getrusage(who).ru_maxrss / 1024)


def main(what: str, *given: str) -> None:
    """Measure `read FILES` or `index FOLDER HOME`, and write what it took as JSON."""
    sys.stdout.write(json.dumps(_read(given) if what == "read" else _index(*given)))


if __name__ == "__main__":
    main(*sys.argv[1:])
