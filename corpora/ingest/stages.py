"""What a file becomes before anything is stored: pure functions from path to items, chunks and terms.

They run in a reading process (`ragweave.corpora.ingest.worker`), which hands their result over as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ragweave.corpora import loaders
from ragweave.corpora.formats import parse
from ragweave.corpora.formats.probe import PICTURE, TEXTS, opened
from ragweave.corpora.images.files import picture_file
from ragweave.corpora.images.look import inside
from ragweave.corpora.images.reader import PictureReader
from ragweave.corpora.images.scans import PdfPictures
from ragweave.corpora.split import split
from ragweave.corpora.store.prepared import Prepared, made_of
from ragweave.corpora.tables.keep import tables_of, warnings_of
from ragweave.corpora.types import Item
from ragweave.corpora.video.cues import is_transcript, transcript
from ragweave.corpora.video.items import items_of
from ragweave.models.errors import SourceError

TRANSCRIPT = "transcript"
"""Kind of a text with times: it becomes clips, not paragraphs."""


def kind_of(path: Path) -> str:
    """Return the kind of a file: that of `probe`, or TRANSCRIPT for a text that is one."""
    kind, opening = opened(path)
    return TRANSCRIPT if kind in TEXTS and is_transcript(opening, path.suffix) else kind


def prepare(
    path: Path,
    source: str,
    max_words: int,
    media: Path | None = None,
    roots: Sequence[str] = (),
    loader: str = "",
    later: bool = False,
    ocr_seconds: float = 600.0,
    tell: Callable[[], None] = lambda: None,
) -> Prepared:
    """Read a file: probe, parse, split, cut into chunks, take its terms.

    `media` is the folder to make for pictures that are kept of it (`ragweave.corpora.store.media`), None
    keeps none; pictures that a text links to are read inside `roots` only. Reading the words in its pictures
    may take `ocr_seconds`, and `tell` is called when that begins and after each picture. With a `loader` it
    is read as an export of that kind, with `later` without its pictures, which are counted.

    Raises:
        SourceError: the file cannot be read, or holds neither text nor pictures, or is an export that makes
            no sense without its loader.
        MissingExtra: it is a picture or an export, and the extra `images` or `loaders` is not installed.
    """
    kind, export = (loader, "") if loader else _looked_at(path)
    if kind == TRANSCRIPT:
        try:
            return _transcript(path, source, max_words)
        except SourceError:
            if not path.suffix.lower().startswith((".json", ".ndjson")):
                raise
            kind = "json"  # its beginning looked like a transcript, the rest did not
    reader = PictureReader(media, ocr_seconds, tell, later=later)
    if kind == PICTURE:
        return _waiting(path, kind, max_words, 1) if later else _picture(path, source, max_words, reader)
    try:
        return _text(path, source, max_words, kind, export, roots, reader)
    except SourceError:
        if reader.waiting:  # it is a scan
            return _waiting(path, kind, max_words, reader.waiting)
        raise


def _waiting(path: Path, kind: str, max_words: int, pictures: int) -> Prepared:
    """Return a file without items, of which so many pictures are read later."""
    return replace(made_of(kind, path.stem, (), max_words), waiting=pictures)


def _picture(path: Path, source: str, max_words: int, reader: PictureReader) -> Prepared:
    seen = picture_file(path, source, reader)
    made = made_of(
        PICTURE,
        path.stem,
        seen.items,
        max_words,
        language=seen.language,
        date=seen.date,
        warnings=seen.warnings,
    )
    return replace(made, reached=reader.reached)


def _text(
    path: Path,
    source: str,
    max_words: int,
    kind: str,
    export: str,
    roots: Sequence[str],
    reader: PictureReader,
) -> Prepared:
    """Return the passages, pictures and tables of a file; `export` is the kind of an export read as text."""
    pages, links = PdfPictures(reader), dict[str, str]()
    if kind in loaders.LOADERS:
        parsed = loaders.load(path, kind)
    else:
        parsed = parse(path, kind, pages)
    pictures, missed = inside(path, source, kind, parsed, reader, pages.shots, roots, links)
    items = [*split(source, str(path), parsed), *pictures]
    if not items:
        raise SourceError("There is no text in it", "leave it out, or give it text")
    tables = tables_of(parsed.blocks, items)
    warnings = [*parsed.warnings, *missed]
    if export:
        warnings.append(_as_text(export))
    made = made_of(
        kind,
        parsed.title,
        items,
        max_words,
        author=parsed.author,
        language=parsed.language,
        date=parsed.date,
        warnings=(*warnings, *warnings_of(tables)),
    )
    pictured = replace(made, reached=reader.reached, links=tuple(links.items()), waiting=reader.waiting)
    return replace(pictured, tables=tuple(tables))


def _looked_at(path: Path) -> tuple[str, str]:
    """Return the kind by which a file is read, and the export kind of a file that is read as a text."""
    try:
        kind, opening = opened(path)
    except SourceError:
        kind, export = "", loaders.recognised(path)
        if not export:
            raise
    else:
        export = loaders.recognised(path, opening) if opening else ""
        kind = TRANSCRIPT if kind in TEXTS and is_transcript(opening, path.suffix) and not export else kind
    if export and export == loaders.asked_for(path):
        return export, ""
    if not kind or export in loaders.UNREADABLE:
        remedy = f"index it with --loader {export}, or choose its kind where files are added"
        raise SourceError(f"{path.name} is an export ({loaders.LOADERS[export]})", remedy)
    return kind, export


def _as_text(export: str) -> str:
    return (
        f"it is an export ({loaders.LOADERS[export]}), and --loader {export} reads its messages with speaker"
        " and time"
    )


def _transcript(path: Path, source: str, max_words: int) -> Prepared:
    items: list[Item] = []
    recordings, warnings = transcript(path)
    clips = 0
    for recording in recordings:
        more = items_of(source, str(path), recording, clips)
        items += more
        for item in more:
            if item.corpus == "clip":
                clips += 1
    title = recordings[0].title if len(recordings) == 1 else path.stem
    language = recordings[0].language
    return made_of(TRANSCRIPT, title, items, max_words, language=language, warnings=warnings)
