"""A stored picture with the cited part framed, and as a preview on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ragweave.corpora.types import Item, Locator
    from ragweave.models.pictures import Pixels

_WIDEST = 100
"""Columns of a preview."""
_FRAME = (230, 30, 30)


def show_picture(out: Console, library: str, locator: Locator) -> None:
    """Say where the picture of a place lies, and show it as coloured blocks where the terminal has all colours.

    Args:
        out: the terminal.
        library: id of the library.
        locator: the place.

    Raises:
        LibraryError: the picture is not there.
    """
    from ragweave.corpora.store.media import Media
    from ragweave.models.ocr import installed

    path = Media.of(library).path(locator["image"])
    if out.is_terminal and out.color_system == "truecolor" and installed():
        from ragweave.models.pictures import load

        pixels, box = load(path.read_bytes()), boxed(locator)
        out.print()
        out.print(blocks(framed(pixels, box) if box else pixels, min(out.width - 1, _WIDEST)))
    out.print(f"\npicture: {path}", style="dim", soft_wrap=True)


def told_of(item: Item) -> list[tuple[str, str]]:
    """Return what is written about a picture, part by part, each with a name for it."""
    from ragweave.corpora.parts import PARTS, has_parts, part

    if not has_parts(item):
        return [("", item.text)]
    names = {
        "caption": "Caption",
        "alt": "Stands for it",
        "seen": f"Seen by {item.meta.get('seen_by', '')}",
        "words": "Words in it",
        "around": "Text around it",
    }
    return [(names[p], text) for p in PARTS if (text := part(item, p))] or [("", "Nothing is written about it.")]


def boxed(locator: Locator) -> list[float] | None:
    """Return the box of a place inside its stored picture, in pixels; that of a page is in points of the page."""
    return locator.get("bbox") if locator.get("kind") == "image" else None


def framed(pixels: Pixels, box: list[float]) -> Pixels:
    """Return a picture with a frame around [x0, y0, x1, y1], in pixels."""
    import numpy as np
    from PIL import Image, ImageDraw

    image = Image.fromarray(pixels)
    width = max(2, round(max(image.size) / 250))
    x0, y0, x1, y1 = box
    ImageDraw.Draw(image).rectangle((x0 - width, y0 - width, x1 + width, y1 + width), outline=_FRAME, width=width)
    return np.asarray(image)


def blocks(pixels: Pixels, columns: int) -> Text:
    """Return a picture as half blocks, two pixels to a character."""
    import numpy as np
    from PIL import Image
    from rich.text import Text

    image = Image.fromarray(pixels)
    rows = max(2, round(image.height * columns / image.width / 2) * 2)
    values = np.asarray(image.resize((columns, rows), Image.Resampling.LANCZOS))
    text = Text(no_wrap=True)
    for y in range(0, rows, 2):
        for x in range(columns):
            upper, lower = (",".join(map(str, values[row, x])) for row in (y, y + 1))
            text.append("▀", style=f"rgb({upper}) on rgb({lower})")
        text.append("\n")
    return text
