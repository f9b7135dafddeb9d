"""Find the file in a part of a message, in the forms of OpenAI, Anthropic, LangChain, MCP and Open WebUI."""

from __future__ import annotations

import base64
import binascii
import hashlib
import mimetypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote, urlsplit

_KINDS = re.compile("file|document|resource")
"""Words in the types of parts that are files."""
_UNNAMED = "attached file"
_NAMED = 3
"""Files whose names are appended to a question."""


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
        """The name in citations; text that an app has read keeps the name of the file that it came from."""
        name = self.name.replace("\\", "/").rpartition("/")[2]
        stem = name.removesuffix(".txt")
        return stem if PurePath(stem).suffix else name

    @property
    def id(self) -> str:
        """The key of the file in the cache."""
        return hashlib.sha256(self.name.encode() + b"\0" + self.data).hexdigest()


def sent_file(part: Mapping[str, Any]) -> SentFile | None:
    """Return the file in a part of a message, or None if it has none.

    The part has the form of OpenAI, Anthropic or LangChain, or is an embedded resource of MCP.
    """
    if not _KINDS.search(str(part.get("type", ""))):
        return None
    inner = _inner_part(part)
    members = {**part, **inner}
    name = first_text(members, "filename", "name", "title")
    name = name or first_text(_mapping(part.get("extras")), "filename", "name")
    name = name or _last_part(first_text(members, "uri"))
    content = first_text(members, "file_data", "base64", "blob", "data")
    text = first_text(members, "text")
    is_text = inner.get("type") == "text" or part.get("source_type") == "text"
    if is_text or (text and not content):
        return SentFile(name or f"{_UNNAMED}.txt", (content or text).encode())
    url = _url_of(members, content)
    if url:
        return SentFile(name or url, url=url)
    if content:
        return _decoded(name, content, first_text(members, "mime_type", "media_type", "mimeType"))
    stored = _stored_id(part, members)
    if stored:
        return SentFile(name or stored, kept=stored)
    return SentFile(name or _UNNAMED, missing="a file whose content was not sent")


def _url_of(members: Mapping[str, Any], content: str) -> str:
    """Return the web address of a file, which may be in the place of its content, or ""."""
    schemes = ("http:", "https:")
    if content.startswith(schemes):
        return content
    url = first_text(members, "file_url", "url", "uri")
    return url if url.startswith(schemes) else ""


def _last_part(uri: str) -> str:
    """Return the last part of the path of an address: the name of the file there."""
    return unquote(urlsplit(uri).path.rstrip("/").rpartition("/")[2]) if uri else ""


def _stored_id(part: Mapping[str, Any], members: Mapping[str, Any]) -> str:
    """Return the id of a stored file, or ""."""
    stored = first_text(members, "file_id", "fileId")
    if not stored and part.get("source_type") == "id":  # the older form of LangChain
        stored = first_text(part, "id")
    return stored


def _inner_part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the object within a part that describes the file."""
    for key in ("file", "input_file", "source", "resource"):
        inner = part.get(key)
        if isinstance(inner, Mapping):
            return inner
    return {}


def _decoded(name: str, content: str, mime: str) -> SentFile:
    """Return a file from its content in Base64 or as a data URL, whose media type comes before `mime`."""
    body = content
    if content.startswith("data:"):
        head, _, body = content.partition(",")
        mime = head.removeprefix("data:").partition(";")[0] or mime
    try:
        data = base64.b64decode("".join(body.split()), validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data:
        return SentFile(name or _UNNAMED, missing="a file that is empty or not Base64")
    if not name:
        name = _UNNAMED + (mimetypes.guess_extension(mime) or "")
    return SentFile(name, data)


def files_of_app(sent: Sequence[Any] | None) -> list[SentFile]:
    """Return the files that Open WebUI sends as the member `files`, if it sends their text."""
    found = []
    for given in sent or ():
        row = _mapping(given)
        inner = _mapping(row.get("file"))
        text = first_text(_mapping(_mapping(row.get("docs")).get("data")), "content")
        text = text or first_text(_mapping(inner.get("data")), "content")
        text = text or first_text(row, "content")
        if text:
            name = first_text(row, "name") or first_text(inner, "filename") or _UNNAMED
            found.append(of_text(name, text))
    return found


def with_names(text: str, names: Sequence[str]) -> str:
    """Return a question followed by the names of its files, so that a model understands “this file”."""
    quoted = [f"“{name}”" for name in list(dict.fromkeys(names))[:_NAMED]]
    return " ".join([text, *quoted])


def of_text(name: str, text: str) -> SentFile:
    """Return a file whose text a chat app has read already."""
    return SentFile(name if PurePath(name).suffix in (".txt", ".md") else f"{name}.txt", text.encode())


def _mapping(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}


def first_text(given: Mapping[str, Any], *names: str) -> str:
    """Return the first member among `names` that is a non-empty text, or ""."""
    for name in names:
        value = given.get(name)
        if isinstance(value, str) and value:
            return value
    return ""
