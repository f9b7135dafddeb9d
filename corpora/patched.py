"""Texts that are UTF-8 in part: each line, and each broken byte, is read as what it is."""

from __future__ import annotations

import codecs
import re
from functools import partial

from ragweave.corpora.encodings import WESTERN, told

_MANY = re.compile(
    rb"[\xc2-\xc5\xce-\xd1\xd7-\xd9][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}",
)
"""Bytes that form a character of UTF-8, of a script that many write: others may be a letter and a closing quote."""
_LATIN, _OTHER = 0.05, 0.5
"""Share of such characters from which a text is UTF-8 in part, where the rest is Latin or of another script."""
_SINGLE = re.compile(r"cp125\d|iso8859-\d+|cp85\d|mac_roman")
_QUOTES = b"\x80\x84\x85\x91\x92\x93\x94\x95\x96\x97\x99"
"""Signs that Windows sets for quotes and dashes; a lone byte of this range else is the rest of a character."""
_TIED = re.compile(rb"[\xc2-\xf4][\x80-\xbf]*\Z")
_MOST = 2**20
"""Bytes that are counted: a file does not change its encoding so late."""
_ERRORS = "ragweave-patched-"


def is_partly_utf8(data: bytes) -> bool:
    """Tell whether enough of the bytes above 127 form characters of UTF-8, though others do not."""
    sample = data[:_MOST]
    good = _MANY.findall(sample)
    rest = _MANY.sub(b"", sample)
    broken = len(rest) - len(rest.translate(None, bytes(range(128, 256))))
    if not good:
        return False
    if len(good) > 20 * broken:
        return True
    if _SINGLE.fullmatch(told(rest) or WESTERN):
        return len(good) >= _LATIN * (len(good) + broken)
    return len(good) >= _OTHER * (len(good) + broken / 2)  # of other scripts a character is mostly two bytes


def looks_utf8(data: bytes) -> bool:
    """Tell whether a character of UTF-8 is in a text that is no likely sight in another encoding."""
    return bool(_MANY.search(data))


def mixed(data: bytes) -> str:
    """Return a text that is UTF-8 but for some of its lines, or some bytes in them."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    lines = data.split(b"\n")
    valid = [_is_utf8(line) for line in lines]
    encoding = told(b"\n".join(line for line, good in zip(lines, valid, strict=True) if not good)) or WESTERN
    errors = f"{_ERRORS}{encoding}"
    codecs.register_error(errors, partial(_read_as, encoding))
    single = _SINGLE.fullmatch(encoding)
    texts = []
    for line, good in zip(lines, valid, strict=True):
        whole = not good and not (single and _MANY.search(line))
        texts.append(line.decode(encoding, "replace") if whole else line.decode("utf-8", errors))
    return "\n".join(texts)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _read_as(encoding: str, error: UnicodeError) -> tuple[str, int]:
    """Return what a broken byte is in another encoding; the rest of a character that was cut is no letter."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    broken = error.object[error.start : error.end]
    around = error.object[max(0, error.start - 1) : error.end + 1]
    text = broken.decode(encoding, "replace")
    if len(broken) > 1 or broken >= b"\xfe" or (broken < b"\xa0" and broken not in _QUOTES):
        text = "\ufffd"
    elif broken < b"\xc0" and _TIED.search(error.object[max(0, error.start - 4) : error.start]):
        text = "\ufffd"
    elif text.isupper() and any(chr(b).islower() for b in around if b < 128):
        text = text if _opens_word(error.object, error.start) else "\ufffd"
    return text, error.end


def _opens_word(data: bytes, at: int) -> bool:
    before = data[at - 1 : at] if at else b""
    return not before.isalpha() and before < b"\x80"
