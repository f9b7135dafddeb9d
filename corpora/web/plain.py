"""Make text from strangers plain: no invisible characters, images, links or active markup.

The words of a page stay as they are, instructions included: they are quoted as data, and nothing follows
them. Content is removed if it could act when it is shown (an image that reports where it was loaded from), or
if a reader cannot see it.
"""

from __future__ import annotations

import re
import unicodedata

from ragweave.models.text import clip

_SPACES = re.compile(r"[\t\x0b\x0c\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_BREAKS = re.compile(r"\r\n?|[\u2028\u2029]")
# Joiners are part of words in Arabic and Indic scripts; anywhere else they are only invisible.
_JOINER = re.compile(r"(?<![\u0600-\u1aff])[\u200c\u200d]|[\u200c\u200d](?![\u0600-\u1aff])")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff\ue000-\uf8ff\U000f0000-\U0010ffff]"
)
_MD_LINK = re.compile(
    r"!?\[(?P<text>[^\[\]]{0,1000})\](?:\((?:[^()\n]|\([^()\n]{0,500}\)){0,2000}\)|\[[^\[\]\n]{0,200}\])"
)
_MD_DEFINITION = re.compile(r"^[ ]{0,3}\[[^\[\]\n]{1,200}\]:[ ]*\S.*$", re.M)
_AUTOLINK = re.compile(r"<(https?://[^<>\s]{1,2000})>", re.I)
_ACTIVE = (
    "a|audio|base|button|embed|form|frame|iframe|image|img|input|link|meta|object|picture|script|source"
    "|style|svg|video"
)
_TAG = re.compile(rf"</?(?:{_ACTIVE})(?:[\s/][^<>]{{0,2000}})?>", re.I)
_TAG_OPEN = re.compile(rf"<(?=/?(?:{_ACTIVE})[\s/>])", re.I)


def plain(text: str, limit: int) -> str:
    """Return at most `limit` characters of text without invisible characters and active markup.

    Paragraphs stay.
    """
    text = _SPACES.sub(" ", _BREAKS.sub("\n", text[: 4 * limit + 1000]))
    text = unicodedata.normalize("NFC", _visible(text))
    text = _MD_DEFINITION.sub("", text)
    # Twice: an image may be the text of a link.
    text = _MD_LINK.sub(r"\g<text>", _MD_LINK.sub(r"\g<text>", text))
    text = _TAG.sub("", _AUTOLINK.sub(r"\1", text))
    # Removals may have joined pieces to new markup. A space breaks it, without another pass.
    text = _TAG_OPEN.sub("< ", text).replace("](", "] (").replace("![", "! [")
    lines = [re.sub(" {2,}", " ", line).strip() for line in text.split("\n")]
    return clip(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip(), limit)


def one_line(text: str, limit: int = 200) -> str:
    """Return plain text on one line."""
    return clip(" ".join(plain(text, 4 * limit).split()), limit)


def verbatim(text: str, limit: int) -> str:
    """Return at most `limit` characters of code, unchanged except for invisible characters."""
    text = _visible(_BREAKS.sub("\n", text[:limit]))
    return re.sub(r"\A(?:[^\S\n]*\n)+", "", text).rstrip()


def _visible(text: str) -> str:
    return _JOINER.sub("", _INVISIBLE.sub("", text))


_ADDRESS = re.compile(r"\b(?:https?|ftp|data|javascript):\S+|\bwww\.\S+", re.I)
_FOOTNOTE = re.compile(r"\s*[\[【]\s*\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*[\]】]")


def inert(text: str) -> str:
    """Return web text without addresses and without the marks of its own footnotes.

    A mark such as [2] would read as a citation of the answer that quotes the text.
    """
    return _FOOTNOTE.sub("", _ADDRESS.sub("", text))
