"""Read the pictures of one file: keep a small copy, and read the words in it."""

from __future__ import annotations

import hashlib
import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

from ragweave.models.errors import MissingExtra, RagweaveError
from ragweave.models.ocr import Box, Ocr, TextLine, installed, ocr
from ragweave.models.pictures import THUMBNAIL, Picture, Pixels, jpeg, open_picture
from ragweave.models.settings import model_settings

logger = logging.getLogger(__name__)

SMALLEST = 48
"""Pixels of the shorter side below which a picture inside a document is an icon or a rule."""
MISSING = "an optional package is missing: pip install 'ragweave[images]'"
LATER, NOTHING, KEPT, WORDS = range(-1, 3)
"""How far pictures are read: later in the run, not without the extra, without words, with words."""
MOST = 2_000
"""Pictures of one file that are looked at."""


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: its size, the size of its copy (`stored`), and its words with boxes in the copy.

    `name` is the copy's file, or "" if none is kept; `key` is the same for equal pixels. Sizes are in
    pixels.
    """

    name: str
    size: tuple[int, int]
    stored: tuple[int, int]
    lines: tuple[TextLine, ...]
    key: str
    date: datetime | None = None


class PictureReader:
    """Looks at pictures within the limits of one file.

    `tell` is called before the first one is read, where the seconds begin, and after each that was read;
    without a media folder no copies are kept. With `later` none is opened: they are counted, and the file is
    read again for them.
    """

    def __init__(
        self,
        media: Path | None,
        seconds: float,
        tell: Callable[[], None] = lambda: None,
        *,
        later: bool = False,
    ) -> None:
        self.later = later
        self.waiting = 0
        """Pictures that were left for later."""
        self._media = media
        self._seconds = seconds
        self._tell = tell
        self._engine: Ocr | None = None
        self._looked = False
        self._until = 0.0
        self._known: dict[str, Shot] = {}
        self._missed: Counter[str] = Counter()
        self._count = 0
        self._closed = False
        self.unread = 0
        """Pictures whose words were not read, because time was up or there is no engine."""

    @property
    def engine(self) -> Ocr | None:
        """The OCR engine; None if it is off or not installed."""
        if not self._looked:
            self._looked = True
            self._tell()
            self._engine = ocr()
            self._until = time.process_time() + self._seconds
        return self._engine

    def look(self, data: bytes) -> Shot | None:
        """Look at a picture file; None where it cannot be opened, which is remembered for `warnings`."""
        key = hashlib.sha256(data).hexdigest()
        if key in self._known:
            return self._known[key]
        if self.later:
            self.waiting += 1
            return None
        try:
            shot = self.shoot(open_picture(data))
        except RagweaveError as error:
            self._miss(error)
            return None
        if shot is not None:
            self._known[key] = shot
        return shot

    def shoot(self, picture: Picture, *, small: bool = False, words: bool = True) -> Shot | None:
        """Keep a copy of an open picture and read its words.

        None for one no larger than an icon, unless small ones count.
        """
        if min(picture.width, picture.height) < SMALLEST and not small:
            return None
        key = key_of(picture.pixels)
        if key in self._known:
            return replace(self._known[key], date=picture.date)
        if self._count >= MOST:
            self._missed[f"only the first {MOST} pictures were looked at"] += 1
            return None
        self._count += 1
        height, width = picture.pixels.shape[:2]
        scale = min(1.0, THUMBNAIL / max(width, height))
        name = f"p{key[:20]}.jpg" if self._media else ""
        try:
            if self._media:
                self._media.mkdir(parents=True, exist_ok=True)
                (self._media / name).write_bytes(jpeg(picture.pixels))
        except MissingExtra as error:  # the page of a PDF, which was opened without it
            self._miss(error)
            return None
        lines = self.read(picture.pixels) if words else []
        shot = Shot(
            name=name,
            size=(picture.width, picture.height),
            stored=(max(1, round(width * scale)), max(1, round(height * scale))),
            lines=tuple([replace(line, box=_scaled(line.box, scale)) for line in lines]),
            key=key,
            date=picture.date,
        )
        self._known[key] = shot
        return shot

    def read(self, pixels: Pixels) -> list[TextLine]:
        """Return the lines of a picture; none without an engine, without time, or if the engine fails."""
        if self.engine is None or time.process_time() > self._until:
            self.unread += 1
            return []
        try:
            return self.engine.lines(pixels)
        except MemoryError:
            raise
        except (
            Exception
        ) as error:  # whatever the engine's libraries raise for a picture they were not made for
            logger.warning("the words of a picture could not be read: %s", error)
            self._missed["the words of a picture could not be read"] += 1
            return []
        finally:
            self._tell()

    @property
    def reached(self) -> str:
        """How far pictures were read: `LEVEL SECONDS`, SECONDS if they were too few; "" without pictures."""
        if self.waiting:
            return f"{LATER} 0"
        if not (self._looked or self._known or self._missed):
            return ""
        unread = self.unread > 0
        level = NOTHING if self._closed else KEPT if unread and self._engine is None else WORDS
        return f"{level} {self._seconds if unread and level == WORDS else 0:g}"

    def warnings(self) -> list[str]:
        """Return what was not looked at or not read, one sentence each."""
        found = counted(self._missed)
        if self.unread:
            why = (
                f"reading them takes longer than {self._seconds:g} seconds of the processor"
                " (RAGWEAVE_PARSE_SECONDS)"
            )
            if self._engine is None:
                why = "RAGWEAVE_OCR is off" if model_settings().ocr == "off" else MISSING
            these = "one picture" if self.unread == 1 else f"{self.unread} pictures"
            found.append(f"the words in {these} were not read: {why}")
        return found

    def _miss(self, error: RagweaveError) -> None:
        if isinstance(error, MissingExtra):
            self._closed = True
            self._missed[f"pictures were not opened: {MISSING}"] += 1
        else:
            what = error.what.partition(" (")[
                0
            ]  # without what the decoder says, which differs from file to file
            self._missed[f"a picture was left out: {what[0].lower()}{what[1:]}"] += 1


def further(reached: str, seconds: float) -> bool:
    """Return whether pictures read as far as `PictureReader.reached` says would be read further now."""
    level, _, limit = reached.partition(" ")
    words = installed() and model_settings().ocr != "off"
    now = WORDS if words else KEPT if find_spec("PIL") else NOTHING
    return bool(level) and (now > int(level) or (now == WORDS and 0 < float(limit) < seconds))


def key_of(pixels: Pixels) -> str:
    """Return the digest of pixels and their shape."""
    return hashlib.sha256(repr(pixels.shape).encode() + pixels.tobytes()).hexdigest()


def _scaled(box: Box, scale: float) -> Box:
    x0, y0, x1, y1 = box
    return round(x0 * scale, 1), round(y0 * scale, 1), round(x1 * scale, 1), round(y1 * scale, 1)


def counted(missed: Counter[str]) -> list[str]:
    """Return what was missed most often, each with how many pictures it cost."""
    return [f"{why} ({n} pictures)" if n > 1 else why for why, n in missed.most_common(10)]
