"""Read the files that clients attach to a question, within limits.

A client sends a whole file, or the id of one that this server stores for it, or a web address. A file is read
once; this process caches its passages while the conversation sends it again.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from ragweave.corpora.parts import part
from ragweave.corpora.store.beside import FileBeside
from ragweave.corpora.store.prepared import Prepared, chunks, terms_of
from ragweave.corpora.store.temporary import temporary
from ragweave.corpora.types import Item, Locator
from ragweave.corpora.web.fetch import fetched
from ragweave.models import embed
from ragweave.models.errors import InputError, RagweaveError
from ragweave.serve.kept_files import KeptFiles, check_size
from ragweave.serve.sent_file import SentFile
from ragweave.serve.uploads import safe_name

if TYPE_CHECKING:
    from ragweave.corpora.ingest.readers import Readers
    from ragweave.serve.pictures import PictureDesk

MOST_FILES = 8
"""Files that one conversation may attach; of more, the last ones are read."""
MOST_ITEMS = 2_000
"""Passages of one file that are searched."""
_CACHED = 64
"""Files whose passages are cached, those used last."""
_MAX_WARNINGS = 3
"""Warnings of one file that become notes."""


class ReadFiles(NamedTuple):
    """Files that can be searched, and notes on what could not be read."""

    files: list[FileBeside]
    notes: list[str]


NO_FILES = ReadFiles([], [])


class Sender(NamedTuple):
    """The owner of the files that a request may name, and whether it allows web access."""

    owner: str = ""
    web: bool = False


class FileDesk:
    """Read the files of questions in the process that reads pictures; `kept` are those of `/v1/files`."""

    def __init__(self, desk: PictureDesk, kept: KeptFiles | None = None) -> None:
        self._desk, self._kept = desk, kept
        self._cache: OrderedDict[str, FileBeside] = OrderedDict()

    async def read(self, sent: Sequence[SentFile]) -> ReadFiles:
        """Return the files of a conversation, with a note for each that cannot be read."""
        named = {file.id: file for file in sent}
        read = ReadFiles([], [])
        if len(named) > MOST_FILES:
            read.notes.append(f"Only the last {MOST_FILES} of {len(named)} files that were sent were read.")
        for file in list(named.values())[-MOST_FILES:]:
            try:
                one = await self.one(file)
            except RagweaveError as error:
                read.notes.append(unread(file, error))
                continue
            read.files.append(one)
            read.notes.extend(one.notes)
        return read

    async def with_content(
        self, sent: Sequence[SentFile], sender: Sender, notes: list[str]
    ) -> list[SentFile]:
        """Return files with their content; for each that is not available, add a note instead."""
        found = []
        for file in sent:
            try:
                found.append(await self.content(file, sender))
            except RagweaveError as error:
                notes.append(unread(file, error))
        return found

    async def content(self, file: SentFile, sender: Sender) -> SentFile:
        """Return a file with its content, even if the client sent only its id or its address.

        Raises:
            NotFound: the caller has no stored file of that id.
            InputError: the address cannot be read, or the request does not allow it.
        """
        if file.kept:
            if self._kept is None:
                raise InputError("no files are kept here", "send the file itself")
            about, data = await asyncio.to_thread(self._kept.with_data, sender.owner, file.kept)
            return SentFile(about.name, data)
        if file.url:
            if not sender.web:
                remedy = 'send the file itself, or allow reading the web with "web": "auto"'
                raise InputError("it lies at a web address, and this request does not read the web", remedy)
            name, data = await fetched(file.url)
            return SentFile(name if file.name == file.url else file.name, data)
        return file

    async def of_thread(self, owner: str, thread: str) -> list[FileBeside]:
        """Return the stored files of a conversation."""
        if self._kept is None:
            return []
        kept = await asyncio.to_thread(self._kept.all, owner, thread)
        files = [SentFile(file.name, kept=file.id) for file in kept]
        return [await self.one(await self.content(file, Sender(owner))) for file in files[-MOST_FILES:]]

    def read_before(self, names: Mapping[str, str]) -> ReadFiles:
        """Return the files of an earlier turn, by their ids, with notes on those not cached any more."""
        found = ReadFiles([], [])
        for id, name in names.items():
            if id in self._cache:
                self._cache.move_to_end(id)
                found.files.append(self._cache[id])
            else:
                found.notes.append(
                    f"The file “{name[:80]}” of an earlier turn is not held any more: send it again."
                )
        return found

    async def one(self, file: SentFile) -> FileBeside:
        """Return the passages of a file, from the cache if they are there.

        Raises:
            RagweaveError: the file cannot be read.
        """
        if file.missing:
            remedy = "index it into the library and ask again"
            raise InputError(f"{file.name[:80]!r} is {file.missing}", remedy)
        check_size(file.name, file.data)
        if file.id not in self._cache:
            passages = await self._desk.with_reader(lambda readers: _read(readers, file))
            self._cache[file.id] = passages
            while len(self._cache) > _CACHED:
                self._cache.popitem(last=False)
        self._cache.move_to_end(file.id)
        return self._cache[file.id]


def unread(file: SentFile, error: RagweaveError) -> str:
    """Return the note on a file that was not read."""
    return f"The file “{file.name[:80]}” was not read: {error}"


def _read(readers: Readers, file: SentFile) -> FileBeside:
    name, words = safe_name(file.name), embed.encoder().max_words
    with temporary() as folder:
        path, media = folder / name, folder / "kept"
        media.mkdir()
        path.write_bytes(file.data)
        prepared = readers.read(str(path), f"sent-{file.id[:24]}", words, media)
    return _searchable(file, name, prepared, words)


def _searchable(file: SentFile, name: str, prepared: Prepared, words: int) -> FileBeside:
    """Return the texts of a file, and the words in its pictures as paragraphs; pictures are dropped."""
    shown = SentFile(name).shown
    kept = []
    for item in prepared.items:
        if item.corpus == "image":
            item = _words_of(item)
        if item.text.strip() and item.corpus in ("paragraph", "document"):
            kept.append(_placed(item, name, shown))
    if not kept:
        raise RagweaveError("it holds no text", "index it into the library to have its pictures looked at")
    notes = [f"Of the file “{shown}”: {warning}" for warning in prepared.warnings[:_MAX_WARNINGS]]
    if len(kept) > MOST_ITEMS:
        notes.append(
            f"Of the file “{shown}” only the first {MOST_ITEMS:,} of {len(kept):,} passages are asked."
        )
        kept = kept[:MOST_ITEMS]
    ranges = [tuple(chunks(item, words)) for item in kept]
    return FileBeside(file.id, shown, tuple(kept), tuple(ranges), terms_of(kept), tuple(notes))


def _words_of(item: Item) -> Item:
    """Return the words in a picture as a paragraph."""
    return replace(item, corpus="paragraph", text=part(item, "words"), spans=(), meta={})


def _placed(item: Item, name: str, shown: str) -> Item:
    """Return an item whose locator has the name of the sent file instead of a path of this machine."""
    place: Locator = {**item.locator, "file": shown}
    place.pop("image", None)
    if place.get("kind") == "image":
        place["kind"] = "page" if "page" in place else "heading"
    title = shown if item.title == PurePath(name).stem else item.title
    meta = dict(item.meta)
    meta.pop("pages", None)
    return replace(item, title=title, locator=place, meta=meta)
