"""Decode texts that are partly UTF-8: each line and each broken byte in its own encoding."""

from __future__ import annotations

import codecs
import re
from functools import partial

from ragweave.corpora.encodings import WESTERN, detect_encoding

_MANY = re.compile(
    rb"[\xc2-\xc5\xce-\xd1\xd7-\xd9][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}",
)
"""A UTF-8 character of a common script; those of others may be a letter and a closing quote."""
_LATIN, _OTHER = 0.05, 0.5
"""Smallest share of such characters in a partly UTF-8 text, if the rest is Latin, or of another script."""
_SINGLE = re.compile(r"cp125\d|iso8859-\d+|cp85\d|mac_roman")
_QUOTES = b"\x80\x84\x85\x91\x92\x93\x94\x95\x96\x97\x99"
"""Quotes and dashes of Windows; any other lone byte of this range is the rest of a character."""
_TIED = re.compile(rb"[\xc2-\xf4][\x80-\xbf]*\Z")
_MOST = 2**20
"""Number of bytes to count: a file does not change its encoding later."""
_ERRORS = "ragweave-patched-"


def is_partly_utf8(data: bytes) -> bool:
    """Return whether enough of the bytes above 127 are UTF-8 characters, although others are not."""
    sample = data[:_MOST]
    good = _MANY.findall(sample)
    rest = _MANY.sub(b"", sample)
    broken = len(rest) - len(rest.translate(None, bytes(range(128, 256))))
    if not good:
        return False
    if len(good) > 20 * broken:
        return True
    if _SINGLE.fullmatch(detect_encoding(rest) or WESTERN):
        return len(good) >= _LATIN * (len(good) + broken)
    return len(good) >= _OTHER * (len(good) + broken / 2)  # most characters of other scripts have two bytes


def looks_utf8(data: bytes) -> bool:
    """Return whether a text has a UTF-8 character that is unlikely in other encodings."""
    return bool(_MANY.search(data))


def mixed(data: bytes) -> str:
    """Return a text that is UTF-8 except for some of its lines, or some bytes in them."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    lines = data.split(b"\n")
    broken = [line for line in lines if not _is_utf8(line)]
    encoding = detect_encoding(b"\n".join(broken)) or WESTERN
    errors = f"{_ERRORS}{encoding}"
    codecs.register_error(errors, partial(_read_as, encoding))
    single = _SINGLE.fullmatch(encoding)
    texts: list[str] = []
    for line in lines:
        if _is_utf8(line) or (single and _MANY.search(line)):
            texts.append(line.decode("utf-8", errors))
        else:
            texts.append(line.decode(encoding, "replace"))
    return "\n".join(texts)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _read_as(encoding: str, error: UnicodeError) -> tuple[str, int]:
    """Decode a broken byte in another encoding; the rest of a cut character becomes U+FFFD."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    broken = error.object[error.start : error.end]
    around = error.object[max(0, error.start - 1) : error.end + 1]
    text = broken.decode(encoding, "replace")
    if len(broken) > 1 or broken >= b"\xfe" or (broken < b"\xa0" and broken not in _QUOTES):
        text = "\ufffd"
    elif broken < b"\xc0" and _TIED.search(error.object[max(0, error.start - 4) : error.start]):
        text = "\ufffd"
    elif text.isupper() and re.search(rb"[a-z]", around):
        text = text if _opens_word(error.object, error.start) else "\ufffd"
    return text, error.end


def _opens_word(data: bytes, at: int) -> bool:
    """Return whether no letter is right before a byte."""
    before = data[at - 1 : at] if at else b""
    return not before.isalpha() and before < b"\x80"
