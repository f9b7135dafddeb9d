"""Read OpenDocument texts: headings by outline level, lists, tables, notes and comments."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

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
    blocks, figures = [*edges, *blocks], [replace(f, at=f.at + len(edges)) for f in figures]
    return replace(
        said,
        title=said.title or _title(document.body),
        blocks=tuple(blocks),
        figures=tuple(captioned(figures, blocks)),
        hidden=tuple(document.hidden),
        warnings=not_read(document.left),
    )


def _title(body: Any) -> str:
    """Return the first paragraph in the style of titles, else the first heading of the top level."""
    for paragraph in body.iter(f"{TEXT}p"):
        if paragraph.get(f"{TEXT}style-name") == "Title":
            title = plain(paragraph)
            if title:
                return title
            break
    for heading in body.iter(f"{TEXT}h"):
        if heading.get(f"{TEXT}outline-level", "1") == "1":
            title = plain(heading)
            if title:
                return title
    return ""
