"""Plain text: paragraphs, sure headings, and every encoding that can be told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragweave.corpora.formats.text import blocks, parse
from ragweave.models.errors import SourceError


def shapes(text: str) -> list[tuple[str, int, str]]:
    return [(b.kind, b.level, b.text) for b in blocks(text)]


def test_wrapped_lines_are_joined_and_short_lines_kept() -> None:
    wrapped = "The tide rises at the old pier every morning and it\nthen falls before the church bell rings\nout."
    assert shapes(wrapped) == [("text", 0, wrapped.replace("\n", " "))]
    verse = "Roses are red\nviolets are blue\nsugar is sweet"
    assert shapes(verse) == [("text", 0, verse)]


def test_lines_that_end_though_the_next_word_would_fit_are_entries() -> None:
    entries = "Ada Brook, cello: 0331 9021, lives at Seestrasse 40\nDr Bo Lund, vet: 0331 5577\n"
    entries += "Neighbour Ilse Marwen, first floor: has our spare key, waters plants\nFontane School, office: 0331 2000"
    assert shapes(entries) == [("text", 0, entries)]


def test_a_list_whose_lines_mostly_end_early_is_one_and_so_are_the_days_of_a_log() -> None:
    entries = "Ada Brook, cello    0331 9021, only in the evening\nVet   0331 5577\n"
    entries += "Plumber, Tomasz Rehn   0331 8080, on weekends too\nSchool   0331 2000\nDoctor   0331 4000"
    assert shapes(entries) == [("text", 0, entries)]
    log = "2025-01-09  new door for the mill\n2025-02-14  service, 350 euros"
    assert shapes(log) == [("list", 0, log)]


def test_headings_of_manual_pages_stand_in_capitals_over_a_text_that_is_moved_in() -> None:
    page = "EXIT STATUS\n       0 if all was well.\n\nNOTHING\nfollows here."
    assert shapes(page) == [
        ("heading", 2, "EXIT STATUS"),
        ("text", 0, "0 if all was well."),
        ("text", 0, "NOTHING\nfollows here."),
    ]


def test_a_first_line_in_capitals_is_the_title(tmp_path: Path) -> None:
    file = tmp_path / "changes.txt"
    file.write_text(
        "GANNET G-15 - CHANGES (bulletins)\nKeep with the manual.\n\nSOME WORDS\nof a text.\n", encoding="utf-8"
    )
    assert parse(file).title == "GANNET G-15 - CHANGES (bulletins)"
    assert shapes(file.read_text(encoding="utf-8"))[1:] == [
        ("text", 0, "Keep with the manual."),
        ("text", 0, "SOME WORDS\nof a text."),
    ]
    assert [b[0] for b in shapes("OPEN THE DOOR NOW!\nIt said.")] == ["text"]
    assert shapes("TIDES AND WINDS\n---------------\nText here.")[0] == ("heading", 2, "TIDES AND WINDS")


def test_underlined_lines_are_headings() -> None:
    assert shapes("Tides\n=====\n\nText here.\n\nNeap\n----\nMore.") == [
        ("heading", 1, "Tides"),
        ("text", 0, "Text here."),
        ("heading", 2, "Neap"),
        ("text", 0, "More."),
    ]


def test_rules_of_signs_are_left_out_and_lines_between_two_of_them_are_headings() -> None:
    assert shapes("=====\nTides\n=====\n\n-----\nText here.\n\n*****\n") == [
        ("heading", 1, "Tides"),
        ("text", 0, "Text here."),
    ]


def test_numbered_headings_count_when_text_follows_them() -> None:
    found = shapes("1. Introduction\n\nIt begins here.\n\n1.1 Scope\n\nAll of it.\n\n2. Method\n\nWe measured.")
    assert [(k, n) for k, n, _ in found] == [
        ("heading", 1),
        ("text", 0),
        ("heading", 2),
        ("text", 0),
        ("heading", 1),
        ("text", 0),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "1. Buy milk\n\n2. Buy bread\n\n3. Go home",
        "1. Introduction\n\nOnly one such line.",
        "1.5 kilometres to the harbour.\n\nx\n\n2.5 kilometres to the pier.\n\ny",
        "----------\n\nJust a rule above.",
    ],
)
def test_what_may_not_be_a_heading_stays_text(text: str) -> None:
    assert all(kind != "heading" for kind, _, _ in shapes(text))


def test_lists_keep_their_lines_and_line_numbers() -> None:
    (found,) = blocks("- milk\n- bread\n- tea")
    assert (found.kind, found.text) == ("list", "- milk\n- bread\n- tea")
    assert [s.line for s in found.spans] == [1, 2, 3]


def test_a_span_of_every_line_points_at_its_words() -> None:
    text = "\n\nfirst line of a paragraph that is wrapped here because\nit is long enough to be\n\nsecond\n"
    lines = text.split("\n")
    for b in blocks(text):
        for s in b.spans:
            assert b.text[s.start : s.end] == lines[s.line - 1]


GERMAN = (
    "Die Flut steigt an der alten Mühle und fällt vor Mittag wieder; das wissen die Fischer. Größe, Höhe, Übung." * 3
)
CHINESE = "潮汐是海水的周期性涨落现象，主要由月球和太阳的引力引起。古代的渔民早已知道这一规律。" * 5
JAPANESE = "潮汐は海面の周期的な昇降であり、主に月と太陽の引力によって起こる。漁師たちは昔からこれを知っていた。" * 5


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", GERMAN),
        ("utf-8-sig", GERMAN),
        ("utf-16", GERMAN),
        ("utf-16-le", GERMAN),
        ("utf-16-be", GERMAN),
        ("utf-32", GERMAN),
        ("latin-1", GERMAN),
        ("cp1252", GERMAN),
        ("gb18030", CHINESE),
        ("big5", "潮汐是海水的週期性漲落現象，主要由月球和太陽的引力引起。古代的漁民早已知道這一規律。" * 5),
        ("shift_jis", JAPANESE),
        ("euc_jp", JAPANESE),
        ("utf-16", CHINESE),
        ("koi8-r", "Прилив поднимается у старого причала утром и снова спадает перед полуднем, рыбаки это знают." * 5),
    ],
)
def test_text_is_read_in_its_encoding(write: Callable[[str, bytes], Path], encoding: str, text: str) -> None:
    parsed = parse(write("a.txt", text.encode(encoding)))
    assert "".join(b.text for b in parsed.blocks) == text


def test_a_few_broken_bytes_do_not_turn_utf_8_into_something_else(write: Callable[[str, bytes], Path]) -> None:
    data = (GERMAN * 3).encode("utf-8")
    parsed = parse(write("a.txt", data[:100] + b"\xff\xfe" + data[100:]))
    assert "Mühle" in parsed.blocks[0].text and "Größe" in parsed.blocks[0].text


@pytest.mark.parametrize("data", [b"\x00\x01\x02" * 500, bytes(range(256)) * 20, b"\x7fELF" + b"\x00\x01" * 300])
def test_binary_bytes_are_refused_with_a_sentence(write: Callable[[str, bytes], Path], data: bytes) -> None:
    with pytest.raises(SourceError, match=r"a\.txt does not hold text"):
        parse(write("a.txt", data))


def test_a_stray_zero_byte_is_damage_and_not_a_reason_to_refuse(write: Callable[[str, bytes], Path]) -> None:
    assert parse(write("a.txt", b"The tide\0 rises.")).blocks[0].text == "The tide rises."


def test_windows_and_old_mac_line_ends_count_as_lines(write: Callable[[str, bytes], Path]) -> None:
    parsed = parse(write("a.txt", b"one\r\n\r\ntwo\r\rthree"))
    assert [(b.text, b.line) for b in parsed.blocks] == [("one", 1), ("two", 3), ("three", 5)]
