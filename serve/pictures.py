"""Pictures and files that are sent with a question: read in a process of their own, under the limits of files."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from ragweave.components.attachments import MOST, Attachment, held
from ragweave.corpora.formats.probe import PICTURE
from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.parts import part
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.temporary import temporary
from ragweave.models.errors import InputError
from ragweave.serve.attached import FileDesk
from ragweave.serve.kept_files import KeptFiles
from ragweave.serve.problems import Refused

T = TypeVar("T")

SECONDS = 20.0
"""Seconds of the processor that opening one picture may take; reading its words may take five times as many."""
WAITING = 16
"""Questions whose pictures may wait or be read at once."""
_IDLE = 120.0
"""Seconds after which the reading process ends; starting it takes as long as reading some pictures."""
_MAGIC = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*")
_DATA = re.compile(r"data:image/[a-z0-9.+-]+;base64,", re.I)
_NONE = ("what was sent as a picture is none", "send a PNG, JPEG, WebP, GIF, TIFF or BMP file")


class PictureDesk:
    """Reads the pictures of questions one after the other, and with `files` what else comes with them."""

    def __init__(self, kept: KeptFiles | None = None) -> None:
        self._one = asyncio.Lock()
        self._waiting = 0
        self._readers: Readers | None = None
        self._end: asyncio.TimerHandle | None = None
        self.files = FileDesk(self, kept)

    async def read(self, urls: Sequence[str]) -> list[Attachment]:
        """Return the pictures of a question; one that is known from an earlier turn is not read again."""
        if len(urls) > MOST:
            raise InputError(
                f"a question may have {MOST} pictures, and {len(urls)} were sent", "send fewer"
            ).named("question_may_have_pictures", most=MOST, urls=len(urls))
        files = [(id_of(data), data) for data in map(bytes_of, urls)]
        read: list[Attachment] = []
        for id, data in files:
            known = held(id)
            read.append(known if known is not None else await self.with_reader(partial(_read, id, data)))
        return read

    async def close(self) -> None:
        """End the reading process."""
        async with self._one:
            if self._end is not None:
                self._end.cancel()
            readers, self._readers = self._readers, None
            if readers is not None:
                await asyncio.to_thread(readers.close)

    async def with_reader(self, read: Callable[[Readers], T]) -> T:
        """Return what is read in a thread with the reading process, which this starts and ends.

        Raises:
            Refused: too many wait for it.
        """
        if self._waiting >= WAITING:
            raise Refused(
                429, "the pictures of many questions wait to be read", "try again in a moment", after=5
            ).named("pictures_many_questions_wait")
        self._waiting += 1
        try:
            async with self._one:
                if self._end is not None:
                    self._end.cancel()
                limits = {"parse_workers": 1, "parse_seconds": SECONDS}
                self._readers = self._readers or Readers(corpora_settings().model_copy(update=limits))
                try:
                    return await asyncio.to_thread(read, self._readers)
                finally:
                    loop = asyncio.get_running_loop()
                    self._end = loop.call_later(_IDLE, lambda: loop.create_task(self.close()))
        finally:
            self._waiting -= 1


def bytes_of(url: str) -> bytes:
    """Return the file in a data URL."""
    if not (head := _DATA.match(url)):
        if url.lower().startswith(("http:", "https:", "file:", "ftp:")):
            raise InputError(
                "a picture is not fetched from an address",
                "send the picture itself, as a data URL (data:image/...)",
            ).named("picture_not_fetched_from")
        raise InputError(
            "a picture is not a data URL", "send it as data:image/png;base64,... or the like"
        ).named("picture_not_data_url")
    try:
        data = base64.b64decode(url[head.end() :], validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data:
        raise InputError(
            "the data URL of a picture is damaged or empty", "encode the file with Base64"
        ).named("data_url_picture_damaged")
    if not data.startswith(_MAGIC) and data[8:12] != b"WEBP":
        raise InputError(*_NONE).named("not_a_picture")
    return data


def id_of(data: bytes) -> str:
    """Return what names a picture while its question is under way."""
    return hashlib.sha256(data).hexdigest()


def _read(id: str, data: bytes, readers: Readers) -> Attachment:
    if (known := held(id)) is not None:  # it was read while this waited
        return known
    with temporary() as folder:
        path, media = folder / "sent", folder / "kept"
        media.mkdir()
        path.write_bytes(data)
        made = readers.read(str(path), "sent", 1_000, media)
        shots = [i for i in made.items if i.corpus == "image"]
        if made.kind != PICTURE or not shots:
            raise InputError(*_NONE).named("not_a_picture")
        image = (media / Path(shots[0].locator["image"]).name).read_bytes()
        words = "\n".join(filter(None, (part(i, "words") for i in shots)))
        return Attachment(id, image, words, next((w for w in made.warnings if "not read" in w), ""))
