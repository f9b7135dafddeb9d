"""Write or open the picture or clip of an item, and return its texts."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ragweave.models.errors import InputError, RagweaveError

if TYPE_CHECKING:
    from ragweave.corpora.types import Item, Locator

_FRAME = (230, 30, 30)
_TOLERANCE = 1.0
"""Seconds by which a clip may be shorter than requested, because cuts fall on frames and packets."""
_SHEET = 12
"""Pictures on a contact sheet."""
_PICTURES = (".jpg", ".jpeg", ".png", ".webp")


def texts_of(item: Item) -> list[tuple[str, str]]:
    """Return the texts of an item as (heading, text); a picture has several, each with a heading."""
    from ragweave.corpora.parts import PARTS, has_parts, part

    if not has_parts(item):
        return [("", item.text)]
    headings = {
        "caption": "Caption",
        "alt": "Alternative text",
        "seen": f"Seen by {item.meta.get('seen_by', '')}",
        "words": "Words in it",
        "around": "Text around it",
    }
    texts: list[tuple[str, str]] = []
    for name in PARTS:
        text = part(item, name)
        if text:
            texts.append((headings[name], text))
    return texts or [("", "Nothing is written about it.")]


def write_media(item: Item, locator: Locator, library_id: str, to: Path | None, launch: bool) -> None:
    """Write the clip or picture of an item to a file, and open it if `launch`.

    If `to` ends as a picture does, an item of a recording gives its stored frame. If the recording is gone,
    its stored frame is written instead of the clip, and a line says so. Without `to`, the file goes into a
    temporary folder.

    Raises:
        InputError: the folder does not exist, there is nothing to write, or no program opens the file.
    """
    if to is not None and not to.absolute().parent.is_dir():
        raise InputError(f"There is no folder {to.absolute().parent}", "make it, or name another file")
    target = to or Path(tempfile.mkdtemp(prefix="ragweave-")) / item.id
    wants_clip = item.locator.get("kind") == "time" and target.suffix.lower() not in _PICTURES
    written = _clip(item, target) if wants_clip else None
    if written is None:
        written = _picture(locator, library_id, target)
    if written is None:
        raise _no_media(item, target, wants_clip=wants_clip)
    typer.echo(f"Wrote {written}")
    if launch and typer.launch(str(written), wait=True):
        raise InputError("This machine has no program that opens it", f"open it yourself: {written}")


def _no_media(item: Item, target: Path, *, wants_clip: bool) -> InputError:
    """Return the error for an item without a picture or clip."""
    if not wants_clip and _is_recording(item):
        other = target.with_suffix(".m4a").name
        return InputError(
            "There is no picture of it", f"a name that ends in .m4a or .mp4 gives its sound: --to {other}"
        )
    return InputError(
        "There is neither a clip nor a picture of it", "its text is all there is: leave out --to"
    )


def write_contact_sheet(locator: Locator, to: Path) -> None:
    """Write one picture that shows frames of a recording, evenly spaced over the seconds of a place."""
    from ragweave.corpora.video.film import make_sheet

    if locator.get("kind") != "time" or "file" not in locator:
        raise InputError("It lies in no recording", "leave out --sheet")
    start, end = locator.get("start", 0.0), locator.get("end", 0.0)
    step = (end - start) / _SHEET
    make_sheet(Path(locator["file"]), [start + n * step for n in range(_SHEET)], to)
    typer.echo(f"Wrote {to}")


def _is_recording(item: Item) -> bool:
    """Return whether an item lies in a sound or video file that still exists; a transcript is neither."""
    from ragweave.corpora.video.intake import demuxer_of

    return item.locator.get("kind") == "time" and bool(demuxer_of(item.locator.get("file", "")))


def _clip(item: Item, to: Path) -> Path | None:
    """Cut the clip of an item out of its recording; return None, with a line on stderr, if that fails."""
    from ragweave.corpora.video.film import cut_clip

    where = item.locator
    start, end = where.get("start", 0.0), where.get("end", 0.0)
    try:
        written, seconds = cut_clip(Path(where["file"]), start, end, to)
        if seconds < end - start - _TOLERANCE:
            typer.echo(
                f"It has {seconds:.1f} of {end - start:.1f} seconds: the recording holds no more there",
                err=True,
            )
        return written
    except InputError:
        raise
    except RagweaveError as error:
        typer.echo(f"The clip itself cannot be cut: {error}", err=True)
        return None


def _picture(locator: Locator, library_id: str, to: Path) -> Path | None:
    """Copy the stored picture of a place, and draw a frame around its box if it has one."""
    from ragweave.corpora.store.media import Media

    image = locator.get("image")
    if not image:
        return None
    found = Media.of(library_id).path(image)
    to = to if to.suffix.lower() == found.suffix else to.with_suffix(found.suffix)
    if to.exists():
        raise InputError(f"{to} exists", "name another file")
    # A box in a page is in points of the page, not in pixels.
    box = locator.get("bbox") if locator.get("kind") == "image" else None
    try:
        if box is None:
            shutil.copyfile(found, to)
        else:
            to.write_bytes(_framed(found.read_bytes(), box))
    except OSError as error:
        raise InputError(f"{to} cannot be written ({error.strerror})", "name another file") from error
    return to


def _framed(stored: bytes, box: list[float]) -> bytes:
    """Return a picture as JPEG with a frame around the box [x0, y0, x1, y1] in pixels."""
    import numpy as np
    from PIL import Image, ImageDraw

    from ragweave.models.pictures import jpeg, load

    image = Image.fromarray(load(stored))
    width = max(2, round(max(image.size) / 250))
    x0, y0, x1, y1 = box
    ImageDraw.Draw(image).rectangle(
        (x0 - width, y0 - width, x1 + width, y1 + width), outline=_FRAME, width=width
    )
    return jpeg(np.asarray(image), quality=92)
