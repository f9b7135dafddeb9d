"""Bytes to text when the declared charset may be missing or wrong."""

from __future__ import annotations

import codecs
import re

_KNOWN = frozenset(
    """utf-8 utf-16 utf-16-le utf-16-be utf-32 utf-32-le utf-32-be cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256
    cp1257 cp1258 cp866 cp874 cp932 cp949 big5hkscs gb18030 euc_jp iso2022_jp koi8-r koi8-u mac-roman iso8859-2
    iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-10 iso8859-13 iso8859-14 iso8859-15
    iso8859-16""".split()
)
"""Codecs of the web. Others that Python knows (utf-7, idna, punycode, unicode_escape) are no charsets of pages."""

_WIDER = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs",
}  # fmt: skip
"""The larger charset that browsers use for a label (WHATWG Encoding, section 4.2)."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META = re.compile(rb"<meta[^>]{1,300}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.I)


def known(label: str) -> str:
    """Return the codec for a charset label, or "" where it is none of the web's."""
    try:
        name = codecs.lookup(label.strip()).name
    except (LookupError, ValueError):
        return ""
    name = _WIDER.get(name, name)
    return name if name in _KNOWN else ""


def decode(data: bytes, declared: str = "") -> str:
    """Decode a page.

    A byte order mark wins; then a declared charset whose bytes are no UTF-8 by nature; then UTF-8 if the bytes are
    valid, because other charsets do not look so by accident; then the declared charset and the page's own `<meta>`; at
    last windows-1252 with replacement characters.
    """
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(codec, "replace")
    header = known(declared)
    if header.startswith(("utf-16", "utf-32")):
        return data.decode(header, "replace")
    meta = _META.search(data[:4096])
    page = known(meta.group(1).decode("ascii")) if meta else ""
    escaped = "iso2022_jp" if "iso2022_jp" in (header, page) and b"\x1b" in data else ""
    for codec in (escaped, "utf-8", header, page):
        if codec:
            try:
                return data.decode(codec)
            except UnicodeDecodeError:
                continue
    return data.decode("cp1252", "replace")
