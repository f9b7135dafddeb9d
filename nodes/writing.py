"""Sentences out of a stream of tokens, and their citation marks."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from ragweave.models.text import sentences

_MARK = re.compile(r"\s*[\[【](\d{1,3}(?:\s*[,;，、]\s*\d{1,3})*)[\]】]")
_END = re.compile(r"(?:[.!?…][\"'”’)]*|[。！？][」』”’）]*)(?:\s*[\[【]\d{1,3}(?:\s*[,;，、]\s*\d{1,3})*[\]】])*|\n")
_FORMATTING = re.compile(r"^\s*(?:[-*•]|#{1,6}|\d{1,2}[.)](?!\d))\s+")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
_URL = re.compile(r"\b(?:https?|ftp)://\S+", re.I)


async def complete_sentences(tokens: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yield each sentence, with its marks, as soon as it is certainly complete; the rest at the end of the stream."""
    buffer = ""
    async for token in tokens:
        buffer += token
        while (end := _boundary(buffer)) is not None:
            sentence, buffer = buffer[:end], buffer[end:]
            if sentence.strip():
                yield sentence.strip()
    for sentence in split(buffer):
        yield sentence


def split(text: str) -> list[str]:
    """Return the sentences of a whole text, each with the marks that follow it."""
    out = []
    while (end := _boundary(text)) is not None:
        out.append(text[:end].strip())
        text = text[end:]
    return [s for s in [*out, text.strip()] if s]


def _boundary(buffer: str) -> int | None:
    """Return the end of the first sentence, or None while more text could still belong to it."""
    for m in _END.finditer(buffer):
        rest = buffer[m.end() :]
        if m.group() == "\n":
            if buffer[: m.end()].strip() and rest.lstrip()[:1] not in {"", "[", "【"}:
                return m.end()
            continue
        unspaced = m.group()[0] in "。！？"
        follows = rest.lstrip()
        # A mark may still come, and a full stop inside a number or an abbreviation ends nothing.
        if not follows or follows[0] in "[【" or (not unspaced and rest[0] == follows[0]):
            continue
        if len(sentences(_MARK.sub("", buffer[: m.end()]).strip() + " Next")) > 1 or unspaced:
            return m.end()
    return None


def marks(sentence: str) -> list[int]:
    """Return the numbers that a sentence cites, in order."""
    return list(dict.fromkeys(int(n) for m in _MARK.finditer(sentence) for n in re.findall(r"\d+", m.group(1))))


def plain(sentence: str) -> str:
    """Return a sentence without marks, list signs, links and addresses: what a model wrote is shown as text only."""
    text = _LINK.sub(r"\1", sentence)
    text = _URL.sub("", _MARK.sub("", text))
    return " ".join(_FORMATTING.sub("", text).replace("**", "").split())
