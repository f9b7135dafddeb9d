"""Read OpenDocument texts: headings by outline level, lists, tables, notes and comments."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ragweave.corpora.blocks import Parsed, captioned
from ragweave.corpora.formats.odf import Document, opened, plain, properties
from ragweave.corpora.formats.odf_names import TEXT
from ragweave.corpora.formats.ooxml import not_read


def parse(path: Path) -> Parsed:
    """Read a text (.odt)."""
    with opened(path) as archive:
        document = Document(archive)
        blocks, figures = document.blocks(document.body)
        edges = document.edges()
        said = properties(archive)
    titled = (plain(p) for p in document.body.iter(f"{TEXT}p") if p.get(f"{TEXT}style-name") == "Title")
    heads = document.body.iter(f"{TEXT}h")
    top = next((t for h in heads if h.get(f"{TEXT}outline-level", "1") == "1" and (t := plain(h))), "")
    blocks, figures = [*edges, *blocks], [replace(f, at=f.at + len(edges)) for f in figures]
    return replace(
        said,
        title=said.title or next(titled, "") or top,
        blocks=tuple(blocks),
        figures=tuple(captioned(figures, blocks)),
        hidden=tuple(document.hidden),
        warnings=not_read(document.left),
    )
