from __future__ import annotations

import asyncio
import os
import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.web.folder import Folder
from ragweave.corpora.web.plain import one_line, plain
from ragweave.corpora.web.search import search
from ragweave.corpora.web.types import WebPage
from ragweave.models.errors import InputError, WebError


@dataclass
class Engine:
    """Gives the same results to every query and keeps what it was asked."""

    found: list[WebPage]
    name: str = "engine"
    brings_text: bool = True
    wait: float = 0.0
    asked: list[tuple[str, int]] = field(default_factory=list)

    async def search(self, query: str, k: int) -> list[WebPage]:
        self.asked.append((query, k))
        await asyncio.sleep(self.wait)
        return self.found


def page(url: str, title: str = "T", text: str = "Built in 1827.", snippet: str = "s") -> WebPage:
    return WebPage(url, title, text, snippet, "2024-01-01T00:00:00+00:00")


async def test_no_more_than_k_pages_and_no_double_are_returned_in_the_order_of_the_results() -> None:
    engine = Engine([page(f"https://a.example/{i // 2}#{i}", f"Page {i // 2}") for i in range(12)])
    result = await search(engine, "lighthouse " * 500, 3)
    assert [(p.url, p.title) for p in result.pages] == [
        (f"https://a.example/{n}", f"Page {n}") for n in range(3)
    ]
    assert (result.provider, result.notes) == ("engine", [])
    ((sent, n),) = engine.asked
    assert len(sent) <= 400 and n == 6


async def test_what_a_provider_brings_is_made_plain_and_a_snippet_stands_in_for_text() -> None:
    text = "A cape\u202e on [Rügen](https://evil.example). ![p](https://evil.example/p.png)"
    rows = [
        page("https://a.example/", "T [x](http://evil.example)", text),
        page("https://b.example/", text=""),
    ]
    found = (await search(Engine([*rows, page("https://c.example/", text="", snippet="")]), "x", 5)).pages
    assert [(p.title, p.text) for p in found] == [("T x", "A cape on Rügen. p"), ("T", "s")]


async def test_a_result_without_an_address_of_the_web_is_left_out_and_the_folder_alone_gives_files() -> None:
    odd = [
        "javascript:alert(1)",
        "ftp://a.example/",
        "nonsense",
        "http://a.example/\nx",
        "https://",
        "data:text/html,x",
    ]
    found = [*map(page, odd), page("file:///etc/passwd", "File"), page("https://a.example/", "Good")]
    for provider, titles in (("searx", ["Good"]), ("folder", ["File", "Good"])):
        assert [p.title for p in (await search(Engine(found, provider), "x", 10)).pages] == titles


async def test_nothing_found_is_a_note_and_a_provider_that_hangs_an_error() -> None:
    result = await search(Engine([]), "lighthouse", 5)
    assert (result.pages, result.notes) == ([], ["The web search (engine) found nothing for “lighthouse”."])
    with pytest.raises(WebError, match=r"did not answer within 0\.1 s"):
        await search(Engine([], wait=30), "x", 1, timeout=0.1)


@pytest.mark.parametrize(("query", "k"), [("", 5), (" \u200b\n", 5), ("x", 0), ("x", 21)])
async def test_a_query_or_count_that_makes_no_sense_is_refused(query: str, k: int) -> None:
    engine = Engine([])
    with pytest.raises(InputError):
        await search(engine, query, k)
    assert engine.asked == []


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "web"
    (folder / "sub").mkdir(parents=True)
    (folder / "arkona.html").write_text(
        "<html><head><title>Kap Arkona</title><link rel='canonical'"
        " href='https://de.example/arkona#x'></head><body><article><p>The lighthouse of Kap Arkona was built"
        " in 1827.</p><p>It is a museum.</p></article></body>"
    )
    (folder / "sub" / "hiddensee.md").write_text(
        "---\ntitle: Dornbusch light\nsource: https://en.wikipedia.example/wiki/Dornbusch\n---\n"
        "The lighthouse on Hiddensee was built in 1888. ![x](https://evil.example/p.png)\n"
    )
    (folder / "warnemuende.txt").write_text("Warnemünde\n\nThe lighthouse of Warnemünde opened in 1898.\n")
    (folder / "bread.txt").write_text("Bread\n\nBread is baked from flour, water and salt.\n")
    (folder / "zh.txt").write_text("知识图谱\n\n知识图谱是一种表示实体之间关系的方法。")
    return folder


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("When was the lighthouse on Hiddensee built?", ["Dornbusch light", "Kap Arkona", "Warnemünde"]),
        ("什么是知识图谱", ["知识图谱"]),
        ("?!", []),
        ("quantum chromodynamics", []),
    ],
)
async def test_pages_are_ranked_by_the_rare_words_of_the_query(
    query: str, titles: list[str], pages: Path
) -> None:
    assert [page.title for page in await Folder(pages).search(query, 5)] == titles


async def test_a_page_brings_its_text_snippet_time_and_the_address_that_it_gives(pages: Path) -> None:
    os.utime(pages / "arkona.html", (1_700_000_000, 1_700_000_000))
    (found,) = await Folder(pages).search("Arkona 1827", 1)
    assert (found.url, found.fetched) == ("https://de.example/arkona", "2023-11-14T22:13:20+00:00")
    assert found.text.startswith("The lighthouse of Kap Arkona") and "1827" in found.snippet
    (markdown,) = await Folder(pages).search("Hiddensee", 1)
    assert markdown.url == "https://en.wikipedia.example/wiki/Dornbusch"
    assert "evil.example" not in markdown.text and "---" not in markdown.text


@pytest.mark.parametrize(
    "address", ["http://10.0.0.1/", "javascript:alert(1)", "file:///etc/passwd", "nonsense", ""]
)
async def test_an_address_that_is_none_of_the_web_is_not_taken_from_a_page(pages: Path, address: str) -> None:
    (pages / "odd.md").write_text(f"---\nurl: {address}\n---\nA zeppelin over the bay.\n")
    (found,) = await Folder(pages).search("zeppelin", 1)
    assert found.url == (pages / "odd.md").as_uri()


async def test_a_changed_added_or_removed_page_counts_at_the_next_search(pages: Path) -> None:
    folder = Folder(pages)
    for text, found in ((None, 0), ("A zeppelin landed.", 1), ("A balloon landed there.", 0), (None, 0)):
        (pages / "new.txt").write_text(text) if text else (pages / "new.txt").unlink(missing_ok=True)
        assert len(await folder.search("zeppelin", 3)) == found


async def test_links_hidden_files_and_other_types_are_left_out(pages: Path, tmp_path: Path) -> None:
    (tmp_path / "aside").mkdir()
    (tmp_path / "aside" / "more.txt").write_text("zeppelin")
    (pages / "link.txt").symlink_to(tmp_path / "aside" / "more.txt")
    (pages / "folder").symlink_to(tmp_path / "aside")
    (pages / ".git").mkdir()
    for name in (".git/note.txt", ".hidden.txt", "data.bin"):
        (pages / name).write_text("zeppelin")
    (pages / "empty.txt").write_text("")
    (pages / "broken.html").write_bytes(b"\x00\xff<html>")
    assert await Folder(pages).search("zeppelin", 5) == []
    with pytest.raises(WebError, match=r"is not there\. Set RAGWEAVE_WEB_FOLDER"):
        await Folder(tmp_path / "none").search("x", 1)


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
