from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.web.plain import one_line, plain

CASES = {
    "zero width": ("pass\u200bword\ufeff x\u2060y", "password xy"),
    "invisible marks": ("hy\u00adphen\U000e0041 a\ufe0f\U000e0101b", "hyphen ab"),
    "bidi overrides": ("user\u202etxt.exe\u202c \u2066a\u2069", "usertxt.exe a"),
    "control characters": ("a\x00b\x1b[31mc\x07", "ab[31mc"),
    "private use and surrogates": ("a\ue000b\ud800c", "abc"),
    "line ends": ("a\r\nb\rc\u2028d\u2029e", "a\nb\nc\nd\ne"),
    "joiner in Persian stays": ("می\u200cخواهم", "می\u200cخواهم"),
    "joiner in Latin goes": ("ig\u200cnore", "ignore"),
    "image": ("see ![chart](https://evil.example/p.png?d=secret) here", "see chart here"),
    "link": ("read [the page](https://a.example/x_(y)) now", "read the page now"),
    "image in a link": ("[![alt](https://a.example/i.png)](https://b.example)", "alt"),
    "reference link": ("see [the page][1] now\n[1]: https://evil.example/?q=x", "see the page now"),
    "html link": ('a <a href="javascript:alert(1)">click</a> b', "a click b"),
    "script": ("a <script>alert(1)</script> b", "a alert(1) b"),
    "nested tag": ("<im<img>g src=x>", "< img src=x>"),
    "nested link": ("[a]([b](c)(https://x.example)", "[a] (b(https://x.example)"),
    "comparison stays": ("if a < b and c > d", "if a < b and c > d"),
    "footnote stays": ("born 1879.[1] Died 1955.[2]", "born 1879.[1] Died 1955.[2]"),
}


@pytest.mark.parametrize(("given_text", "expected"), CASES.values(), ids=CASES)
def test_text_becomes_plain(given_text: str, expected: str) -> None:
    assert plain(given_text, 1000) == expected


PIECES = [*"<>![]()/a\n\u200b", "img", " src=x", "script", "https://e.example", ": "]


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_no_order_of_pieces_leaves_an_image_a_link_or_a_tag(pieces: list[str]) -> None:
    found = plain("".join(pieces), 1000)
    assert "![" not in found and "](" not in found
    assert not re.search(r"<(?=/?(?:img|script|a)[\s/>])", found, re.I)


@given(st.text(max_size=300))
def test_what_is_left_is_visible_and_stays_the_same_when_made_plain_again(text: str) -> None:
    found = plain(text, 1000)
    assert all(unicodedata.category(c) not in ("Cc", "Co", "Cs") for c in found if c != "\n")
    assert not set(found) & set("\u200b\u200e\u200f\u202a\u202e\u2066\u2069\ufeff\u00ad")
    assert plain(found, 1000) == found


@pytest.mark.parametrize("piece", ["[", "](", "![", "<a ", "[x](", "<a<", "[a](b", "((((", "[x]: ", "\u200c"])
def test_hostile_repetition_is_read_in_reasonable_steps(piece: str) -> None:
    assert len(plain(piece * 40_000, 20_000)) <= 20_000


def test_one_line_has_no_line_breaks_and_an_end() -> None:
    assert one_line("  A\n title\tof\r\n[many](x) lines ") == "A title of many lines"
    assert len(one_line("x" * 500)) == 200
    assert one_line("word " * 10_000, 203).endswith("word…")
