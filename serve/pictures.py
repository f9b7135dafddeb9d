"""Read the pictures and files of questions in a separate process, within the limits for files."""

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
"""CPU seconds for opening one picture; reading the words in it may take five times as long."""
WAITING = 16
"""Questions whose pictures may wait or be read at the same time."""
_IDLE = 120.0
"""Seconds after which the reading process ends; starting it takes as long as reading some pictures."""
_MAGIC = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*")
_DATA = re.compile(r"data:image/[a-z0-9.+-]+;base64,", re.I)
_NONE = ("what was sent as a picture is none", "send a PNG, JPEG, WebP, GIF, TIFF or BMP file")


class PictureDesk:
    """Read the pictures of questions one after the other; `files` reads their other files."""

    def __init__(self, kept: KeptFiles | None = None) -> None:
        self._one = asyncio.Lock()
        self._waiting = 0
        self._readers: Readers | None = None
        self._end: asyncio.TimerHandle | None = None
        self.files = FileDesk(self, kept)

    async def read(self, urls: Sequence[str]) -> list[Attachment]:
        """Return the pictures of a question; those of earlier turns are not read again."""
        if len(urls) > MOST:
            raise InputError(
                f"a question may have {MOST} pictures, and {len(urls)} were sent", "send fewer"
            ).named("too_many_pictures", most=MOST, urls=len(urls))
        files = [bytes_of(url) for url in urls]  # before any is read: a wrong one refuses the question
        read: list[Attachment] = []
        for data in files:
            id = id_of(data)
            attachment = held(id)
            if attachment is None:
                attachment = await self.with_reader(partial(_read, id, data))
            read.append(attachment)
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
        """Return the result of `read`, which runs in a thread and uses the reading process.

        The process starts at the first call and ends after some idle time.

        Raises:
            Refused: too many calls wait for it.
        """
        if self._waiting >= WAITING:
            raise Refused(
                429, "the pictures of many questions wait to be read", "try again in a moment", after=5
            ).named("picture_queue_full")
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
    """Return the file in a data URL.

    Raises:
        InputError: it is not the data URL of a picture.
    """
    head = _DATA.match(url)
    if head is None:
        if url.lower().startswith(("http:", "https:", "file:", "ftp:")):
            raise InputError(
                "a picture is not fetched from an address",
                "send the picture itself, as a data URL (data:image/...)",
            ).named("picture_by_address")
        raise InputError(
            "a picture is not a data URL", "send it as data:image/png;base64,... or the like"
        ).named("picture_must_be_data_url")
    try:
        data = base64.b64decode(url[head.end() :], validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data:
        raise InputError(
            "the data URL of a picture is damaged or empty", "encode the file with Base64"
        ).named("invalid_data_url")
    if not data.startswith(_MAGIC) and data[8:12] != b"WEBP":
        raise InputError(*_NONE).named("not_a_picture")
    return data


def id_of(data: bytes) -> str:
    """Return the id of a picture, by which it is found again in later turns."""
    return hashlib.sha256(data).hexdigest()


def _read(id: str, data: bytes, readers: Readers) -> Attachment:
    known = held(id)
    if known is not None:  # another question has read it while this one waited
        return known
    with temporary() as folder:
        path, media = folder / "sent", folder / "kept"
        media.mkdir()
        path.write_bytes(data)
        prepared = readers.read(str(path), "sent", 1_000, media)
        shots = [item for item in prepared.items if item.corpus == "image"]
        if prepared.kind != PICTURE or not shots:
            raise InputError(*_NONE).named("not_a_picture")
        image = (media / Path(shots[0].locator["image"]).name).read_bytes()
    words = []
    for shot in shots:
        text = part(shot, "words")
        if text:
            words.append(text)
    return Attachment(id, image, "\n".join(words), _not_read(prepared.warnings))


def _not_read(warnings: Sequence[str]) -> str:
    """Return the first warning that words in a picture were not read, or ""."""
    for warning in warnings:
        if "not read" in warning:
            return warning
    return ""
