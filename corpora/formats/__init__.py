"""One file per file format: a path in, blocks with their places out.

A format is a module of this package named as in `KINDS` with one function, `parse(path) -> Parsed`. The steps
to add one are in docs/formats.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import cast

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.dates import noted, stated
from ragweave.corpora.decode import unreadable
from ragweave.corpora.hidden import seen, warnings_of
from ragweave.corpora.layout import PageLook
from ragweave.corpora.meta import guess_language
from ragweave.corpora.titles import filed_under
from ragweave.models.errors import SourceError

KINDS: dict[str, str] = {
    "markdown": "Markdown",
    "text": "plain text",
    "rst": "reStructuredText",
    "html": "HTML",
    "svg": "SVG drawing",
    "pdf": "PDF",
    "docx": "Word",
    "pptx": "PowerPoint",
    "xlsx": "Excel",
    "rtf": "RTF",
    "odt": "OpenDocument text",
    "odp": "OpenDocument presentation",
    "ods": "OpenDocument workbook",
    "csv": "CSV",
    "epub": "EPUB",
    "eml": "e-mail",
    "mbox": "mailbox",
    "ics": "calendar or contacts",
    "json": "JSON",
    "items": "item list",
    "notebook": "Jupyter notebook",
    "code": "source code",
}
"""Every kind that can be read, with its name for people. The key is also the module's name."""
_SCANNED = frozenset({"pdf", "eml", "mbox"})
"""Kinds whose pages, or those of files inside them, may be pictures of text."""
_NOTED = frozenset({"docx", "pptx", "xlsx", "pdf", "rtf", "odt", "odp", "ods"})
"""Kinds whose date is what the program that wrote the file has noted."""


def parse(path: Path, kind: str, pictures: PageLook | None = None) -> Parsed:
    """Read a file.

    `kind` is what `ragweave.corpora.formats.probe.probe` said it is; `pictures` looks at the pages of a PDF
    and of those attached to a mail, None reads their text only.

    Raises:
        SourceError: the file is broken, protected, past a limit, or holds no text at all.
    """
    if kind not in KINDS:
        raise SourceError(
            f"{path.name} is of an unknown kind, {kind!r}", f"the kinds that are read: {', '.join(KINDS)}"
        )
    read = cast("Callable[..., Parsed]", import_module(f"ragweave.corpora.formats.{kind}").parse)
    return finished(
        lambda: read(path, pictures) if kind in _SCANNED else read(path),
        path,
        noted_by_program=kind in _NOTED,
    )


def finished(read: Callable[[], Parsed], path: Path, *, noted_by_program: bool = False) -> Parsed:
    """Return what a reader makes of a file without what is hidden in it, with its date and language.

    A date that the program has noted which wrote the file counts only where its text states none.

    Raises:
        SourceError: as `parse` does.
    """
    try:
        parsed = read()
    except RecursionError:
        raise SourceError(
            f"{path.name} is nested too deeply to be read", "flatten it, or leave it out"
        ) from None
    except OSError as exc:
        raise unreadable(path, exc) from None
    if parsed.records:
        return parsed
    blocks, invisible = seen(parsed.blocks)
    warned = warnings_of(parsed.hidden, invisible)
    parsed = replace(parsed, blocks=blocks, warnings=(*parsed.warnings, *_unreadable(blocks), *warned))
    sample = "\n".join(b.text for b in islice((b for b in parsed.blocks if b.kind != "code"), 200))
    title = filed_under(parsed.blocks) or parsed.title
    parsed = replace(parsed, title=title, language=parsed.language or guess_language(sample))
    own = noted(parsed.date, parsed.blocks, parsed.title, path.stem) if noted_by_program else parsed.date
    if noted_by_program or own is None:
        parsed = replace(parsed, date=stated(parsed.title, parsed.blocks, path.stem, parsed.language) or own)
    if not any(b.text.strip() for b in parsed.blocks) and not parsed.figures:
        why = parsed.warnings[0] if parsed.warnings else "it holds no text"
        raise SourceError(f"nothing to index in {path.name}: {why}", "leave it out, or add text to it")
    return parsed


def _unreadable(blocks: Sequence[Block]) -> tuple[str, ...]:
    """Return how many characters of a text are broken."""
    count = 0
    for block in blocks:
        count += block.text.count("\ufffd")
    if not count:
        return ()
    return (
        "1 character is broken, and shown as \ufffd"
        if count == 1
        else f"{count} characters are broken, and shown as \ufffd",
    )
