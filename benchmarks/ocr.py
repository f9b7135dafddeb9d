"""Measure text recognition of screenshots: `python benchmarks/ocr.py [--json OUT]`.

The program draws screens of 1280 x 800 with known words: menus and labels, a page of text, cards; light and
dark. It reads each with Ragweave's settings and with the recogniser's defaults, in turns; the picture of the
page in docs/img too. Words found are those of the truth, with their repetitions; of the picture, all words
that were read.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from printed import emit, options

DOCS = Path(__file__).resolve().parent.parent / "docs"
SIZE = (1280, 800)
COLOURS = (((255, 255, 255), (30, 30, 35)), ((24, 26, 31), (230, 230, 235)))


class Screen:
    """A picture with the words that were drawn on it."""

    def __init__(self, seed: int) -> None:
        text = (DOCS / "architecture.md").read_text(encoding="utf-8")
        self._words = re.findall(r"[A-Za-z][A-Za-z'-]*[.,;:]?|\d[\d,.]*\d", text)
        self._dice = random.Random(seed)
        ground, self._colour = COLOURS[seed % 2]
        self.image = Image.new("RGB", SIZE, ground)
        self._draw = ImageDraw.Draw(self.image)
        self.words: list[str] = []

    def line(self, x: int, y: int, size: int, width: int, most: int = 30) -> None:
        """Draw neighbouring words of the docs until the width is full."""
        font, at = ImageFont.load_default(size), self._dice.randrange(len(self._words) - most)
        some = self._words[at : at + self._dice.randint(1, most)] if most < 4 else self._words[at : at + most]
        while len(some) > 1 and self._draw.textlength(" ".join(some), font=font) > width:
            some.pop()
        self._draw.text((x, y), " ".join(some), font=font, fill=self._colour)
        self.words += some


def labels(seed: int) -> Screen:
    """Return a screen of buttons, menus and cells."""
    screen = Screen(seed)
    for n in range(24 * 7):
        screen.line(20 + n % 7 * 180, 16 + n // 7 * 32, (11, 12, 13, 14, 16)[n % 5], 165, 2)
    return screen


def page(seed: int) -> Screen:
    """Return a screen with a menu, a column of text and cards."""
    screen = Screen(seed)
    screen.line(260, 20, 28, 700, 8)
    for n in range(18):
        screen.line(18, 60 + n * 40, 13, 190, 3)
        screen.line(260, 80 + n * 38, 15, 640)
    for n in range(9):
        screen.line(942, 80 + n * 76, 14, 300, 5)
        screen.line(942, 100 + n * 76, 12, 300, 3)
    return screen


def main() -> None:
    """Read all screens and print words and CPU seconds."""
    from rapidocr import RapidOCR

    from ragweave.models.ocr import SURE, Ocr

    given = options(__doc__).parse_args()
    threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    defaults, own = RapidOCR(params={"Global.log_level": "critical", **threads}), Ocr()

    def by_defaults(pixels: np.ndarray) -> list[str]:
        read = defaults(np.ascontiguousarray(pixels[:, :, ::-1]))
        return [text for text, score in zip(read.txts or (), read.scores or (), strict=True) if score >= SURE]

    ways = {"defaults": by_defaults, "Ragweave": lambda pixels: [line.text for line in own.lines(pixels)]}
    shown = Image.open(DOCS / "img" / "page-steps.png").convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
    screens = {"labels 0": labels(0), "labels 1": labels(1), "page 0": page(0), "page 1": page(1)}
    pictures: dict[str, tuple[np.ndarray, list[str]]] = {}
    for name, screen in screens.items():
        pictures[name] = (np.asarray(screen.image), screen.words)
    figures: dict[str, float | int] = {}
    for way in ways.values():
        way(pictures["labels 0"][0][:64])
    for name, (pixels, words) in {**pictures, "docs/img/page-steps.png": (np.asarray(shown), [])}.items():
        if words:
            figures[f"{name}: words"] = len(words)
        for by, way in ways.items():
            began = sum(os.times()[:2])
            read = Counter(" ".join(way(pixels)).split())
            figures[f"{name}: {by}, s"] = sum(os.times()[:2]) - began
            figures[f"{name}: {by}, words"] = (read & Counter(words) if words else read).total()
    emit(figures, given.json)


if __name__ == "__main__":
    main()
