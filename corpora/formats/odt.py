"""OpenDocument texts: headings by outline level, lists, tables, notes and comments; deleted text is left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ragweave.corpora.blocks import Parsed, captioned
from ragweave.corpora.formats.odf import TEXT, Document, opened, plain, properties


def parse(path: Path) -> Parsed:
    """Read a text (.odt)."""
    with opened(path) as archive:
        document = Document(archive)
        blocks, figures = document.blocks(document.body)
        said = properties(archive)
    titled = (plain(p) for p in document.body.iter(f"{TEXT}p") if p.get(f"{TEXT}style-name") == "Title")
    top = next((b.text for b in blocks if b.kind == "heading" and b.level == 1), "")
    return replace(
        said,
        title=said.title or next(titled, "") or top,
        blocks=tuple(blocks),
        figures=tuple(captioned(figures, blocks)),
        hidden=tuple(document.hidden),
    )
