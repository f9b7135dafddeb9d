"""What `ragweave doctor` says of pictures: whether their words are read, whether they are seen, and by whom."""

from __future__ import annotations

import asyncio
from typing import Literal

State = Literal["ok", "off", "warn"]
Row = tuple[State, str, str]
"""State, what was found, and what to do about it."""


async def rows() -> list[Row]:
    """Return one row for reading and one for seeing.

    Raises:
        RagweaveError: the image encoder that is set cannot be used.
    """
    return [_reading(), await _seeing()]


def _reading() -> Row:
    from ragweave.models.ocr import installed
    from ragweave.models.settings import model_settings

    if not installed():
        what = "pictures and scans are not read; captions and alternative texts in documents are"
        return "off", what, 'pip install "ragweave[images]"'
    if model_settings().ocr == "off":
        return "off", "pictures are kept, and the words in them are not read", "unset RAGWEAVE_OCR"
    return "ok", "the words in pictures and on scanned pages are read (rapidocr)", ""


async def _seeing() -> Row:
    from ragweave.models.image_text import image_encoder
    from ragweave.models.settings import model_settings

    encoder = await asyncio.to_thread(image_encoder)
    settings = model_settings()
    looks = f"; {settings.vision or settings.chat} is shown them" if settings.vision or settings.chat else ""
    looks += ", and describes them at indexing" if settings.vision else ""
    if encoder is None:
        what = f"pictures are found by what is written about them and in them{looks}"
        return "off", what, "RAGWEAVE_IMAGE_TEXT names an image-text encoder that finds them by what they show"
    return "ok", f"pictures are seen by {encoder.name}, vectors of {encoder.dim} numbers{looks}", ""
