"""Item lists: items of any corpus by their text alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.formats import parse
from ragweave.corpora.formats.items import MAX_META, states_items
from ragweave.corpora.formats.probe import probe
from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.rows import pack, unpack
from ragweave.corpora.types import Item
from ragweave.models.errors import SourceError

PARAGRAPH = {"kind": "paragraph", "text": "The pump is in the cellar."}
CLIP = {"kind": "clip", "transcript": "Now we bleed the radiator.", "file": "rec/tour.mp4", "start": 61.5, "end": 118}


def write(path: Path, *rows: dict[str, Any] | str) -> Path:
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows), encoding="utf-8")
    return path


def test_a_list_is_told_by_its_first_row(tmp_path: Path) -> None:
    assert probe(write(tmp_path / "a.jsonl", PARAGRAPH)) == probe(write(tmp_path / "e.jsonl", CLIP)) == "items"
    assert probe(write(tmp_path / "b.jsonl", {"kind": "video", "n": 1})) == "json", "no text, so it is some log"
    assert probe(write(tmp_path / "c.jsonl", {"kind": "row", "text": "x"})) == "json"
    assert probe(write(tmp_path / "d.json", json.dumps([PARAGRAPH]))) == "json"


def test_every_kind_keeps_its_text_and_opens_in_its_own_way(tmp_path: Path) -> None:
    path = write(
        tmp_path / "list.jsonl",
        {**PARAGRAPH, "title": "House", "heading": ["Heating"], "date": "2024-05-31", "language": "en-GB", "id": "p1"},
        {"kind": "document", "text": "All about the house.", "file": "house.pdf", "page": 3},
        {"kind": "image", "caption": "A red valve", "ocr": "CLOSE", "file": "valve.jpg", "meta": {"camera": "x"}},
        CLIP,
        {"kind": "video", "transcript": "The whole tour.", "file": "rec/tour.mp4"},
    )
    tour = {"file": str(tmp_path / "rec/tour.mp4"), "beside": "rec/tour.mp4"}
    paragraph, document, image, clip, video = parse(path, "items").records
    assert (paragraph.title, paragraph.language, paragraph.meta) == ("House", "en", {"key": "p1"})
    assert paragraph.date is not None and paragraph.date.year == 2024
    assert paragraph.locator == {"file": str(path), "line": 1, "kind": "heading", "heading": ["Heating"]}
    assert document.locator == {
        "file": str(tmp_path / "house.pdf"),
        "beside": "house.pdf",
        "kind": "page",
        "page": 3,
    }
    assert (image.text, image.title, image.meta) == ("A red valve\n\nCLOSE", "valve.jpg", {"camera": "x"})
    assert image.locator == {"file": str(tmp_path / "valve.jpg"), "beside": "valve.jpg", "kind": "image"}
    assert clip.locator == {**tour, "kind": "time", "start": 61.5, "end": 118}
    assert video.locator == {**tour, "kind": "time", "start": 0.0}


async def test_what_a_row_notes_is_not_taken_for_what_we_note_of_pictures_and_recordings(
    home: Path, tmp_path: Path
) -> None:
    odd = {
        "frames": [0, 15, 30],
        "duration": "1:30",
        "confidence": "high",
        "parts": {"author": "me"},
        "picture": True,
        "also": 5,
        "mine": 1,
    }
    rows = [{"kind": "image", "caption": f"A {color} boat", "meta": odd} for color in ("red", "green")]
    rows += [{**CLIP, "transcript": "A boat left.", "meta": odd}]
    (tmp_path / "docs").mkdir()
    write(tmp_path / "docs" / "list.jsonl", *rows)
    assert (await index([tmp_path / "docs"])).items == 3
    library = await open_library()
    for corpus, found in (("image", 2), ("clip", 1)):
        [lists] = await library.search(corpus, ["boat"])
        held = await replace(library, start=65.0, end=100.0).items([h.id for h in lists.lexical])
        assert [i.meta["own_frames"] for i in held.values()] == [[0, 15, 30]] * found
        assert {i.meta["mine"] for i in held.values()} == {1}


@pytest.mark.parametrize("noted", [[0, 15, 30], [["x", "y"]], "x", [[1]], {"0": 1}])
def test_frames_that_are_none_in_an_older_catalog_are_no_frames(noted: object) -> None:
    item = Item("i", "clip", "s", "T", "A boat.", {"kind": "time", "start": 0.0, "end": 9.0}, meta={"frames": noted})
    assert item.frames == [] and item.between(2.0, 4.0) is not None and "image" not in item.during(2.0, 4.0)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("{", "not JSON"),
        ("[1]", "valid dictionary"),
        ({"text": "x"}, "kind"),
        ({**PARAGRAPH, "kind": "table"}, "kind"),
        ({"kind": "image", "file": "a.jpg"}, "no text"),
        ({"kind": "image", "caption": "   "}, "no text"),
        ({**PARAGRAPH, "text": 7}, "text"),
        ({**PARAGRAPH, "caption_": "x"}, "caption_"),
        ({**PARAGRAPH, "start": 1}, "belong to clips"),
        ({"kind": "clip", "text": "x", "start": 1}, "needs start and end"),
        ({**CLIP, "end": 61.5}, "after its start"),
        ({**CLIP, "start": -1}, "start"),
        ({**CLIP, "start": "1"}, "start"),
        ('{"kind": "clip", "text": "x", "start": NaN, "end": 2}', "NaN"),
        ({**PARAGRAPH, "date": "yesterday"}, "ISO date"),
        ({**CLIP, "file": "/etc/passwd"}, "in the folder of the list"),
        ({**CLIP, "file": "../../secret.mp4"}, "in the folder of the list"),
        ({**CLIP, "file": "c:\\x.mp4"}, "in the folder of the list"),
        ({**CLIP, "file": "http://x/y.mp4"}, "in the folder of the list"),
        ({**PARAGRAPH, "page": 0}, "page"),
        ({**PARAGRAPH, "id": "first"}, "earlier line"),
        ({**PARAGRAPH, "meta": {"a": "x" * MAX_META}}, "bytes"),
        ('{"kind": "paragraph", "text": "x", "meta": {"a": "\\ud800"}}', "surrogates"),
        ('{"kind": "paragraph", "text": "x", "meta": {"a": [1e999]}}', "not JSON compliant"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_and_the_others_count(tmp_path: Path, row: Any, why: str) -> None:
    parsed = parse(write(tmp_path / "l.jsonl", {**PARAGRAPH, "id": "first"}, row, CLIP), "items")
    assert [r.corpus for r in parsed.records] == ["paragraph", "clip"]
    assert (
        len(parsed.warnings) == 1 and parsed.warnings[0].startswith("line 2 was left out") and why in parsed.warnings[0]
    )


def test_a_list_without_one_usable_row_is_refused_with_the_first_reason(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"line 1 .*clip needs start and end"):
        parse(write(tmp_path / "l.jsonl", {"kind": "clip", "text": "x"}), "items")


def test_many_bad_rows_are_counted_after_the_first_ten(tmp_path: Path) -> None:
    parsed = parse(write(tmp_path / "l.jsonl", PARAGRAPH, *["{"] * 30), "items")
    assert len(parsed.warnings) == 11 and parsed.warnings[-1] == "20 more lines were left out"


_json = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
_field = st.sampled_from("kind text caption file start end date heading id meta page language title".split())


@given(st.lists(st.dictionaries(_field, _json), max_size=4))
def test_no_row_however_strange_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, rows: Any) -> None:
    path = write(tmp_path_factory.mktemp("x") / "l.jsonl", PARAGRAPH, *rows)
    found = parse(path, "items")
    assert len(found.records) + sum(w.startswith("line") for w in found.warnings) == len(rows) + 1


@pytest.mark.parametrize("line", ['{"kind":"clip","text":"x"}', '{"ocr": "x", "kind": "image"}'])
def test_the_order_of_fields_does_not_matter(line: str) -> None:
    assert states_items(line)


async def test_an_indexed_list_fills_every_corpus_and_is_searched_by_its_text(home: Path, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    write(
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


async def test_a_citation_opens_the_file_that_the_list_names_also_after_the_folder_was_moved(
    home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    (folder / "a").mkdir(parents=True)
    write(folder / "a" / "list.jsonl", CLIP, PARAGRAPH)
    await index([folder], "mixed")
    (folder / "a").rename(folder / "b")
    await index([folder], "mixed")
    library = await open_library("mixed")
    (clip,), (paragraph,) = await library.search("clip", ["radiator"]), await library.search("paragraph", ["pump"])
    items = await library.items([clip.dense[0].id, paragraph.dense[0].id])
    files = {i.corpus: i.locator["file"] for i in items.values()}
    assert files == {"clip": str(folder / "b/rec/tour.mp4"), "paragraph": str(folder / "b/list.jsonl")}


@pytest.mark.parametrize("beside", ["../x", "/etc/passwd", "a/../../x", "c:x", "a\\b"])
def test_a_stored_path_that_leads_elsewhere_is_not_followed(beside: str) -> None:
    row = pack(Item("1", "clip", "s", "t", "x", {"file": "", "beside": beside, "kind": "time"}))
    assert unpack(row, "/lists/a.jsonl").locator["file"] == "/lists/a.jsonl"
