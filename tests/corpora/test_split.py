"""Paragraphs, documents and chunks: nothing lost, sizes kept, every place right."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import openpyxl
from hypothesis import given, settings
from hypothesis import strategies as st

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.chunks import Chunk, best_chunks
from ragweave.corpora.formats import parse
from ragweave.corpora.parts import PARTS, chunk_ranges, columns, compose, part
from ragweave.corpora.pieces import size
from ragweave.corpora.split import DOCUMENT_WORDS, PARAGRAPH_WORDS
from ragweave.corpora.store.prepared import chunks
from ragweave.corpora.types import Item, Span, whole_of
from ragweave.models.chat_reply import tokens_of
from ragweave.tests.support.items import documents, paragraphs

SENTENCE = "The tide rises at the old pier and falls again before noon. "
WORDS = st.sampled_from(
    ["ab" * 30, *"tide Moon 3.14 e.g. pier. Really? 知识图谱 潮汐。 don't — x มหาสมุทร \U0001f30a".split()]
)
PROSE = st.lists(WORDS, min_size=1, max_size=400).map(" ".join)
ANY = st.one_of(PROSE, st.text(min_size=1, max_size=3000))


@st.composite
def blocks(draw: st.DrawFn) -> tuple[Block, ...]:
    out = []
    for line in range(1, draw(st.integers(1, 12)) + 1):
        kind = draw(st.sampled_from(["heading", "text", "text", "list", "code"]))
        if kind == "heading":
            out.append(Block(draw(PROSE)[:60], "heading", draw(st.integers(1, 6)), line))
        else:
            text = draw(ANY) if kind == "text" else "\n".join(draw(st.lists(ANY, min_size=1, max_size=5)))
            out.append(Block(text, kind, line=line))
    return tuple(out)


def squeezed(text: str) -> str:
    return "".join(text.split())


@settings(max_examples=120, deadline=None)
@given(blocks())
def test_paragraphs_and_documents_lose_nothing_but_white_space(found: tuple[Block, ...]) -> None:
    parsed = Parsed("T", found)
    items = paragraphs("s", "/f.md", parsed)
    everything = squeezed("".join(b.text for b in found))
    body = squeezed("".join(i.text for i in items))
    headings = squeezed("".join(h for i in items for h in i.heading))
    assert squeezed("".join(d.text for d in documents("s", "/f.md", parsed))) == everything
    kept = [squeezed(b.text) for b in found if b.kind != "heading"]
    assert all(k in body for k in kept)
    assert all(squeezed(b.text) in headings or squeezed(b.text) in body for b in found if b.kind == "heading")


@settings(max_examples=120, deadline=None)
@given(blocks())
def test_items_keep_within_their_sizes_and_spans_within_their_items(found: tuple[Block, ...]) -> None:
    parsed = Parsed("T", found)
    items = paragraphs("s", "/f.md", parsed)
    long = documents("s", "/f.md", parsed)
    for i in items:
        assert 0 < size(i.text) <= PARAGRAPH_WORDS
    for d in long:
        assert size(d.text) <= DOCUMENT_WORDS + sum(size(b.text) for b in found if b.kind == "heading")
    for i in [*items, *long]:
        assert i.spans and all(0 <= s.start < s.end <= len(i.text) for s in i.spans)
        assert all(a.end <= b.start for a, b in pairwise(i.spans))
        for s in i.spans:
            source = next(b for b in found if b.line == s.line)
            assert i.text[s.start : s.end] in source.text


@settings(max_examples=120, deadline=None)
@given(ANY, st.integers(1, 300))
def test_chunks_cover_a_text_in_order_within_the_limit(text: str, limit: int) -> None:
    item = Item("i", "document", "s", "T", text, {"kind": "heading", "file": "/f.md"})
    ranges = chunks(item, limit)
    assert squeezed("".join(text[a:b] for a, b in ranges)) == squeezed(text)
    assert all(a[1] <= b[0] for a, b in pairwise(ranges))
    assert all(size(text[a:b]) <= max(limit, 1) or b - a == 1 for a, b in ranges)


def test_short_neighbours_under_one_heading_are_merged_and_long_paragraphs_cut_at_sentence_ends() -> None:
    parsed = Parsed(
        "T",
        (*[Block(SENTENCE * 2, "text", line=n) for n in range(1, 7)], Block(SENTENCE * 40, "text", line=9)),
    )
    items = paragraphs("s", "/f.md", parsed)
    assert [n for i in items if not 100 <= (n := size(i.text)) <= 200] == []
    assert all(i.text.rstrip().endswith(".") for i in items)


def sections(*lines: str) -> Parsed:
    """Return a block a line, headings as in Markdown."""
    levels = [len(line) - len(line.lstrip("#")) for line in lines]
    return Parsed(
        "T",
        tuple(
            Block(line.lstrip("# "), "heading" if level else "text", level, n)
            for n, (line, level) in enumerate(zip(lines, levels, strict=True), 1)
        ),
    )


def test_no_paragraph_goes_across_a_heading_each_keeps_its_path_and_an_empty_heading_is_text() -> None:
    lines = (
        "before",
        "# A",
        "in a",
        "## A1",
        "in a1",
        "#### A1x",
        "in a1x",
        "# B",
        "## Empty",
        "## Full",
        "x",
        "### Last",
    )
    items = paragraphs("s", "/f.md", sections(*lines))
    assert [(i.heading, i.text) for i in items] == [
        ((), "before"),
        (("A",), "in a"),
        (("A", "A1"), "in a1"),
        (("A", "A1", "A1x"), "in a1x"),
        (("B",), "Empty"),
        (("B", "Full"), "x\n\nLast"),
    ]
    assert items[2].locator == {"kind": "heading", "file": "/f.md", "heading": ["A", "A1"], "line": 5}


def test_an_introduction_stays_with_the_list_it_introduces() -> None:
    found = (
        Block(SENTENCE * 10, "text", line=1),
        Block("These three ships carried the mail to the island in those years:", "text", line=3),
        Block("\n".join(f"- ship number {n} of the old line" for n in range(12)), "list", line=5),
    )
    items = paragraphs("s", "/f.md", Parsed("T", found))
    assert [i.text.startswith("These three") for i in items] == [False, True]


def test_a_long_table_repeats_its_header_and_opens_at_its_own_rows() -> None:
    rows = ["place | height | day", *(f"harbour {n} | {n}.5 m | day {n}" for n in range(150))]
    spans, at = [], 0
    for n, row in enumerate(rows):
        spans.append(Span(at, at + len(row), 10 + n))
        at += len(row) + 1
    items = paragraphs(
        "s", "/f.md", Parsed("T", (Block("\n".join(rows), "table", 1, 10, spans=tuple(spans)),))
    )
    assert len(items) > 3
    assert all(i.text.startswith("place | height | day\nharbour") for i in items)
    found = [line for i in items for line in i.text.split("\n")[1:]]
    assert found == rows[1:]
    second = items[1]
    assert rows[second.locator["line"] - 10] == second.text.split("\n")[1]


def test_chinese_is_counted_by_characters_and_cut_at_its_sentence_ends() -> None:
    text = "天文学是研究宇宙空间天体和宇宙结构的学科。" * 60
    items = paragraphs("s", "/f.md", Parsed("T", (Block(text, "text", line=1),)))
    assert all(150 <= len(i.text) <= 340 and i.text.endswith("。") for i in items)


def test_a_file_that_fits_is_one_document() -> None:
    parsed = Parsed("T", (Block("A", "heading", 1, 1), Block(SENTENCE * 60, "text", line=2)))
    (document,) = documents("s", "/f.md", parsed)
    assert document.text == f"A\n\n{(SENTENCE * 60).strip()}"
    assert document.heading == ("A",) and document.locator["line"] == 1
    assert "paragraph" not in document.meta


def test_a_document_of_one_paragraph_is_named_after_it() -> None:
    parsed = Parsed("T", (Block("A", "heading", 1, 1), Block(SENTENCE, "text", line=2)))
    (paragraph,), (document,) = paragraphs("s", "/f.md", parsed), documents("s", "/f.md", parsed)
    assert (document.id, document.meta["paragraph"]) == (whole_of(paragraph.id), paragraph.id)


def test_a_long_file_becomes_documents_that_open_at_sections() -> None:
    found = [
        b
        for n in range(12)
        for b in (
            Block(f"Chapter {n}", "heading", 1, n * 9 + 1),
            Block(SENTENCE * 80, "text", line=n * 9 + 3),
        )
    ]
    parsed = Parsed("T", tuple(found))
    items = paragraphs("s", "/f.md", parsed)
    found_documents = documents("s", "/f.md", parsed)
    assert 3 <= len(found_documents) <= 6
    assert all(d.text.startswith("Chapter") and size(d.text) <= DOCUMENT_WORDS for d in found_documents)
    said = "\n\n".join(d.text for d in found_documents)
    assert re.findall(r"Chapter \d+", said) == [f"Chapter {n}" for n in range(12)]
    assert said.count(SENTENCE.strip()) == sum(i.text.count(SENTENCE.strip()) for i in items) == 12 * 80


def test_ids_depend_on_source_corpus_position_and_text_alone() -> None:
    parsed = Parsed("T", (Block("Same words.", "text", line=1),))
    first = paragraphs("s", "/a.md", parsed)[0]
    assert first.id == paragraphs("s", "/moved/b.md", Parsed("Other", parsed.blocks))[0].id
    assert first.id != paragraphs("t", "/a.md", parsed)[0].id
    assert first.id != documents("s", "/a.md", parsed)[0].id
    twice = paragraphs(
        "s",
        "/a.md",
        Parsed("T", (Block("H", "heading", 1), *parsed.blocks, Block("I", "heading", 1), *parsed.blocks)),
    )
    assert len({i.id for i in twice}) == 2


def test_a_page_locator_boxes_what_lies_on_its_first_page() -> None:
    text = "first line second line third line"
    spans = (
        Span(0, 10, 0, 2, (10, 90, 50, 99)),
        Span(11, 22, 0, 2, (10, 80, 60, 89)),
        Span(23, 33, 0, 3, (10, 700, 40, 709)),
    )
    item = paragraphs(
        "s", "/a.pdf", Parsed("T", (Block(text, "text", page=2, bbox=(10, 80, 60, 99), spans=spans),))
    )[0]
    assert item.locator == {"kind": "page", "file": "/a.pdf", "page": 2, "bbox": [10, 80, 60, 99]}
    assert item.locate(23, 33)["page"] == 3
    assert item.locate(12, 15)["bbox"] == [10, 80, 60, 89]


def test_every_sheet_of_a_workbook_is_a_document_so_that_its_rows_are_cited_with_it(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    for n, sheet in enumerate((made.active, made.create_sheet("Fees"))):
        sheet.append(["Name", "Fee"])
        for row in range(80):
            sheet.append([f"Person {row}", 1000 * n + row])
    made.active.title = "Members"
    made.save(tmp_path / "a.xlsx")
    parsed = parse(tmp_path / "a.xlsx", "xlsx")
    first, second = documents("s", "/a.xlsx", parsed)
    assert (first.heading, second.heading) == (("Members",), ("Fees",))
    assert {i.meta["part"] for i in paragraphs("s", "/a.xlsx", parsed)} == {
        first.meta["part"],
        second.meta["part"],
    }
    at = second.text.index("Person 75")
    told = second.locate(at, at + 9)
    assert (told["heading"], told["line"]) == (["Fees"], 77)
    for item in paragraphs("s", "/a.xlsx", parsed):
        own, other = (first, second) if item.meta["part"] == first.meta["part"] else (second, first)
        last = item.text.rpartition("\n")[2]
        assert last in own.text and last not in other.text


ONE, TWO, THREE = (
    Chunk(n, "talk", clips, "word " * 100) for n, clips in (("1", ("a", "b")), ("2", ("c",)), ("3", ()))
)


def test_a_chunk_stands_where_its_best_clip_stands_and_once() -> None:
    assert best_chunks([ONE, TWO, THREE], ["c", "b", "a", "elsewhere"], 10_000) == [TWO, ONE]


def test_the_first_chunks_that_fit_are_taken_and_no_smaller_one_behind_them() -> None:
    size = tokens_of(ONE.text)
    small = Chunk("4", "talk", ("d",), "word")
    assert best_chunks([ONE, TWO, small], ["a", "c", "d"], size + 1) == [ONE]
    assert best_chunks([ONE, TWO], ["a", "c"], size - 1) == []


texts = st.dictionaries(st.sampled_from(PARTS), st.text(max_size=60))


def item(parts, title="", heading=(), name="") -> Item:
    text, ranges = compose(parts)
    return Item(
        "i", "image", "s", title, text, {"kind": "image"}, heading, meta={"parts": ranges, "name": name}
    )


def test_parts_stand_in_their_order_and_can_be_told_apart():
    made = item({"around": "It stands at the pier.", "caption": "Figure 1: the mole", "words": "MOLE 1"})
    assert made.text == "Figure 1: the mole\n\nMOLE 1\n\nIt stands at the pier."
    assert [part(made, name) for name in PARTS] == [
        "Figure 1: the mole",
        "",
        "",
        "MOLE 1",
        "It stands at the pier.",
    ]


@given(texts)
def test_every_range_holds_its_part_and_chunks_never_leave_the_text(parts):
    made = item(parts)
    for name, (start, end) in made.meta["parts"].items():
        assert made.text[start:end] == parts[name].strip()
    for start, end in chunks(made, 300):
        assert 0 <= start <= end <= len(made.text)


def test_the_caption_weighs_most_then_the_name_then_words_and_surroundings():
    made = item(
        {"caption": "mole", "alt": "pier", "words": "W", "around": "A"}, "Harbours", ("Brest",), "grand mole"
    )
    assert columns(made) == ("mole\npier", "Brest\nHarbours\ngrand mole", "W\nA")


def test_what_was_written_the_words_and_the_surroundings_are_embedded_apart():
    made = item({"caption": "mole", "alt": "pier", "words": "W", "around": "A"})
    assert [made.text[a:b] for a, b in chunk_ranges(made, [(0, 99)])] == ["mole\n\npier", "W", "A"]
