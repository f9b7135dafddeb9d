"""Files that come with a question: the forms in which clients send them, and reading them within limits.

A client sends a file whole, or the id of one that it keeps here, or a web address. A file is read once, and
this process holds what was read while the conversation sends it again.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import mimetypes
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from ragweave.corpora.parts import part
from ragweave.corpora.store.beside import FileBeside
from ragweave.corpora.store.prepared import Prepared, chunks, terms_of
from ragweave.corpora.store.temporary import temporary
from ragweave.corpora.types import Item, Locator
from ragweave.models import embed
from ragweave.models.errors import InputError, RagweaveError
from ragweave.serve.fetch import fetched
from ragweave.serve.kept_files import KeptFiles
from ragweave.serve.uploads import safe_name

if TYPE_CHECKING:
    from ragweave.corpora.ingest.readers import Readers
    from ragweave.serve.pictures import PictureDesk

MOST_FILES = 8
"""Files that one conversation may bring; of more the last ones are read."""
MOST_ITEMS = 2_000
"""Passages of one file that are asked."""
_HELD = 64
"""Files that are held: those of the conversations that are under way, and of the last ones."""
_UNNAMED = "attached file"
_NAMED = 3
"""Files whose names are put behind a question."""
_TOLD = 3
"""Warnings of one file that are told."""


@dataclass(frozen=True)
class SentFile:
    """A file as a client sends it.

    Attributes:
        name: its name.
        data: its content; empty if the client sent only its id or its address.
        missing: what the client sent if there is nothing to read, in words.
        kept: its id in `/v1/files`.
        url: its web address.
    """

    name: str
    data: bytes = b""
    missing: str = ""
    kept: str = ""
    url: str = ""

    @property
    def shown(self) -> str:
        """Its name as it is cited; text that was read before keeps the name of the file that it was read from."""
        name = self.name.replace("\\", "/").rpartition("/")[2]
        stem = name.removesuffix(".txt")
        return stem if PurePath(stem).suffix else name

    @property
    def id(self) -> str:
        """What names it while it is held."""
        return hashlib.sha256(self.name.encode() + b"\0" + self.data).hexdigest()


class ReadFiles(NamedTuple):
    """Files that can be asked, and what could not be read, in words."""

    files: list[FileBeside]
    notes: list[str]


def sent_file(part: Mapping[str, Any]) -> SentFile | None:
    """Return the file in a part of a message, in the form of OpenAI, Anthropic or LangChain; None if it holds none."""
    kind = str(part.get("type", ""))
    if "file" not in kind and "document" not in kind:
        return None
    inner: Mapping[str, Any] = next(
        (part[key] for key in ("file", "input_file", "source") if isinstance(part.get(key), Mapping)), {}
    )
    both = {**part, **inner}
    mime = _text_of(both, "mime_type", "media_type", "mimeType")
    given = _text_of(both, "file_data", "base64", "data")
    name = _text_of(both, "filename", "name", "title") or _text_of(
        _mapping(part.get("extras")), "filename", "name"
    )
    if inner.get("type") == "text" or part.get("source_type") == "text":
        text = given or _text_of(both, "text")
        return SentFile(name or f"{_UNNAMED}.txt", text.encode())
    if not given and (text := _text_of(both, "text")):
        return SentFile(name or f"{_UNNAMED}.txt", text.encode())
    url = given if given.startswith(("http:", "https:")) else _text_of(both, "file_url", "url")
    if url.startswith(("http:", "https:")):
        return SentFile(name or url, url=url)
    if not given and (kept := _text_of(both, "file_id", "fileId") or _id_of(part)):
        return SentFile(name or kept, kept=kept)
    if not given:
        return SentFile(name or _UNNAMED, missing="a file whose content was not sent")
    head, comma, body = given.partition(",") if given.startswith("data:") else ("", ",", given)
    mime = head.removeprefix("data:").partition(";")[0] or mime
    try:
        data = base64.b64decode("".join(body.split()), validate=True) if comma else b""
    except (binascii.Error, ValueError):
        data = b""
    if not data:
        return SentFile(name or _UNNAMED, missing="a file that is empty or not Base64")
    return SentFile(name or _UNNAMED + (mimetypes.guess_extension(mime) or ""), data)


def _id_of(part: Mapping[str, Any]) -> str:
    """Return the id of a kept file in the older form of LangChain, where `id` is that of the file."""
    return _text_of(part, "id") if part.get("source_type") == "id" else ""


def files_of_app(sent: Sequence[Any] | None) -> list[SentFile]:
    """Return the files that Open WebUI sends as the member `files`, those alone whose text comes with them."""
    found = []
    for row in sent or ():
        inner = _mapping(_mapping(row).get("file"))
        held = [
            _mapping(_mapping(_mapping(row).get("docs")).get("data")),
            _mapping(inner.get("data")),
            _mapping(row),
        ]
        text = next((t for one in held if (t := _text_of(one, "content"))), "")
        if text:
            name = _text_of(_mapping(row), "name") or _text_of(inner, "filename") or _UNNAMED
            found.append(read_before(name, text))
    return found


def with_names(text: str, sent: Sequence[SentFile]) -> str:
    """Return a question with the names of its files behind it, by which a model finds what “this file” means."""
    names = dict.fromkeys(file.shown for file in sent)
    return " ".join([text, *(f"“{name}”" for name in [*names][:_NAMED])])


def read_before(name: str, text: str) -> SentFile:
    """Return a file whose text a chat app has read already."""
    return SentFile(name if PurePath(name).suffix in (".txt", ".md") else f"{name}.txt", text.encode())


def _mapping(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}


def _text_of(given: Mapping[str, Any], *names: str) -> str:
    """Return the first of some members that is text."""
    return next((given[name] for name in names if isinstance(given.get(name), str) and given[name]), "")


class Sender(NamedTuple):
    """Whose files a request may name, and whether it allows reading the web."""

    owner: str = ""
    web: bool = False


class FileDesk:
    """Reads the files of questions in the process that reads their pictures; `kept` are those of `/v1/files`."""

    def __init__(self, desk: PictureDesk, kept: KeptFiles | None = None) -> None:
        self._desk, self._kept = desk, kept
        self._held: OrderedDict[str, FileBeside] = OrderedDict()

    async def read(self, sent: Sequence[SentFile]) -> ReadFiles:
        """Return the files of a conversation; one that cannot be read costs a note."""
        named = {file.id: file for file in sent}
        read = ReadFiles([], [])
        if len(named) > MOST_FILES:
            read.notes.append(f"Only the last {MOST_FILES} of {len(named)} files that were sent were read.")
        for file in list(named.values())[-MOST_FILES:]:
            try:
                held = await self.one(file)
            except RagweaveError as error:
                read.notes.append(unread(file, error))
                continue
            read.files.append(held)
            read.notes.extend(held.notes)
        return read

    async def with_content(
        self, sent: Sequence[SentFile], sender: Sender, notes: list[str]
    ) -> list[SentFile]:
        """Return files with their content; one that cannot be had is left out, and a note is added."""
        found = []
        for file in sent:
            try:
                found.append(await self.content(file, sender))
            except RagweaveError as error:
                notes.append(unread(file, error))
        return found

    async def content(self, file: SentFile, sender: Sender) -> SentFile:
        """Return a file with its content, if the client sent its id or its address.

        Raises:
            NotFound: the caller keeps no file of that id.
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
        """Return the files that a conversation keeps here."""
        if self._kept is None:
            return []
        kept = await asyncio.to_thread(self._kept.all, owner, thread)
        files = [SentFile(file.name, kept=file.id) for file in kept]
        return [await self.one(await self.content(file, Sender(owner))) for file in files[-MOST_FILES:]]

    async def one(self, file: SentFile) -> FileBeside:
        """Return a file as it was read, or raise why it cannot be."""
        if file.missing:
            remedy = "index it into the library and ask again"
            raise InputError(f"{file.name[:80]!r} is {file.missing}", remedy)
        if file.id not in self._held:
            made = await self._desk.with_reader(lambda readers: _read(readers, file))
            self._held[file.id] = made
            while len(self._held) > _HELD:
                self._held.popitem(last=False)
        self._held.move_to_end(file.id)
        return self._held[file.id]


def unread(file: SentFile, error: RagweaveError) -> str:
    """Return the note on a file that was not read."""
    return f"The file “{file.name[:80]}” was not read: {error}"


def _read(readers: Readers, file: SentFile) -> FileBeside:
    name, words = safe_name(file.name), embed.encoder().max_words
    with temporary() as folder:
        path, media = folder / name, folder / "kept"
        media.mkdir()
        path.write_bytes(file.data)
        made = readers.read(str(path), f"sent-{file.id[:24]}", words, media)
    return _beside(file, name, made, words)


def _beside(file: SentFile, name: str, made: Prepared, words: int) -> FileBeside:
    """Return a file as it was read: its texts, and the words in its pictures as paragraphs; no picture is kept."""
    shown = SentFile(name).shown
    texts = [item if item.corpus != "image" else _words_of(item) for item in made.items]
    kept = [
        _placed(item, name, shown)
        for item in texts
        if item.text.strip() and item.corpus in ("paragraph", "document")
    ]
    if not kept:
        raise RagweaveError("it holds no text", "index it into the library to have its pictures looked at")
    notes = [f"Of the file “{shown}”: {warning}" for warning in made.warnings[:_TOLD]]
    if len(kept) > MOST_ITEMS:
        notes.append(
            f"Of the file “{shown}” only the first {MOST_ITEMS:,} of {len(kept):,} passages are asked."
        )
        kept = kept[:MOST_ITEMS]
    ranges = tuple(tuple(chunks(item, words)) for item in kept)
    return FileBeside(file.id, shown, tuple(kept), ranges, terms_of(kept), tuple(notes))


def _words_of(item: Item) -> Item:
    """Return the words in a picture as a paragraph."""
    return replace(item, corpus="paragraph", text=part(item, "words"), spans=(), meta={})


def _placed(item: Item, name: str, shown: str) -> Item:
    """Return an item whose place names the file as it was sent, and no path of this machine."""
    place: Locator = {**item.locator, "file": shown}
    place.pop("image", None)
    if place.get("kind") == "image":
        place["kind"] = "page" if "page" in place else "heading"
    title = shown if item.title == PurePath(name).stem else item.title
    return replace(
        item, title=title, locator=place, meta={k: v for k, v in item.meta.items() if k != "pages"}
    )
