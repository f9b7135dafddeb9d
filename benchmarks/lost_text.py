"""Measure which text of public files is lost.

    python benchmarks/lost_text.py [--each 60] [--show FORMAT] [FOLDER ...]

Reads the documents in the installed packages, in the public data (RAGWEAVE_DATA) and in each FOLDER, at
most so many of each format, and compares the result with a plain extraction of the text: PDFium's for a
PDF, the words between the tags of a zipped or marked-up file, the lines of any other. A line of that
extraction is lost if more than a fifth of its words are missing in the result. Text that is left out on
purpose counts as lost too: page numbers, navigation, front matter. `--show` prints what is lost from one
format.
"""

from __future__ import annotations

import email
import email.policy
import hashlib
import json
import os
import re
import sys
import time
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pypdfium2
from lxml import etree, html
from printed import emit, options

from ragweave.corpora.decode import read_text
from ragweave.corpora.ingest.stages import prepare
from ragweave.models.errors import RagweaveError

DATA = Path(
    os.environ.get("RAGWEAVE_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data")
)
ZIPPED = {
    "docx": (r"word/(?:document|footnotes|endnotes|comments)\.xml", "p"),
    "pptx": (r"ppt/(?:slides|notesSlides|diagrams)/[^/]+\.xml", "p"),
    "xlsx": (r"xl/(?:sharedStrings|comments\d*|drawings/[^/]+)\.xml", "si"),
    "odt": (r"content\.xml", "p"),
    "ods": (r"content\.xml", "p"),
    "odp": (r"content\.xml", "p"),
    "epub": (r".*\.x?html?", "p"),
}
"""Parts of a zipped format that hold its text, and the element of one line."""
MARKED = ("html", "htm", "xhtml", "svg")
PLAIN = ("txt", "md", "rst", "csv", "tsv", "srt", "vtt", "ics", "rtf", "ipynb")
MAIL = ("eml", "mbox", "mht")
WORD = re.compile(r"[^\W_]{2,}|\d")
KEPT = 0.8
"""Share of the words of a line from which it is not lost."""
LARGEST = 4 * 2**20


@dataclass
class Row:
    """What became of the files of one format."""

    files: int = 0
    read: int = 0
    refused: int = 0
    warned: int = 0
    seconds: float = 0.0
    lines: int = 0
    lost: list[str] = field(default_factory=list)


def found(folders: Sequence[Path], each: int) -> dict[str, list[Path]]:
    """Return the documents below folders by their ending, at most so many of each, the same in every run."""
    by_ending: dict[str, dict[str, Path]] = defaultdict(dict)
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            ending = path.suffix.lower().lstrip(".")
            known = ending == "pdf" or ending in ZIPPED or ending in (*MARKED, *PLAIN, *MAIL)
            if known and path.is_file() and 0 < path.stat().st_size <= LARGEST:
                by_ending[ending].setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
    chosen: dict[str, list[Path]] = {}
    for ending, paths in sorted(by_ending.items()):
        chosen[ending] = [paths[key] for key in sorted(paths)[:each]]
    return chosen


def plainly(path: Path, ending: str) -> Iterator[str]:
    """Yield the lines of a file by a plain extraction."""
    if ending == "pdf":
        document = pypdfium2.PdfDocument(path)
        for page in document:
            yield from page.get_textpage().get_text_range().splitlines()
    elif ending in ZIPPED:
        parts, line = ZIPPED[ending]
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if re.fullmatch(parts, name):
                    yield from _elements(
                        etree.fromstring(archive.read(name), etree.XMLParser(recover=True)), line
                    )
    elif ending in MARKED:
        yield from _marked(read_text(path))
    elif ending in MAIL:
        yield from _mailed(path)
    else:
        yield from _unmarked(read_text(path), ending)


def _elements(root: etree._Element | None, line: str) -> Iterator[str]:
    if root is None:
        return
    for element in root.iter(f"{{*}}{line}"):
        if line == "p" and element.prefix in ("w", "a"):
            texts = [inner.text or "" for inner in element.iter("*") if not _is_code(inner)]
            yield " ".join(texts)
        else:
            yield "".join(element.itertext())


def _is_code(element: etree._Element) -> bool:
    return etree.QName(element).localname in ("instrText", "fldChar")


def _marked(text: str) -> Iterator[str]:
    root = html.document_fromstring(text.encode("utf-8", "replace"), parser=html.HTMLParser(encoding="utf-8"))
    etree.strip_elements(
        root, "script", "style", "noscript", "template", "head", etree.Comment, with_tail=False
    )
    yield from "\n".join(root.itertext()).splitlines()


def _mailed(path: Path) -> Iterator[str]:
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    for part in message.walk():
        if part.get_content_type() == "text/plain":
            data = part.get_payload(decode=True)
            yield from (data if isinstance(data, bytes) else b"").decode("utf-8", "replace").splitlines()
        elif part.get_content_type() == "text/html":
            data = part.get_payload(decode=True)
            if isinstance(data, bytes) and data.strip():
                yield from _marked(data.decode("utf-8", "replace"))


def _unmarked(text: str, ending: str) -> Iterator[str]:
    if ending == "ipynb":
        sources = ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
        text = "\n".join(sources)
    if ending == "rtf":
        text = re.sub(r"\{\\(?:fonttbl|colortbl|\*\\generator)(?:[^{}]|\{[^{}]*\})*\}", "", text)
        text = re.sub(r"\\(?:par|line)\b", "\n", text)
        text = re.sub(r"\\[a-z]+-?\d* ?|\\\*|[{}]", "", text)
    if ending in ("srt", "vtt"):
        text = re.sub(r"(?m)^.*-->.*$|^\d+$|^WEBVTT.*$", "", text)
    if ending in ("md", "rst"):
        text = re.sub(r"(?m)^\s*(?:```|\.\. \S|__ ).*$|\]\([^)]*\)|<[^<>\s][^<>]*>|\S*https?://\S*", "", text)
    yield from text.splitlines()


def words_of(text: str) -> list[str]:
    """Return the words of a text as they are compared."""
    return list(map(str.casefold, WORD.findall(text)))


def measured(path: Path, ending: str, row: Row) -> None:
    """Read a file, and add to the row of its format what became of it."""
    row.files += 1
    before = time.process_time()
    try:
        made = prepare(path, "s", 200)
    except RagweaveError:
        row.refused += 1
        return
    finally:
        row.seconds += time.process_time() - before
    row.read += 1
    row.warned += bool(made.warnings)
    read: set[str] = set()
    for item in made.items:
        read.update(words_of(" ".join((item.title, *item.heading, item.text))))
    for line in plainly(path, ending):
        words = words_of(line)
        if words:
            row.lines += 1
            if sum(map(read.__contains__, words)) < KEPT * len(words):
                row.lost.append(f"{path.name}: {' '.join(line.split())[:150]}")


def main() -> None:
    """Print a table of formats."""
    parser = options(__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--each", type=int, default=60, help="files of a format")
    parser.add_argument("--show", default="", metavar="FORMAT", help="print the lines that are lost from it")
    given = parser.parse_args()
    packages = [Path(p) for p in dict.fromkeys(sys.path) if p.endswith("site-packages")]
    rows: dict[str, Row] = {}
    for ending, paths in found(
        [*packages, *([DATA] if DATA.is_dir() else []), *given.folders], given.each
    ).items():
        row = rows.setdefault(ending, Row())
        for path in paths:
            measured(path, ending, row)
    print(
        f"{'format':<8}{'files':>7}{'read':>7}{'refused':>9}{'warned':>8}{'seconds':>9}"
        f"{'lines':>9}{'lost':>7}"
    )
    for ending, row in rows.items():
        counts = (
            f"{row.files:>7}{row.read:>7}{row.refused:>9}{row.warned:>8}{row.seconds:>9.1f}{row.lines:>9,}"
        )
        print(f"{ending:<8}{counts}{len(row.lost):>7,}")
        if ending == given.show:
            print(*row.lost, sep="\n")
    if given.json:
        emit({f"{e} lost": len(r.lost) for e, r in rows.items()}, given.json)


if __name__ == "__main__":
    main()
