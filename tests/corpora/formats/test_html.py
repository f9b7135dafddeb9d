"""HTML: the content, without what stands around it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ragweave.corpora.formats.html import parse

PAGE = """<!DOCTYPE html>
<html lang="de-AT"><head><title>Gezeiten | Hafenamt</title>
<meta name="author" content="R. Marsh"><meta property="article:published_time" content="2022-03-04T05:06:07Z">
<style>p { color: red }</style><script>var tide = "script words";</script></head>
<body>
<header><a href="/">Hafenamt</a> <a href="/a">Start</a></header>
<nav><ul><li><a href="/1">Menu one</a></li><li><a href="/2">Menu two</a></li></ul></nav>
<main>
<h1>Gezeiten <a class="headerlink" href="#x">¶</a></h1>
<p>Die Flut <b>steigt</b> am
alten Pier, und sie f&auml;llt wieder.<br>Neue Zeile.</p>
<ul><li>eins</li><li>zwei
<ol><li>innen</li></ol></li></ul>
<h2>Tabelle</h2>
<table><tr><th>Ort</th><th>Höhe</th></tr><tr><td>Fundy</td><td>16 m</td></tr></table>
<pre><code>print(1)
  print(2)</code></pre>
<p style="display:none">hidden words</p><p hidden>hidden words</p><div aria-hidden="true">hidden words</div>
<img src="x.png" alt="Ein Diagramm der Flut">
<aside>See <a href="/x">side words</a></aside>
</main>
<div class="cookie-banner">cookie words</div>
<footer>footer words</footer>
</body></html>"""


def test_the_main_content_is_read_with_its_structure_and_lines(write: Callable[[str, str], Path]) -> None:
    parsed = parse(write("a.html", PAGE))
    assert (parsed.title, parsed.author, parsed.language) == ("Gezeiten", "R. Marsh", "de")
    assert parsed.date is not None and parsed.date.isoformat() == "2022-03-04T05:06:07+00:00"
    assert [(b.kind, b.level, b.text, b.line) for b in parsed.blocks] == [
        ("heading", 1, "Gezeiten", 9),
        ("text", 0, "Die Flut steigt am alten Pier, und sie fällt wieder.\nNeue Zeile.", 10),
        ("list", 0, "- eins\n- zwei\n  1. innen", 12),
        ("heading", 2, "Tabelle", 14),
        ("table", 1, "Ort | Höhe\nFundy | 16 m", 15),
        ("code", 0, "print(1)\n  print(2)", 16),
        ("text", 0, "Ein Diagramm der Flut", 19),
    ]


def test_without_a_marked_main_part_lists_of_links_are_left_out(write: Callable[[str, str], Path]) -> None:
    links = "".join(f'<li><a href="/{n}">Section number {n}</a></li>' for n in range(8))
    body = f"<html><body><div><ul>{links}</ul></div><p>The tide is high at noon.</p></body></html>"
    parsed = parse(write("a.html", body))
    assert [b.text for b in parsed.blocks] == ["The tide is high at noon."]


def test_a_page_of_links_alone_is_still_read(write: Callable[[str, str], Path]) -> None:
    links = "".join(f'<li><a href="/{n}">Bookmark {n}</a></li>' for n in range(4))
    parsed = parse(write("a.html", f"<html><body><ul>{links}</ul></body></html>"))
    assert parsed.blocks[0].text == "- Bookmark 0\n- Bookmark 1\n- Bookmark 2\n- Bookmark 3"


def test_words_across_inline_tags_are_not_glued_or_torn(write: Callable[[str, str], Path]) -> None:
    parsed = parse(
        write("a.html", "<p>H<sub>2</sub>O and<b> salt</b>,\n<i>sea</i>water<a\nhref='x'>s</a></p><p>next</p>")
    )
    assert [b.text for b in parsed.blocks] == ["H2O and salt, seawaters", "next"]


def test_a_layout_table_is_read_as_paragraphs(write: Callable[[str, str], Path]) -> None:
    cell = "<p>" + "A long paragraph of ordinary words. " * 30 + "</p>"
    parsed = parse(
        write(
            "a.html", f"<html><body><table><tr><td><h2>Head</h2>{cell}</td><td>{cell}</td></tr></table></body></html>"
        )
    )
    assert [b.kind for b in parsed.blocks] == ["heading", "text", "text"]


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [("latin-1", "iso-8859-1"), ("utf-8", "utf-8"), ("cp1252", ""), ("utf-16", ""), ("utf-8", "no-such-charset")],
)
def test_the_encoding_is_the_declared_one_or_told(
    write: Callable[[str, bytes], Path], encoding: str, declared: str
) -> None:
    meta = f'<meta charset="{declared}">' if declared else ""
    words = "Die Mühle an der Küste hört das Meer, und die Fischer größerer Boote grüßen. " * 4
    parsed = parse(write("a.html", f"<html><head>{meta}</head><body><p>{words}</p></body></html>".encode(encoding)))
    assert parsed.blocks[0].text == words.strip()


@pytest.mark.parametrize("pad", ["", " "])
def test_a_page_that_is_read_byte_by_byte_is_not_utf_16_whatever_it_declares(
    write: Callable[[str, bytes], Path], pad: str
) -> None:
    page = f'<html><head><meta charset="utf-16"></head><body><p>The rent is 900 €.</p></body></html>{pad}'
    assert parse(write("a.html", page.encode())).blocks[0].text == "The rent is 900 €."


def test_external_entities_are_not_read(write: Callable[[str, str], Path], tmp_path: Path) -> None:
    write("secret.txt", "hunter2")
    entity = f'<!DOCTYPE html [<!ENTITY x SYSTEM "file://{tmp_path}/secret.txt">]>'
    body = f"{entity}<html><body><p>tide &x; end</p></body></html>"
    assert "hunter2" not in " ".join(b.text for b in parse(write("a.html", body)).blocks)


@pytest.mark.parametrize("unit", ["<div>", "<ul><li>", "<table><tr><td>", "<b>", "<blockquote>", "<span><p>"])
def test_deep_nesting_is_read_or_said(write: Callable[[str, str], Path], unit: str) -> None:
    parsed = parse(write("a.html", f"<html><body><p>first words</p>{unit * 5000}deep words"))
    text = " ".join(b.text for b in parsed.blocks)
    assert "first words" in text
    assert "deep words" in text or "nested too deeply" in parsed.warnings[0]


@pytest.mark.parametrize(
    ("head", "url"),
    [
        ('<link rel="canonical" href=" https://a.example/x ">', "https://a.example/x"),
        ('<meta property="og:url" content="https://b.example">', "https://b.example"),
        ("", ""),
    ],
)
def test_a_saved_page_gives_its_own_address(write: Callable[[str, str], Path], head: str, url: str) -> None:
    page = f"<html><head>{head}</head><body><p>The tide rises.</p></body></html>"
    assert parse(write("a.html", page)).url == url


@pytest.mark.parametrize(
    ("aside", "kept"),
    [
        ("<aside>Nob means Norbert.</aside>", True),
        ('<aside epub:type="footnote" id="n1"><a href="https://a.example/nob">On Nob, 1921</a></aside>', True),
        ('<aside role="doc-footnote"><p>Nob means Norbert.</p></aside>', True),
        ('<aside class="note">Nob means Norbert.</aside>', True),
        ('<aside>See also <a href="/a">Gates of the old town</a> <a href="/b">Walls</a></aside>', False),
        ('<aside class="sidebar">Sign up today.</aside>', False),
        ('<aside role="complementary">Sign up today.</aside>', False),
    ],
)
def test_an_aside_is_read_unless_it_leads_elsewhere(write: Callable[[str, str], Path], aside: str, kept: bool) -> None:
    page = f"<html><body><h1>Gates</h1><p>The gate keeper of the town is Old Nob.</p>{aside}</body></html>"
    assert len(parse(write("a.html", page)).blocks) == (3 if kept else 2)


def test_deleted_words_are_left_out_where_others_stand(write: Callable[[str, str], Path]) -> None:
    page = "<body><h1>Prices</h1><p>It costs <del>180</del> <ins>150</ins> euros, <s>paid\nin coins</s> or less.</p>"
    page += "<div>New: <del><p>Deleted words.</p>tail</del></div><p>The <strike>old</strike> lamp.</p></body>"
    found = parse(write("a.html", page)).blocks
    texts = ["Prices", "It costs 150 euros, or less.", "New:", "Deleted words.", "tail", "The lamp."]
    assert [b.text for b in found] == texts
    assert found[-1].line == 2


def test_words_that_are_deleted_twice_keep_their_order(write: Callable[[str, str], Path]) -> None:
    page = "<p><del>Bring <s>two</s> lamps</del></p><p>The <del>old <s>red</s></del> lamp.</p>"
    found = parse(write("a.html", f"<body><h1>Notes</h1>{page}</body>")).blocks
    assert [b.text for b in found] == ["Notes", "Bring two lamps", "The lamp."]


MANY = {
    '<img src="a.png" alt="a gull"> ': "a gull",
    "a good deal of words <i>is told</i> ": "a good deal of words is told",
    "not <del>this</del> but ": "not but",
}


@pytest.mark.parametrize(("part", "text"), MANY.items(), ids=["pictures", "words", "deleted"])
def test_a_paragraph_of_many_elements_takes_a_time_that_grows_with_them(
    write: Callable[[str, str], Path], part: str, text: str
) -> None:
    path = write("a.html", f"<html><body><p>{part * 80_000}</p></body></html>")
    began = time.process_time()
    (block,) = parse(path).blocks
    assert time.process_time() - began < 6  # a tenth of that where nothing else runs; it was up to 180
    assert block.text == " ".join([text] * 80_000)
