from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.web.clean import decode

RUSSIAN = "Привет, мир"
JAPANESE = "こんにちは世界"
CASES = {
    "honest utf-8": ("naïve".encode(), "utf-8", "naïve"),
    "honest latin": ("naïve".encode("latin-1"), "iso-8859-1", "naïve"),
    "honest cyrillic": (RUSSIAN.encode("cp1251"), "windows-1251", RUSSIAN),
    "honest koi8": (RUSSIAN.encode("koi8-r"), "KOI8-R", RUSSIAN),
    "honest japanese": (JAPANESE.encode("shift_jis"), "Shift_JIS", JAPANESE),
    "honest jis": (JAPANESE.encode("iso2022_jp"), "iso-2022-jp", JAPANESE),
    "honest chinese": ("知识图谱".encode("gb18030"), "gb2312", "知识图谱"),
    "honest utf-16": (RUSSIAN.encode("utf-16-le"), "utf-16le", RUSSIAN),
    "utf-8 called latin": ("naïve café".encode(), "iso-8859-1", "naïve café"),
    "utf-8 called cyrillic": (RUSSIAN.encode(), "windows-1251", RUSSIAN),
    "latin called utf-8": ("naïve café".encode("latin-1"), "utf-8", "naïve café"),
    "quotes called ascii": ("“quoted”".encode("cp1252"), "us-ascii", "“quoted”"),
    "mark against the header": (codecs.BOM_UTF8 + "naïve".encode(), "windows-1251", "naïve"),
    "utf-16 mark": (RUSSIAN.encode("utf-16"), "utf-8", RUSSIAN),
    "utf-32 mark": (RUSSIAN.encode("utf-32"), "", RUSSIAN),
    "meta only": (
        b"<meta charset='windows-1251'>" + RUSSIAN.encode("cp1251"),
        "",
        "<meta charset='windows-1251'>" + RUSSIAN,
    ),
    "nothing said": ("naïve".encode("latin-1"), "", "naïve"),
    "no charset at all": (b"plain", "nonsense-7", "plain"),
    "no codec of pages": (b"plain +AGE-", "utf-7", "plain +AGE-"),
}


@pytest.mark.parametrize(("data", "declared", "text"), CASES.values(), ids=CASES)
def test_a_page_is_decoded_whatever_it_says_of_itself(data: bytes, declared: str, text: str) -> None:
    assert decode(data, declared) == text


@pytest.mark.parametrize(
    "label", ["utf-7", "idna", "punycode", "unicode_escape", "zlib", "rot13", "base64", "", "a\0b", "é"]
)
def test_what_is_no_charset_of_pages_is_passed_over(label: str) -> None:
    assert decode(b"plain +AGE-", label) == "plain +AGE-"
    assert decode("naïve".encode("cp1252"), label) == "naïve"


@given(st.binary(max_size=200), st.sampled_from(["", "utf-8", "utf-16", "shift_jis", "gb18030", "iso-2022-jp", "x"]))
def test_any_bytes_become_text(data: bytes, declared: str) -> None:
    assert isinstance(decode(data, declared), str)


@given(st.text(st.characters(codec="utf-8"), max_size=80), st.sampled_from(["", "utf-8", "latin-1", "cp1251"]))
def test_utf8_is_never_mistaken(text: str, declared: str) -> None:
    data = text.encode()
    if not data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE)):
        assert decode(data, declared) == text
