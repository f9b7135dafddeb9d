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
        cells = (
            notebook["cells"]
            if "cells" in notebook
            else [c for w in notebook["worksheets"] for c in w["cells"]]
        )
        blocks = [b for cell in cells for b in _cell(cell)]
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise SourceError(
            f"{path.name} is not a readable notebook", "open it in Jupyter and save it again"
        ) from exc
    title = first_heading(blocks, level=1)
    return Parsed(title, tuple(blocks))


def _cell(cell: dict[str, Any]) -> list[Block]:
    source = _joined(cell.get("source", cell.get("input", "")))
    if cell.get("cell_type") == "markdown":
        found = markdown.content(source)[0]
    else:
        found = code.blocks(source)[0]
        outputs = (o.get("text") or o.get("data", {}).get("text/plain", "") for o in cell.get("outputs", []))
        printed = "\n".join(t for o in outputs if (t := _joined(o).strip()))
        if printed:
            found += (Block(printed[:_MAX_OUTPUT], "code"),)
    # Lines inside a cell say nothing about lines of the file.
    return [replace(b, line=0, spans=()) for b in found]


def _joined(source: object) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source)
