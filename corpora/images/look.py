"""What a file's reading asks of the pictures inside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Parsed
from ragweave.corpora.images.items import Items, says_something
from ragweave.corpora.images.links import linked
from ragweave.corpora.images.reader import PictureReader, Shot, counted
from ragweave.corpora.types import Item
from ragweave.models.errors import SourceError

PACKAGES = ("docx", "pptx", "epub", "odt", "odp")


def inside(
    path: Path,
    source: str,
    kind: str,
    parsed: Parsed,
    reader: PictureReader,
    shots: Mapping[str, Shot],
    roots: Sequence[str],
    links: MutableMapping[str, str],
) -> tuple[list[Item], list[str]]:
    """Return an item for each picture inside a file that was read, and what could not be looked at.

    `shots` are the pictures of a PDF, which were looked at with its pages; `links` takes the files of the
    pictures that the file links to inside the roots, with their states, "" for a missing one.
    """
    made, missed = Items(source, path, parsed), Counter[str]()
    with ExitStack() as stack:
        archive = stack.enter_context(Archive(path)) if kind in PACKAGES and parsed.figures else None
        for figure in parsed.figures:
            shot, name = shots.get(figure.ref), ""
            if shot is None and figure.ref:
                try:
                    if figure.ref in parsed.held:
                        data = parsed.held[figure.ref]
                    elif archive is not None:  # names inside a package are those that its program gave
                        data = archive.read(figure.ref)
                    else:
                        data, name = linked(path, figure.ref, roots, links)
                    shot = reader.look(data)
                except SourceError as error:
                    missed[f"{error.what[0].lower()}{error.what[1:]}"] += 1
                if shot is None and not says_something(figure):
                    continue
            made.add(shot, figure, name)
    return made.found, [*counted(missed), *reader.warnings()]
