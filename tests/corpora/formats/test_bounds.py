"""Limits of the readers of texts, what stays quick, and properties of them all."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragweave.corpora.formats import mbox, merged, parse
from ragweave.corpora.formats.markdown import content
from ragweave.corpora.formats.merged import MergedTable
from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.rows import pack, unpack
from ragweave.corpora.types import Item

Write = Callable[..., Path]


def test_a_cell_past_the_limit_of_the_parser_is_read(write: Write) -> None:
    parsed = parse(write("a.csv", "name,size\n" + "x" * 200_000 + ",1\nb,2\n"), "csv")
    assert (
        parsed.blocks[0].text.split("\n")[1:] == ["x" * 200_000 + " | 1", "b | 2"] and parsed.warnings == ()
    )


def test_open_quotes_in_every_other_line_are_read_in_bounded_work(write: Write) -> None:
    found = parse(write("a.csv", "a,b,c\n" + '1,"x,2\n3,y""z,4\n' * 60_000), "csv")
    assert found.blocks and len(found.warnings) <= 10


MANY = {
    '<img src="a.png" alt="a gull"> ': "a gull",
    "a good deal of words <i>is told</i> ": "a good deal of words is told",
    "not <del>this</del> but ": "not but",
}


@pytest.mark.parametrize("unit", ["<div>", "<ul><li>", "<table><tr><td>", "<b>", "<blockquote>", "<span><p>"])
def test_deep_nesting_is_read_or_said(write: Write, unit: str) -> None:
    parsed = parse(write("a.html", f"<html><body><p>first words</p>{unit * 5000}deep words"), "html")
    text = " ".join(b.text for b in parsed.blocks)
    assert "first words" in text
    assert "deep words" in text or "nested too deeply" in parsed.warnings[0]


@pytest.mark.parametrize(("part", "text"), MANY.items(), ids=["pictures", "words", "deleted"])
def test_a_paragraph_of_many_elements_takes_a_time_that_grows_with_them(
    write: Write, part: str, text: str
) -> None:
    path = write("a.html", f"<html><body><p>{part * 80_000}</p></body></html>")
    began = time.process_time()
    (block,) = parse(path, "html").blocks
    assert time.process_time() - began < 6  # a tenth of that where nothing else runs; it was up to 180
    assert block.text == " ".join([text] * 80_000)


def mail(subject: str = "Tides") -> EmailMessage:
    made = EmailMessage()
    made["Subject"], made["From"] = subject, "Anna <anna@home.example>"
    made.set_content("Look.")
    return made


def test_of_very_many_parts_the_rest_is_told(write: Write) -> None:
    notes = "".join(f"--XX\nContent-Type: text/plain\n\nNote {n}.\n\n" for n in range(600))
    head = "From: a@b.c\nSubject: Parts\nContent-Type: multipart/mixed; boundary=XX\n\n"
    parsed = parse(write("a.eml", f"{head}{notes}--XX--\n"), "eml")
    assert "only the first 500 parts" in parsed.warnings[0]


def test_mailboxes_are_bounded_and_what_was_left_out_is_told(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mbox, "MAX_MAILS", 40)
    made = mail()
    made.add_attachment(b"\x89PNG\r\n\x1a\n" + bytes(50), maintype="image", subtype="png", filename="p.png")
    box = b"".join(b"From x@y.z Mon Jan  1 10:00:00 2024\n" + bytes(made) + b"\n" for _ in range(50))
    parsed = parse(write("box.mbox", box), "mbox")
    assert sum(b.kind == "heading" for b in parsed.blocks) == 40
    assert parsed.warnings[0] == "only the first 40 of 50 mails were read"
    assert parsed.warnings[-1] == "21 more parts and attachments were not read" and len(parsed.warnings) == 21


NUMBERS = [
    "41.50 EUR",
    "€ 41.50",
    "CHF 1'200.50",
    "12 %",
    "−5",
    "-3.5 °C",
    "(1,200)",
    "9 months",
    "78.-",
    "1 200,5 kg",
]


TEXTS = ["first", "20:00 to 7:00", "60–85", "3 of 4", "E11 b", "2025-06-29", "1,2,3", "(5", "€ 5 €"]


@pytest.mark.parametrize(("cell", "again"), [*((n, "") for n in NUMBERS), *((t, t) for t in TEXTS)])
def test_a_cell_that_spans_rows_is_said_again_unless_it_is_a_number(cell: str, again: str) -> None:
    table = MergedTable()
    table.row([("Name", 1, 1), ("Paid", 1, 1)], every=True)
    assert table.row([("Ada", 1, 1), (cell, 2, 1)], every=True) == ["Ada", cell]
    assert table.row([("Ben", 1, 1)], every=True) == ["Ben", again]


def test_what_a_covered_cell_holds_of_its_own_is_kept() -> None:
    table = MergedTable()
    table.row([("A", 1, 1), ("B", 1, 1)], every=True)
    assert table.row([("Elm", 2, 2), ("kept", 1, 1)], every=True) == ["Elm", "kept"]
    assert table.row([("", 1, 1), ("here", 1, 1)], every=True) == ["Elm", "here"]


def test_a_page_of_spans_alone_stays_small(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merged, "MAX_REPEATED", 10_000)
    row = "<tr><td rowspan=500 colspan=500>tide</td><td>x</td></tr>"
    (block,) = parse(write("a.html", f"<table>{row * 1000}</table>"), "html").blocks
    assert block.text.count("\n") == 999 and len(block.text) < 40_000
    assert block.text.count("x") == 1000


def test_substitutions_cannot_make_a_text_much_longer(write: Write) -> None:
    defined = [".. |a0| replace:: " + "word " * 90]
    defined += [f".. |a{n}| replace:: " + f"|a{n - 1}| " * 10 for n in range(1, 40)]
    body = "\n".join(defined) + "\n\n" + "|a39| and |a1| " * 5_000
    assert sum(len(b.text) for b in parse(write("a.rst", body), "rst").blocks) < 6 * len(body) + 20_000


WORD = st.text(st.characters(categories=["Ll", "Lu", "Lo"]), min_size=1, max_size=8)


@pytest.mark.parametrize(
    "unit", ["> ", "- ", "  1. ", "[", "![", "*", "**a ", "`", "<a ", "<!--", "|", "\\", "&#", "](", "~~"]
)
def test_deep_or_repeated_markup_is_read_and_keeps_its_words(unit: str) -> None:
    found, _, _ = content(unit * 3000 + "harbour\n\nlast words")
    text = " ".join(b.text for b in found)
    # What opens a fence or a tag takes the rest of its line as its own name.
    assert "harbour" in text or unit in ("<!--", "<a ", "`", "~~")
    assert "last words" in text or unit in ("<!--", "`", "~~")


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["# ", "- ", "> ", "1. ", "", "", "    ", "| "]), st.lists(WORD, min_size=1)
        )
    )
)
def test_no_word_is_lost_and_every_span_points_at_its_line(drawn: list[tuple[str, list[str]]]) -> None:
    text = "\n\n".join(lead + " ".join(words) for lead, words in drawn)
    lines = text.split("\n")
    found, _, _ = content(text)
    read = "".join("".join(b.text.split()) for b in found)
    assert all(w in read for _, words in drawn for w in words)
    for b in found:
        for s in b.places():
            assert b.text[s.start : s.end].split()[-1].strip("|") in lines[s.line - 1]


PARAGRAPH = {"kind": "paragraph", "text": "The pump is in the cellar."}
CLIP = {
    "kind": "clip",
    "transcript": "Now we bleed the radiator.",
    "file": "rec/tour.mp4",
    "start": 61.5,
    "end": 118,
}


def write_list(path: Path, *rows: dict[str, Any] | str) -> Path:
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows), encoding="utf-8")
    return path


async def test_an_indexed_list_fills_every_corpus_and_is_searched_by_its_text(
    home: Path, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    write_list(
        tmp_path / "docs" / "list.jsonl",
        PARAGRAPH,
        {"kind": "image", "caption": "A red valve above the boiler"},
        CLIP,
        "broken",
    )
    report = await index([tmp_path / "docs"], "mixed")
    assert not report.failed
    library = await open_library("mixed")
    assert await library.counts() == {"paragraph": 1, "image": 1, "clip": 1}
    (lists,) = await library.search("image", ["Where is the valve?"])
    (hit,) = lists.lexical
    item = (await library.items([hit.id]))[hit.id]
    assert item.text == "A red valve above the boiler" and item.locator["kind"] == "image"
    (source,) = await library.sources()
    assert source.kind == "items" and any("line 4" in w for w in source.warnings)


@pytest.mark.parametrize("beside", ["../x", "/etc/passwd", "a/../../x", "c:x", "a\\b"])
def test_a_stored_path_that_leads_elsewhere_is_not_followed(beside: str) -> None:
    row = pack(Item("1", "clip", "s", "t", "x", {"file": "", "beside": beside, "kind": "time"}))
    assert unpack(row, "/lists/a.jsonl").locator["file"] == "/lists/a.jsonl"


@pytest.mark.parametrize("noted", [[0, 15, 30], [["x", "y"]], "x", [[1]], {"0": 1}])
def test_frames_that_are_none_in_an_older_catalog_are_no_frames(noted: object) -> None:
    item = Item(
        "i", "clip", "s", "T", "A boat.", {"kind": "time", "start": 0.0, "end": 9.0}, meta={"frames": noted}
    )
    assert item.frames == [] and item.between(2.0, 4.0) is not None and "image" not in item.during(2.0, 4.0)


_json = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


_field = st.sampled_from("kind text caption file start end date heading id meta page language title".split())


@given(st.lists(st.dictionaries(_field, _json), max_size=4))
def test_no_row_however_strange_breaks_the_reader(
    tmp_path_factory: pytest.TempPathFactory, rows: Any
) -> None:
    path = write_list(tmp_path_factory.mktemp("x") / "l.jsonl", PARAGRAPH, *rows)
    found = parse(path, "items")
    assert len(found.records) + sum(w.startswith("line") for w in found.warnings) == len(rows) + 1
