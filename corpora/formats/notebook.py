"""Jupyter notebooks: Markdown cells with their headings, code cells, and what they printed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragweave.corpora.blocks import Block, Parsed, first_heading
from ragweave.corpora.decode import read_text
from ragweave.corpora.formats import code, markdown
from ragweave.models.errors import SourceError

_MAX_OUTPUT = 2_000
"""Characters kept of what one cell printed."""


def parse(path: Path) -> Parsed:
    """Read a notebook (nbformat 3 and 4); pictures in outputs are left out."""
    try:
        notebook = json.loads(read_text(path))
        blocks: list[Block] = []
        for cell in _cells(notebook):
            blocks += _cell(cell)
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise SourceError(
            f"{path.name} is not a readable notebook", "open it in Jupyter and save it again"
        ) from exc
    title = first_heading(blocks, level=1)
    return Parsed(title, tuple(blocks))


def _cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells of a notebook; nbformat 3 puts them into worksheets."""
    if "cells" in notebook:
        return list(notebook["cells"])
    cells: list[dict[str, Any]] = []
    for sheet in notebook["worksheets"]:
        cells += sheet["cells"]
    return cells


def _cell(cell: dict[str, Any]) -> list[Block]:
    source = _joined(cell.get("source", cell.get("input", "")))
    if cell.get("cell_type") == "markdown":
        found = markdown.content(source)[0]
    else:
        found = code.blocks(source)[0]
        printed: list[str] = []
        for output in cell.get("outputs", []):
            text = output.get("text") or output.get("data", {}).get("text/plain", "")
            printed.append(_joined(text).strip())
        shown = "\n".join(filter(None, printed))
        if shown:
            found += (Block(shown[:_MAX_OUTPUT], "code"),)
    # Lines inside a cell say nothing about lines of the file.
    return [replace(b, line=0, spans=()) for b in found]


def _joined(source: object) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source)
