"""Bytes to text: byte order mark, ISO-2022, UTF-8, UTF-16 by its zero bytes, then by the letters.

Bytes that are valid UTF-8 are UTF-8, whatever they are declared to be: other encodings hardly ever look like
it. A file of which a part is UTF-8 and the rest is not, as after a careless join, is read line by line, each
as what it is.
"""

from __future__ import annotations

import codecs
from pathlib import Path

from ragweave.corpora.encodings import told
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
"""One zero byte in this many is damage to a text; more of them make it binary."""
_WIDE = ("utf-8", "utf-16", "utf-32", "utf-7", "iso2022")
"""Encodings that a declaration is believed of."""
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
"""East Asian characters of two bytes that may by chance be valid UTF-8."""
_DETECT = 256 * 1024
"""Bytes shown to the detector; its cost grows with them and its answer no longer changes."""


def encoding_of(data: bytes) -> str:
    """Return the encoding of a text, or "" when the bytes are not text.

    The first kilobytes of a file do: a character cut at the end does not matter.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    zeros = data.count(0)
    if zeros and (wide := _utf16_without_mark(data)):
        return wide
    if zeros > max(1, len(data) // _STRAY):
        return ""
    if shifted := _iso_2022(data):
        return shifted
    head = data[:8192]
    if len(head) - len(head.translate(None, _CONTROL)) > len(head) * 0.02:
        return ""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data)
        # One high byte at the very end may be a character cut there, but not where it is the only one.
        return "utf-8" if data.isascii() or not text.isascii() else _detected(data)
    except UnicodeDecodeError:
        return "utf-8" if is_partly_utf8(data) else _detected(data)


def decode(data: bytes, path: Path) -> str:
    """Return the text with Unix line ends; SourceError if the bytes are not text in an encoding that can be told."""
    encoding = encoding_of(data)
    if not encoding:
        raise SourceError(f"{path.name} does not hold text", "save it as UTF-8 text, or leave it out")
    text = mixed(data) if encoding == "utf-8" else data.decode(encoding, errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def as_declared(data: bytes, charset: str) -> str | None:
    """Return the text in the encoding that it says it is in, None where it is not.

    It is not where the bytes are UTF-8, or switch between alphabets as ISO-2022 does, under another name.
    What calls itself Latin-1 or ASCII is read as windows-1252, as browsers do: its quotes and € stand in no
    other.
    """
    try:
        name = codecs.lookup(charset).name if charset else ""
        if name and not name.startswith(_WIDE) and _is_other(data, short=name in _ASIAN):
            return None
        return data.decode("cp1252" if name in ("iso8859-1", "ascii") else name) if name else None
    except (LookupError, ValueError):
        return None


def read_text(path: Path) -> str:
    """Return the text of a file, as `decode` does."""
    return decode(read_bytes(path), path)


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file; SourceError if the file has vanished or may not be read."""
    try:
        return path.read_bytes()
    except OSError as exc:
        raise unreadable(path, exc) from None


def unreadable(path: Path, error: OSError) -> SourceError:
    """Return the error of a file that the system does not let be read."""
    if isinstance(error, PermissionError):
        return SourceError(f"{path.name} may not be read", "give yourself read permission on it")
    if isinstance(error, FileNotFoundError):
        return SourceError(f"{path.name} does not exist", "check the path")
    return SourceError(
        f"{path.name} cannot be read ({error.strerror or error})", "check the disk and the path"
    )


def _utf16_without_mark(data: bytes) -> str:
    """Tell UTF-16 by where its zero bytes lie: every other byte of mostly Latin text."""
    sample = data[:8192]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = max(1, len(sample) // 2)
    for name, zeros, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if zeros > half * 0.4 and others < half * 0.05:
            text = sample[: len(sample) // 2 * 2].decode(name, errors="replace")
            if sum(c.isprintable() or c.isspace() for c in text) > len(text) * 0.95:
                return name
    return ""


def _is_other(data: bytes, short: bool) -> bool:
    """Tell whether bytes are UTF-8 or ISO-2022; `short` says that a few East Asian characters may look like UTF-8."""
    if data.isascii():
        return bool(_iso_2022(data))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    if not looks_utf8(data):
        return False
    high = [c for c in text if c > "\x7f"]
    return not short or len(high) > _FEW or any(c > "\u07ff" for c in high)


def _iso_2022(data: bytes) -> str:
    """Return the encoding of a text that escape sequences switch between alphabets, or ""."""
    if b"\x1b$" not in data and b"\x1b(" not in data:
        return ""
    for name in ("iso2022_kr",) if b"\x1b$)C" in data[:8192] else ("iso2022_jp_2", "iso2022_jp_ext"):
        try:
            text = codecs.getincrementaldecoder(name)().decode(data)
        except UnicodeDecodeError:
            continue
        return "" if text.isascii() else name
    return ""


def _detected(data: bytes) -> str:
    """Return the encoding that the letters tell, else what the detector of many scripts guesses."""
    if found := told(data):
        return found
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_DETECT]).best()
    return best.encoding if best is not None else ""
