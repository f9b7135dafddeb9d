"""The figures of docs/images.md, computed in one run; what was read is kept for the next one."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

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
from ragweave.nodes.context import Context

Figures = dict[str, float]
Tell = Callable[[str, Figures], None]
SOURCES = ("alt", "caption", "words", "around", "name", "heading")
"""Text sources that are switched off in turn; of these pictures the caption slot holds the title."""


async def book(data: Path, work: Path, context: Context, tell: Tell) -> None:
    """Ask for the pictures of the book by their captions: with every text source, and with each switched off."""
    folder, asked = astronomy(data, work)
    base = await indexed(folder, "images-astronomy")
    names = await names_in(base)
    plain = context.model_copy(update={"rerank": False})
    tell("astronomy", (await measure(base, asked, names, context)).flat("astronomy"))
    tell("astronomy, without reranking", (await measure(base, asked, names, plain)).flat("astronomy_fused"))
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
    command = [sys.executable, "-m", "ragweave.evals.image_figures", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    recall, words = word_recall(zip(eyes.values(), told.pop("texts"), strict=True))
    tell("words read", {"ocr_word_recall": round(recall, 4), "ocr_words": words, "ocr_slides": len(eyes)})
    tell("cost of reading", told)


def main(files: list[str]) -> None:
    """Read pictures, and write their words and what it took as JSON."""
    from ragweave.models.pictures import load
    from ragweave.models.read import RapidOcr

    pictures = [load(Path(f).read_bytes()) for f in files]
    engine = RapidOcr()
    engine.lines(pictures[0])
    began, wall = time.process_time(), time.monotonic()
    texts = ["\n".join(line.text for line in engine.lines(picture)) for picture in pictures]
    spent, wall = (time.process_time() - began) / len(files), (time.monotonic() - wall) / len(files)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = {"ocr_cpu_seconds": round(spent, 3), "ocr_seconds": round(wall, 3), "ocr_peak_mb": round(peak)}
    sys.stdout.write(json.dumps({"texts": texts, **figures}))


if __name__ == "__main__":
    main(sys.argv[1:])
