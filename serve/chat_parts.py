"""Parse the content of one chat message: text, pictures, files, and parts that are not read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ragweave.serve.attached import SentFile, sent_file

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
    kind = str(part.get("type", ""))
    if isinstance(part.get("text"), str) and ("text" in kind or "type" not in part):
        found.texts.append(part["text"])
        return
    picture = part.get("image_url") or part.get("image")
    if picture and ("image" in kind or "type" not in part):
        url = picture.get("url") if isinstance(picture, dict) else picture
        found.urls.append(url if isinstance(url, str) else "")
        return
    file = sent_file(part)
    if file is None:
        found.unused.append(_unread_part(kind))
    elif file.missing:
        found.unused.append(f"{file.missing} (index it into the library and ask again)")
    else:
        found.files.append(file)


def _unread_part(kind: str) -> str:
    """Return the description of a part that is not read."""
    for word, description in _UNREAD_PARTS.items():
        if word in kind:
            return description
    return "a part of another kind"
