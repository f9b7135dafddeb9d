"""The text side of a picture: what was written about it, part by part, and how much each part counts.

The parts stand in the item's text one after the other; `meta["parts"]` says where. Weights were chosen by
`ragweave eval images` (docs/images.md).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragweave.corpora.types import Item
from ragweave.models.text import fold

_WORDS = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDING = re.compile(r"\.(?:png|jpe?g|webp|gif|tiff?|bmp)$", re.I)
_CAMERA = frozenset(
    "img image dsc dscn dscf pic picture photo screenshot screen shot scan figure fig untitled mg".split()
)

PARTS = ("caption", "alt", "seen", "words", "around")
"""In the order in which they stand: the caption, the text that stands in for the picture, what a vision model says,
the words in it, the text around it."""


def compose(parts: Mapping[str, str]) -> tuple[str, dict[str, list[int]]]:
    """Join the parts of a picture; one that an earlier part holds already is left out.

    Returns:
        The text, and [start, end) of each part in it.
    """
    kept, held = {}, ""
    for name in PARTS:
        part = parts.get(name, "").strip()
        plain = " ".join(fold(part).split())
        if not plain or plain in held:
            continue
        kept[name] = part
        held += f" {plain}"
    return _joined(kept)


def _joined(parts: Mapping[str, str]) -> tuple[str, dict[str, list[int]]]:
    text, ranges = "", {}
    for name in PARTS:
        if part := parts.get(name):
            # A blank line: a sentence must not run on from one part into the next.
            text += ("\n\n" if text else "") + part
            ranges[name] = [len(text) - len(part), len(text)]
    return text, ranges


def with_caption(item: Item, said: str, by: str) -> Item:
    """Return a picture with what a vision model says of it, in place of what one said before; boxes keep their words.

    The name of the model is kept in `meta["seen_by"]`.
    """
    before = _ranges(item)
    text, ranges = _joined({**{name: part(item, name) for name in before}, "seen": said})
    moved = ranges["words"][0] - before["words"][0] if "words" in before else 0
    spans = tuple(replace(s, start=s.start + moved, end=s.end + moved) for s in item.spans)
    return replace(item, text=text, spans=spans, meta={**item.meta, "parts": ranges, "seen_by": by})


def part(item: Item, name: str) -> str:
    """Return a part of an item's text, or ""."""
    start, end = _ranges(item).get(name, (0, 0))
    return item.text[start:end]


def described(item: Item) -> str:
    """Return what is said of a picture itself, without the text around it; "" for other items."""
    if not has_parts(item):
        return ""
    return "\n\n".join(filter(None, (part(item, name) for name in PARTS if name != "around")))


def has_parts(item: Item) -> bool:
    """Say whether an item is a picture whose text is made of parts, be it none."""
    return item.corpus == "image" and isinstance(item.meta.get("parts"), dict)


def columns(item: Item) -> tuple[str, str, str]:
    """Return what the lexical index takes for title, heading and text, which it weights in this order."""
    told = "\n".join(filter(None, (part(item, name) for name in ("caption", "alt", "seen"))))
    name = str(item.meta.get("name", ""))
    return (
        told,
        "\n".join((*item.heading, item.title, name)),
        "\n".join((part(item, "words"), part(item, "around"))),
    )


def chunk_ranges(item: Item, within: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return what is embedded on its own: what was written about the picture, the words in it, the text around it."""
    ranges = _ranges(item)
    groups = (("caption", "alt", "seen"), ("words",), ("around",))
    held = ([ranges[name] for name in group if name in ranges] for group in groups)
    spans = [(min(s for s, _ in some), max(e for _, e in some)) for some in held if some]
    found = [(max(a, start), min(b, end)) for start, end in spans for a, b in within if a < end and b > start]
    return found or [(0, 0)]  # of a picture without any text its name is embedded


def above(item: Item) -> tuple[str, ...]:
    """Return what every chunk of a picture is read with: the title and headings it stands under, and its name."""
    name = str(item.meta.get("name", ""))
    title = () if readable_name(item.title) == name else (item.title,)
    return (*title, *item.heading, name)


def readable_name(name: str) -> str:
    """Return the words of a file name that may say something: `OSC_Astro_01_Nebula.jpg` is `OSC Astro Nebula`."""
    words = _WORDS.findall(_CAMEL.sub(" ", _ENDING.sub("", name)))
    return " ".join(w for w in words if len(w) > 1 and w.lower() not in _CAMERA)


def _ranges(item: Item) -> dict[str, tuple[int, int]]:
    found = item.meta.get("parts")
    if not isinstance(found, dict):
        return {}
    return {str(name): (int(r[0]), int(r[1])) for name, r in found.items()}
