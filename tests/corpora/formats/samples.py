r"""Golden files: small samples of each format, and what is read of them.

A golden file holds samples, each under a line `======== NAME behaviour`, then what is read of it under
`--------`. A sample that is no plain text is written with the escapes of Python, a PDF as the place, size and
font of each text with notes upon its page and changes to its bytes, and a zip as its parts. After a change
that is meant, and whose difference was looked at:

    python -m ragweave.tests.corpora.formats.samples
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.formats import parse
from ragweave.corpora.formats.probe import probe
from ragweave.models.errors import SourceError
from ragweave.tests.support.pdfs import Run, pdf_bytes, stream
from ragweave.tests.support.zips import zip_bytes

GOLDEN = Path(__file__).parent / "golden"
_SAMPLE = re.compile(r"^======== (\S+) (.+)\n((?:.*\n)*?)--------\n((?:(?!======== ).*\n?)*)", re.M)
_PART = re.compile(r"^>>>>>>>> (.+)\n", re.M)


@dataclass(frozen=True)
class Sample:
    """A file, the behaviour that it shows, and what is expected of it."""

    golden: Path
    name: str
    behaviour: str
    source: str
    expected: str

    def body(self) -> bytes:
        """Return the bytes of the file: escapes are read, and parts make a zip."""
        source = self.source[:-1]
        if "(escaped)" in self.behaviour:
            return source.replace("\n", "").encode("latin-1").decode("unicode_escape").encode("latin-1")
        if self.name.endswith(".pdf"):
            return _pdf(source)
        parts = _PART.split(source)
        if len(parts) == 1:
            return source.encode()
        return zip_bytes(dict(zip(parts[1::2], (p.removesuffix("\n") for p in parts[2::2]), strict=True)))

    def read(self, folder: Path) -> str:
        """Read the file, and return what is read as golden files say it."""
        path = folder / self.name
        path.write_bytes(self.body())
        try:
            return said(parse(path, probe(path))).replace(f"{folder}/", "")
        except SourceError as error:
            return f"refused: {error}\n"


def _pdf(source: str) -> bytes:
    """Write a PDF from `page`, `info ...`, `note ...`, `change OLD => NEW` and `x y size font text` lines."""
    pages: list[list[Run]] = []
    info, notes, changes = "", "", list[tuple[str, str]]()
    for line in source.split("\n"):
        if line == "page":
            pages.append([])
        elif line.startswith("info "):
            info = line[5:]
        elif line.startswith("note "):
            notes += f" << /Type /Annot {line[5:]} >>"
        elif line.startswith("change "):
            old, _, new = line[7:].encode().decode("unicode_escape").partition(" => ")
            changes.append((old, new))
        else:
            x, y, size, font, text = line.split(" ", 4)
            pages[-1].append((float(x), float(y), float(size), font, text))
    if notes:
        changes.append(("/MediaBox", f"/Annots [{notes}] /MediaBox"))
    data = pdf_bytes(pages, info)
    return stream(data, *changes) if changes else data


def samples() -> Iterator[Sample]:
    """Yield the samples of all golden files."""
    for path in sorted(GOLDEN.glob("*.txt")):
        for m in _SAMPLE.finditer(path.read_text(encoding="utf-8")):
            yield Sample(path, *m.groups())


def said(parsed: Parsed) -> str:
    """Return what was read: properties, blocks with their places, pictures, items."""
    lines = [f"{name}: {getattr(parsed, name)}" for name in ("title", "author", "language", "url", "parted")]
    lines += [f"date: {parsed.date.isoformat()}"] if parsed.date else []
    lines = [line for line in lines if not line.endswith((": ", ": False"))]
    lines += [f"warning: {warning}" for warning in parsed.warnings] + [
        f"hidden: {part}" for part in parsed.hidden
    ]
    for block in parsed.blocks:
        level = f" {block.level}" if block.level else ""
        date = f" of {block.date.isoformat()}" if block.date else ""
        lines.append(f"[{block.kind}{level}{_place(block)}{date}]")
        lines += [f"  {line}" for line in block.text.split("\n")]
    lines += [f"picture: {figure}" for figure in parsed.figures]
    for item in parsed.records:
        lines.append(f"[{item.corpus}] {item.title}: {item.locator} {item.meta} {item.date}")
        lines += [f"  {line}" for line in item.text.split("\n")]
    return "".join(f"{line}\n" for line in lines)


def _place(block: Block) -> str:
    spans = dict.fromkeys((s.line or s.page) for s in block.spans)
    page = f" page {block.page}" if block.page else ""
    places = ",".join(map(str, spans)) if spans else str(block.line or "")
    box = f" {[round(side) for side in block.bbox]}" if block.bbox else ""
    return page + box + (f" line {places}" if places and not block.page else "")


def record() -> None:
    """Write what is read now into the golden files."""
    with tempfile.TemporaryDirectory() as folder:
        for path, held in groupby(samples(), key=lambda sample: sample.golden):
            texts = [
                f"======== {s.name} {s.behaviour}\n{s.source}--------\n{s.read(Path(folder))}" for s in held
            ]
            path.write_text("".join(texts), encoding="utf-8")


if __name__ == "__main__":
    record()
