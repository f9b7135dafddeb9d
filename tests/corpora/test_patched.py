"""Texts that are UTF-8 in part, or not what they are declared to be."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.decode import as_declared, decode

A = Path("a.txt")
FERRY = "Die Fähre fährt früh, der Käpt’n heißt Jörg."


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Der Kapitän heißt Jörg Müller. ÜBERSICHT »ÄÖÜ«"),
        ("cp1251", "Причал был перестроен в 1998 году капитаном порта."),
        ("gbk", "码头于1998年重建。联通公司负责。"),
        ("cp932", "桟橋は1998年に再建されました。港の事務所"),
        ("cp874", "ท่าเรือถูกสร้างขึ้นใหม่ในปี 1998 โดยนายท่า"),
    ],
)
def test_a_file_that_was_joined_of_two_encodings_is_read_line_by_line(encoding: str, text: str) -> None:
    joined = f"{text}\n{FERRY}\n".encode() + text.encode(encoding)
    assert decode(joined, A) == f"{text}\n{FERRY}\n{text}"


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("ü", b"\xfc", FERRY),
        ("’", b"\x92", FERRY),
        ("ä", b"\xc3", FERRY.replace("ä", "\ufffd")),
        ("’", b"\xe2\x80", FERRY.replace("’", "\ufffd")),
    ],
)
def test_a_broken_character_leaves_the_others_as_they_are(old: str, new: bytes, text: str) -> None:
    assert decode(FERRY.encode().replace(old.encode(), new), A) == text


@pytest.mark.parametrize("charset", ["iso-8859-1", "windows-1252", "us-ascii", "gb2312", "koi8-r"])
def test_what_is_utf_8_is_so_whatever_it_is_declared_to_be(charset: str) -> None:
    assert as_declared(FERRY.encode(), charset) is None
    assert decode(FERRY.encode(), A) == FERRY


@pytest.mark.parametrize(("charset", "text"), [("gbk", "联通"), ("cp1252", "CAFÉ»"), ("koi8-r", "Причал")])
def test_a_declaration_counts_where_the_bytes_bear_it_out(charset: str, text: str) -> None:
    assert as_declared(text.encode(charset), charset) == text


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("iso2022_jp", "桟橋は1998年に再建"), ("iso2022_kr", "부두는 1998년에 다시 지어졌다")],
)
def test_iso_2022_is_told_by_its_escapes(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding), A) == text
    assert as_declared(text.encode(encoding), "us-ascii") is None


def test_colours_of_a_terminal_are_no_encoding() -> None:
    assert decode(b"\x1b[31mred\x1b[0m\x1b(B and plain", A) == "\x1b[31mred\x1b[0m\x1b(B and plain"


@given(
    st.text(alphabet=st.characters(exclude_characters="\0\r", exclude_categories=("Cc", "Cs")), min_size=20)
)
def test_valid_utf_8_is_read_as_it_is(text: str) -> None:
    assert decode(f"plain words first: {text} end".encode(), A) == f"plain words first: {text} end"
