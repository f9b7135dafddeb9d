"""Decode bytes: by byte order mark, ISO-2022, UTF-8, UTF-16 by its zero bytes, then by the letters.

Bytes that are valid UTF-8 are UTF-8, whatever encoding they declare: other encodings hardly ever look like
it. A file that is only partly UTF-8, as after a careless join, is decoded line by line.
"""

from __future__ import annotations

import codecs
from pathlib import Path

from ragweave.corpora.encodings import detect_encoding
from ragweave.corpora.patched import is_partly_utf8, looks_utf8, mixed
from ragweave.models.errors import SourceError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = bytes(set(range(1, 32)) - set(b"\t\n\r\f\x1b\x1a\x0b"))
_STRAY = 1000
"""Bytes for each zero byte of a damaged text; a file with more zero bytes is binary."""
_WIDE = ("utf-8", "utf-16", "utf-32", "utf-7", "iso2022")
"""Encodings whose declaration is trusted."""
_ASIAN = (
    "gbk",
    "gb2312",
    "gb18030",
    "big5",
    "big5hkscs",
    "shift_jis",
    "cp932",
    "euc_jp",
    "euc_kr",
    "cp949",
    "cp950",
)
_FEW = 3
"""How many East Asian characters of two bytes may by chance be valid UTF-8."""
_DETECT = 256 * 1024
"""Bytes for the detector; more of them cost time and do not change its result."""


def encoding_of(data: bytes) -> str:
    """Return the encoding of a text, or "" if the bytes are no text.

    The first kilobytes of a file are enough: a character that is cut at their end does not matter.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    zeros = data.count(0)
    wide = _utf16_without_mark(data) if zeros else ""
    if wide:
        return wide
    if zeros > max(1, len(data) // _STRAY):
        return ""
    switching = _iso_2022(data)
    if switching:
        return switching
    head = data[:8192]
    if len(head) - len(head.translate(None, _CONTROL)) > len(head) * 0.02:
        return ""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data)
        # One high byte at the very end may be a cut character, but not if it is the only high byte.
        return "utf-8" if data.isascii() or not text.isascii() else _detected(data)
    except UnicodeDecodeError:
        return "utf-8" if is_partly_utf8(data) else _detected(data)


def decode(data: bytes, path: Path) -> str:
    """Return the text with Unix line ends.

    Raises:
        SourceError: the bytes are no text in a known encoding.
    """
    encoding = encoding_of(data)
    if not encoding:
        raise SourceError(f"{path.name} does not hold text", "save it as UTF-8 text, or leave it out")
    text = mixed(data) if encoding == "utf-8" else data.decode(encoding, errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def as_declared(data: bytes, charset: str) -> str | None:
    """Return the text in its declared encoding, or None if the bytes are in another one.

    They are if they are UTF-8, or switch between alphabets as ISO-2022 does, under another name. Declared
    Latin-1 or ASCII is read as windows-1252, as browsers do, because only that has quotes and the euro sign.
    """
    try:
        name = codecs.lookup(charset).name if charset else ""
        if not name:
            return None
        if not name.startswith(_WIDE) and _is_other(data, short=name in _ASIAN):
            return None
        return data.decode("cp1252" if name in ("iso8859-1", "ascii") else name)
    except (LookupError, ValueError):
        return None


def read_text(path: Path) -> str:
    """Return the text of a file; errors are those of `decode` and `read_bytes`."""
    return decode(read_bytes(path), path)


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        SourceError: the file is gone or cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as exc:
        raise unreadable(path, exc) from None


def unreadable(path: Path, error: OSError) -> SourceError:
    """Return the error for a file that the system does not open."""
    if isinstance(error, PermissionError):
        return SourceError(f"{path.name} may not be read", "give yourself read permission on it")
    if isinstance(error, FileNotFoundError):
        return SourceError(f"{path.name} does not exist", "check the path")
    return SourceError(
        f"{path.name} cannot be read ({error.strerror or error})", "check the disk and the path"
    )


def _utf16_without_mark(data: bytes) -> str:
    """Return the kind of UTF-16, or "": in Latin text one byte of each pair is zero."""
    sample = data[:8192]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = max(1, len(sample) // 2)
    for name, zeros, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if zeros > half * 0.4 and others < half * 0.05:
            text = sample[: len(sample) // 2 * 2].decode(name, errors="replace")
            if _readable(text) > len(text) * 0.95:
                return name
    return ""


def _readable(text: str) -> int:
    """Return the number of characters that are printable or spaces."""
    count = 0
    for character in text:
        count += character.isprintable() or character.isspace()
    return count


def _is_other(data: bytes, short: bool) -> bool:
    """Return whether bytes are UTF-8 or ISO-2022; if `short`, a few East Asian characters are no proof."""
    if data.isascii():
        return bool(_iso_2022(data))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    if not looks_utf8(data):
        return False
    high = [character for character in text if character > "\x7f"]
    return not short or len(high) > _FEW or max(high) > "\u07ff"


def _iso_2022(data: bytes) -> str:
    """Return the encoding of a text whose escape sequences switch between alphabets, or ""."""
    if b"\x1b$" not in data and b"\x1b(" not in data:
        return ""
    korean = b"\x1b$)C" in data[:8192]
    names = ("iso2022_kr",) if korean else ("iso2022_jp_2", "iso2022_jp_ext")
    for name in names:
        try:
            text = codecs.getincrementaldecoder(name)().decode(data)
        except UnicodeDecodeError:
            continue
        return "" if text.isascii() else name
    return ""


def _detected(data: bytes) -> str:
    """Return the encoding by the letters of the text, or else the guess of a detector of many scripts."""
    found = detect_encoding(data)
    if found:
        return found
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_DETECT]).best()
    return best.encoding if best is not None else ""
