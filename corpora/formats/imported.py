"""Read parts of other formats inside a Word document (altChunk, ISO 29500-1, section 17.17.2)."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Block
from ragweave.models.errors import SourceError

_KINDS = ("docx", "html", "rtf", "text", "markdown", "eml")
"""What Word takes in; a page that is saved with its pictures (MHT) is a mail."""
_INSIDE = "Imported_"
"""How the name of such a part begins while it is read: what it takes in itself is left out."""


def imported(archive: Archive, part: str, warnings: list[str]) -> list[Block]:
    """Return the blocks of an imported part; `warnings` gets what cannot be read."""
    from ragweave.corpora.formats import parse
    from ragweave.corpora.formats.probe import probe

    last = part.rpartition("/")[2]
    if not part:
        warnings.append("an imported part is missing, and was left out")
        return []
    if archive.path.name.startswith(_INSIDE):
        warnings.append("what an imported part imports itself was left out")
        return []
    with tempfile.TemporaryDirectory(prefix="ragweave-") as folder:
        path = Path(folder) / (_INSIDE + re.sub(r"[^\w.-]", "_", last)[-80:])
        path.write_bytes(archive.read(part))
        try:
            kind = probe(path)
            if kind not in _KINDS:
                raise SourceError(f"it is of a kind that is not imported ({kind})", "leave it out")
            found = parse(path, kind)
        except SourceError as error:
            warnings.append(f"the imported part {last} was left out: {error.what}")
            return []
    warnings += found.warnings
    return list(found.blocks)
