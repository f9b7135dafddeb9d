"""The figures of docs/images.md, computed in one run; what was read is kept for the next one."""

from __future__ import annotations

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
from ragweave.minds.context import Context

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
    """Compare the words that are read on slides with those written down by eye."""
    from ragweave.models.ocr import RapidOcr
    from ragweave.models.pictures import load

    eyes, engine = transcribed(), RapidOcr()
    pictures = (load((data / "slide_lectures_swc" / name).read_bytes()) for name in eyes)
    texts = ["\n".join(line.text for line in engine.lines(picture)) for picture in pictures]
    recall, words = word_recall(zip(eyes.values(), texts, strict=True))
    tell("words read", {"ocr_word_recall": round(recall, 4), "ocr_words": words, "ocr_slides": len(eyes)})
