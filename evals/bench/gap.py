"""The modality gap (UniversalRAG, figure 2): where an encoder of pictures and texts puts what one library holds."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from ragweave.corpora.store.blobs import item_of, visual_space
from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Corpus
from ragweave.evals.bench.show import NONE, Grid
from ragweave.models.encoders import normalise
from ragweave.models.errors import InputError
from ragweave.models.image_text import image_encoder
from ragweave.models.text import clip

Rows = NDArray[np.float32]
QUESTIONS = "questions"
MOST = 300
"""Items of a corpus that are compared, evenly drawn."""
_TEXT = 300
"""Characters of a text that such encoders read, about."""
_COLOURS = {QUESTIONS: "#222", "paragraph": "#1f77b4", "document": "#17becf", "image": "#d62728", "clip": "#ff7f0e"}
_SIDE = 480


async def vectors(library: Library, questions: Sequence[str]) -> dict[str, Rows]:
    """Return unit vectors of questions and of the items of each corpus, shape (n, dim), in the space of pictures.

    Raises:
        InputError: no image encoder is set, or the library has nothing that it saw.
    """
    encoder = image_encoder()
    if encoder is None:
        raise InputError("the figure needs an encoder of pictures and texts", "set RAGWEAVE_IMAGE_TEXT")

    def read() -> dict[str, Rows]:
        held, out = library.held.vectors, {QUESTIONS: encoder.texts(list(questions)[:MOST])}
        written: tuple[Corpus, ...] = ("paragraph", "document")
        for corpus in written:
            ids = _drawn(held.ids(library.id, corpus, library.encoder.name))
            texts = [clip(item.text, _TEXT) for item in library.read(ids).values()]
            out |= {corpus: encoder.texts(texts)} if texts else {}
        shown: tuple[Corpus, ...] = ("image", "clip")
        for corpus in shown:
            ids = _drawn(held.ids(library.id, corpus, visual_space(encoder.name)))
            found = held.of_items(library.id, corpus, visual_space(encoder.name), ids)
            out |= {corpus: normalise(np.stack([rows.mean(0) for rows in found.values()]))} if found else {}
        return out

    found = await asyncio.to_thread(read)
    if not {"image", "clip"} & found.keys():
        raise InputError(
            "nothing in these sets was seen by the image encoder", "give a set with pictures or recordings"
        )
    return found


def grid(found: Mapping[str, Rows], title: str) -> Grid:
    """Return for each corpus its share of the items, and how often it holds the item that is nearest to a question."""
    questions, held = found[QUESTIONS], {k: v for k, v in found.items() if k != QUESTIONS}
    total = sum(map(len, held.values()))
    best = np.stack([(questions @ rows.T).max(1) for rows in held.values()])
    won = np.bincount(best.argmax(0), minlength=len(held)) / max(1, best.shape[1])
    centre = questions.mean(0)
    rows = [
        (name, [f"{100 * len(v) / total:.1f}", f"{100 * won[n]:.1f}", f"{best[n].mean():.3f}", _apart(centre, v)])
        for n, (name, v) in enumerate(held.items())
    ]
    columns = ["% of items", "% nearest to a question", "cosine of the nearest", "distance of the centres"]
    return Grid(title, columns, rows)


def drawing(found: Mapping[str, Rows]) -> str:
    """Return the vectors as SVG, on the two axes in which they differ most (the paper draws them by t-SNE)."""
    whole = np.concatenate(list(found.values()))
    middle = whole - whole.mean(0)
    flat = middle @ np.linalg.svd(middle, full_matrices=False)[2][:2].T
    low, high = flat.min(0), flat.max(0)
    at = 10 + (_SIDE - 20) * (flat - low) / np.maximum(high - low, 1e-9)
    names = [name for name, rows in found.items() for _ in rows]
    dots = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{_COLOURS.get(name, "#999")}" fill-opacity=".6"/>'
        for name, (x, y) in zip(names, at, strict=True)
    )
    legend = (
        f'<text x="{_SIDE + 10}" y="{20 + 20 * n}" fill="{_COLOURS.get(name, "#999")}">{escape(name)}</text>'
        for n, name in enumerate(found)
    )
    size = f'width="{_SIDE + 110}" height="{_SIDE}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">{"".join([*dots, *legend])}</svg>'


def _drawn(chunks: Sequence[str]) -> list[str]:
    ids = list(dict.fromkeys(map(item_of, chunks)))
    return ids[:: max(1, -(-len(ids) // MOST))]


def _apart(centre: Rows, rows: Rows) -> str:
    return f"{float(np.linalg.norm(centre - rows.mean(0))):.3f}" if len(rows) else NONE
