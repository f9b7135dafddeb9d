"""Open untrusted pictures, and write the small copies that the library keeps."""

from __future__ import annotations

import io
import logging
import re
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragweave.models.errors import MissingExtra, SourceError

logger = logging.getLogger(__name__)

Pixels = NDArray[np.uint8]
"""RGB, shape (height, width, 3)."""

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP", "HEIF", "AVIF")
MAX_PIXELS = 64_000_000
"""Most decoded pixels: 192 MB as RGB. A larger JPEG is decoded at 1/2, 1/4 or 1/8 of its size."""
WORKING = 2_000
"""Pixels of the longer side for reading; a larger picture shows no more words."""
THUMBNAIL = 1_024
"""Pixels of the longer side of the kept copy: enough for a vision model and for marked boxes."""
QUALITY = 82
"""JPEG quality of the copy."""

_header = threading.Lock()
_DATE = re.compile(r"(\d{4}):(\d\d):(\d\d)[ T](\d\d):(\d\d):(\d\d)")
_EXIF_IFD, _ORIGINAL, _CHANGED = 0x8769, 0x9003, 0x0132


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that was opened; width and height are those of the upright original."""

    pixels: Pixels
    """Upright, the longer side at most WORKING."""
    width: int
    height: int
    date: datetime | None
    """When it was taken, by its EXIF data."""
    frames: int
    """Number of pictures in the file: animations and TIFF files may have several."""
    format: str


def load(data: bytes) -> Pixels:
    """Return the pixels of a picture, upright; same errors as `open_picture`."""
    return open_picture(data).pixels


def open_picture(data: bytes) -> Picture:
    """Open a picture, its longer side shrunk to WORKING pixels; of an animation its first frame.

    Raises:
        SourceError: if the picture is damaged, of another kind, or exceeds a limit.
        MissingExtra: if the extra `images` is not installed.
    """
    return next(pages(data))


def pages(data: bytes) -> Iterator[Picture]:
    """Yield the pictures of a file, one after the other; same errors as `open_picture`."""
    Image = _pillow()
    if data[4:8] == b"ftyp" and data[8:12] not in (b"avif", b"avis"):
        _open_heif()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # Pillow warns of sizes and EXIF data; real errors are raised below.
            with _header:  # Only the header is read here; `_opened` checks the size.
                before, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
                try:
                    image = Image.open(io.BytesIO(data), formats=FORMATS)
                finally:
                    Image.MAX_IMAGE_PIXELS = before
            with image:
                count = int(getattr(image, "n_frames", 1))
                for n in range(count):
                    image.seek(n)
                    yield _opened(image, count)
    except (SourceError, MemoryError):
        raise
    except Image.DecompressionBombError:  # of a frame
        raise SourceError("The picture has too many pixels to be opened", "save it smaller") from None
    except (
        Exception
    ) as error:  # Pillow raises OSError, ValueError, SyntaxError, struct.error ... for damaged files
        raise SourceError(
            "The picture is damaged, truncated or of another kind than its name says"
            f" ({type(error).__name__})",
            "open it in a viewer and save it again",
        ) from None


def _opened(image: Any, count: int) -> Picture:
    Image = _pillow()
    width, height = image.size
    if image.format == "JPEG" and max(width, height) > 2 * WORKING:
        image.draft("RGB", (WORKING, WORKING))  # decodes at a fraction of the size
    if image.size[0] * image.size[1] > MAX_PIXELS:
        raise SourceError(
            f"The picture has {width} x {height} pixels, and at most {MAX_PIXELS // 10**6} million are"
            " opened",
            "save it smaller",
        )
    turned, date = _exif(image)
    image.load()
    small = _rgb(image)
    small.thumbnail((WORKING, WORKING), Image.Resampling.LANCZOS)  # never enlarges
    if turned in _TURNS:
        small = small.transpose(Image.Transpose(_TURNS[turned]))
    if turned >= 5:
        width, height = height, width
    return Picture(np.asarray(small, dtype=np.uint8), width, height, date, count, str(image.format))


_TURNS = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}
"""Pillow's transposition that corrects each EXIF orientation."""


def _exif(image: Any) -> tuple[int, datetime | None]:
    """Return orientation (1-8) and date; unreadable EXIF data are ignored."""
    try:
        exif = image.getexif()
        taken = exif.get_ifd(_EXIF_IFD).get(_ORIGINAL) or exif.get(_CHANGED) or ""
        orientation = exif.get(0x0112, 1)
    except Exception as error:
        logger.debug("EXIF data cannot be read: %s", error)
        return 1, None
    found = _DATE.match(str(taken))
    try:
        date = datetime(*map(int, found.groups())) if found else None  # type: ignore[arg-type]
    except ValueError:
        date = None
    return orientation if orientation in range(1, 9) else 1, date


def _rgb(image: Any) -> Any:
    """Return an 8-bit RGB copy: transparency on white, 16-bit and floating values scaled."""
    Image = _pillow()
    if image.mode.startswith(("I", "F")):
        values = np.asarray(image, dtype=np.float32)
        low, high = 0.0, 65_535.0
        if not image.mode.startswith("I;16"):
            low, high = float(values.min()), float(values.max())
        if image.mode == "I" and 0 <= low and high <= 65_535:
            low, high = 0.0, 65_535.0
        scaled = (values - low) * (255.0 / (high - low)) if high > low else np.zeros_like(values)
        return Image.fromarray(np.nan_to_num(scaled).clip(0, 255).astype(np.uint8)).convert("RGB")
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        seen = image.convert("RGBA")
        ground = Image.new("RGB", seen.size, "white")
        ground.paste(seen, mask=seen.getchannel("A"))
        return ground
    return image.convert("RGB") if image.mode != "RGB" else image.copy()


def jpeg(pixels: Pixels, longest: int = THUMBNAIL, quality: int = QUALITY) -> bytes:
    """Return a JPEG of a picture without EXIF data, its longer side shrunk to at most `longest` pixels."""
    Image = _pillow()
    image = Image.fromarray(pixels)
    image.thumbnail((longest, longest), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality, optimize=True)
    return out.getvalue()


def _open_heif() -> None:
    """Let Pillow open the HEIC pictures of telephones; Pillow itself opens AVIF, which uses the same boxes.

    Pi-heif only decodes. Pillow-heif also contains an encoder under the GPL.
    """
    try:
        import pi_heif
    except ImportError:
        raise SourceError(
            "It is a HEIC picture, and the package pi-heif that reads it is not installed",
            'save it as JPEG, or install it: pip install "ragweave[images]"',
        ) from None
    pi_heif.register_heif_opener()


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtra("opening pictures", "images") from error
    return Image
