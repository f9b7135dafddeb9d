"""Compose the text of a picture from parts: caption, alternative text, words in it, text around it.

An item's text is the parts one after the other; `meta["parts"]` has their positions. `ragweave eval images`
chose the weights (docs/images.md).
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
"""The parts in their order: caption, alternative text, a vision model's caption, words, text around it."""


def compose(parts: Mapping[str, str]) -> tuple[str, dict[str, list[int]]]:
    """Join the parts of a picture; a part that an earlier part contains is left out.

    Returns:
        The text, and [start, end) of each part in it.
    """
    kept: dict[str, str] = {}
    written = ""
    for name in PARTS:
        part = parts.get(name, "").strip()
        plain = " ".join(fold(part).split())
        if not plain or plain in written:
            continue
        kept[name] = part
        written += f" {plain}"
    return _joined(kept)


def _joined(parts: Mapping[str, str]) -> tuple[str, dict[str, list[int]]]:
    """Join parts, and return the text and [start, end) of each part in it."""
    text = ""
    ranges: dict[str, list[int]] = {}
    for name in PARTS:
        part = parts.get(name)
        if part:
            # A blank line: a sentence must not run on from one part into the next.
            text += ("\n\n" if text else "") + part
            ranges[name] = [len(text) - len(part), len(text)]
    return text, ranges


def with_caption(item: Item, said: str, by: str) -> Item:
    """Return a picture with a new caption `said` by the vision model `by`; boxes keep their words.

    `meta["seen_by"]` has the name of the model.
    """
    before = _ranges(item)
    texts = {name: part(item, name) for name in before}
    text, ranges = _joined({**texts, "seen": said})
    moved = ranges["words"][0] - before["words"][0] if "words" in before else 0
    spans = [replace(span, start=span.start + moved, end=span.end + moved) for span in item.spans]
    return replace(item, text=text, spans=tuple(spans), meta={**item.meta, "parts": ranges, "seen_by": by})


def part(item: Item, name: str) -> str:
    """Return a part of an item's text, or ""."""
    start, end = _ranges(item).get(name, (0, 0))
    return item.text[start:end]


def described(item: Item) -> str:
    """Return the text about a picture itself, without the text around it; "" for other items."""
    if not has_parts(item):
        return ""
    return "\n\n".join(_texts(item, "caption", "alt", "seen", "words"))


def _texts(item: Item, *names: str) -> list[str]:
    """Return the texts of some parts, without empty ones."""
    texts = [part(item, name) for name in names]
    return list(filter(None, texts))


def has_parts(item: Item) -> bool:
    """Return whether an item is a picture with a text of parts, even if it has no part."""
    return item.corpus == "image" and isinstance(item.meta.get("parts"), dict)


def columns(item: Item) -> tuple[str, str, str]:
    """Return the lexical index's title, heading and text of a picture, which it weights in this order."""
    name = str(item.meta.get("name", ""))
    return (
        "\n".join(_texts(item, "caption", "alt", "seen")),
        "\n".join((*item.heading, item.title, name)),
        "\n".join((part(item, "words"), part(item, "around"))),
    )


def chunk_ranges(item: Item, within: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges to embed one by one: text about the picture, words in it, text around it."""
    ranges = _ranges(item)
    found: list[tuple[int, int]] = []
    for group in (("caption", "alt", "seen"), ("words",), ("around",)):
        own = [ranges[name] for name in group if name in ranges]
        if own:
            found += _overlaps(min(own)[0], max(end for _, end in own), within)
    return found or [(0, 0)]  # of a picture without text, the index embeds the name


def _overlaps(start: int, end: int, within: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the parts of ranges that lie in [start, end)."""
    found: list[tuple[int, int]] = []
    for low, high in within:
        if low < end and high > start:
            found.append((max(low, start), min(high, end)))
    return found


def above(item: Item) -> tuple[str, ...]:
    """Return the context of every chunk of a picture: its title, headings and name."""
    name = str(item.meta.get("name", ""))
    title = () if readable_name(item.title) == name else (item.title,)
    return (*title, *item.heading, name)


def readable_name(name: str) -> str:
    """Return the meaningful words of a file name: `OSC_Astro_01_Nebula.jpg` is `OSC Astro Nebula`."""
    kept: list[str] = []
    for word in _WORDS.findall(_CAMEL.sub(" ", _ENDING.sub("", name))):
        if len(word) > 1 and word.lower() not in _CAMERA:
            kept.append(word)
    return " ".join(kept)


def _ranges(item: Item) -> dict[str, tuple[int, int]]:
    """Return [start, end) of each part of a picture's text."""
    stored = item.meta.get("parts")
    found: dict[str, tuple[int, int]] = {}
    if isinstance(stored, dict):
        for name, bounds in stored.items():
            found[str(name)] = int(bounds[0]), int(bounds[1])
    return found
