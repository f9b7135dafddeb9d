"""Parse the content of one chat message: text, pictures, files, and parts that are not read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ragweave.serve.sent_file import SentFile, first_text, sent_file

_UNREAD_PARTS = {
    "audio": "a recording",
    "video": "a video",
    "refusal": "a refusal",
    "think": "the thoughts of a model",
    "reason": "the thoughts of a model",
    "tool": "a call or reply of a tool",
    "function": "a call or reply of a tool",
}
"""Descriptions of message parts that are not read, by a word that their type contains."""
_PICTURE_MEMBERS = ("image_url", "image", "source", "inline_data", "inlineData")
"""Members of a part that are, or contain, a picture."""
_MIME_MEMBERS = ("mime_type", "mimeType", "media_type", "mediaType")


@dataclass
class ParsedContent:
    """Text, picture addresses and files of a message.

    `unused` describes the parts that are not read.
    """

    texts: list[str] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    files: list[SentFile] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text parts as lines."""
        return "\n".join(self.texts)


def read_content(content: Any) -> ParsedContent:
    """Parse the content of a message in any of the forms that clients send."""
    found = ParsedContent()
    parts = content if isinstance(content, list) else [content]
    for part in parts:
        if isinstance(part, str):
            found.texts.append(part)
        elif isinstance(part, dict):
            _read_part(part, found)
        elif part is not None:
            found.unused.append("a part that cannot be read")
    return found


def _read_part(part: dict[str, Any], found: ParsedContent) -> None:
    """Add one typed part of a message to what was found."""
    given = part.get("type")
    kind = given if isinstance(given, str) else ""
    if isinstance(part.get("text"), str) and ("text" in kind or not kind):
        found.texts.append(part["text"])
        return
    picture = _picture(part, kind)
    if isinstance(picture, str):
        found.urls.append(picture)
        return
    file = picture or sent_file(part)
    if file is None:
        found.unused.append(_unread_part(kind))
    elif file.missing:
        found.unused.append(f"{file.missing} (index it into the library and ask again)")
    else:
        found.files.append(file)


def _picture(part: Mapping[str, Any], kind: str) -> str | SentFile | None:
    """Return the address of the picture in a part, or the stored file that it names; None if it has none.

    The part has the form of OpenAI, Anthropic, Gemini or LangChain.
    """
    members = dict(part)
    inner = None
    for name in _PICTURE_MEMBERS:
        inner = inner or part.get(name)
    if isinstance(inner, Mapping):
        members |= inner
    mime = first_text(members, *_MIME_MEMBERS)
    untyped = not kind or kind == "media"
    if not ("image" in kind or (untyped and (mime.startswith("image/") or "image_url" in part))):
        return None
    stored = first_text(members, "file_id", "fileId")
    address = inner if isinstance(inner, str) else first_text(members, "url")
    data = first_text(members, "base64", "data")
    if data and not address:
        address = data if data.startswith("data:") else f"data:{mime or 'image/png'};base64,{data}"
    if stored and not address:
        return SentFile(stored, kept=stored)  # the words in it are read
    return address


def _unread_part(kind: str) -> str:
    """Return the description of a part that is not read."""
    for word, description in _UNREAD_PARTS.items():
        if word in kind:
            return description
    return "a part of another kind"
