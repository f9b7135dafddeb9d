"""PDF: paragraphs, headings and boxes from lines on pages."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ragweave.corpora.formats.pdf import parse
from ragweave.models.errors import SourceError
from ragweave.tests.support.items import paragraphs

Make = Callable[..., Any]


def report(set_lines: Make, pages: int = 4) -> list[list[Any]]:
    out = []
    for n in range(1, pages + 1):
        page = [(72, 805, 9, "F1", f"Harbour Office  Report {2000 + n}"), (290, 30, 9, "F1", f"Page {n} of {pages}")]
        page += [(72, 740, 16, "F2", f"{n}. Section")]
        page += set_lines(
            [
                "The tide rises at the old pier in the morn-",
                "ing and falls before noon. It is high water",
                "again at night.",
            ],
            700,
        )
        page += set_lines(["A second paragraph stands below a gap and", "ends here."], 640)
        out.append(page)
    return out


def test_lines_become_paragraphs_and_hyphens_at_line_ends_go(write: Make, make_pdf: Make, set_lines: Make) -> None:
    parsed = parse(write("a.pdf", make_pdf(report(set_lines))))
    assert [(b.kind, b.level, b.text, b.page) for b in parsed.blocks[:3]] == [
        ("heading", 1, "1. Section", 1),
        (
            "text",
            0,
            "The tide rises at the old pier in the morning and falls before noon. It is high water again at night.",
            1,
        ),
        ("text", 0, "A second paragraph stands below a gap and ends here.", 1),
    ]
    assert len(parsed.blocks) == 12


def test_running_headers_footers_and_page_numbers_are_left_out(write: Make, make_pdf: Make, set_lines: Make) -> None:
    text = " ".join(b.text for b in parse(write("a.pdf", make_pdf(report(set_lines)))).blocks)
    assert "Harbour Office" not in text and "of 4" not in text


def test_numbers_beside_chapter_titles_are_page_numbers(write: Make, make_pdf: Make, set_lines: Make) -> None:
    pages = [
        [(72, 805, 9, "F1", f"Chapter {name}  {n}"), *set_lines([f"Body of page {name} with enough words."], 600)]
        for n, name in enumerate(["one", "two", "three", "four"], 11)
    ]
    text = " ".join(b.text for b in parse(write("a.pdf", make_pdf(pages))).blocks)
    assert "Chapter" not in text and "Body of page four" in text


def test_every_span_boxes_its_line(write: Make, make_pdf: Make, set_lines: Make) -> None:
    parsed = parse(write("a.pdf", make_pdf(report(set_lines, 1))))
    body = next(b for b in parsed.blocks if b.text.startswith("The tide"))
    assert [body.text[s.start : s.end] for s in body.spans] == [
        "The tide rises at the old pier in the morn",
        "ing and falls before noon. It is high water",
        "again at night.",
    ]
    for s, baseline in zip(body.spans, (700, 686.8, 673.6), strict=True):
        assert s.bbox is not None and s.page == 1
        left, bottom, right, top = s.bbox
        assert 70 <= left <= 76 and baseline - 4 <= bottom <= baseline + 1 and baseline + 5 <= top <= baseline + 11
        assert right > left
    item = next(i for i in paragraphs("s", "/a.pdf", parsed) if "The tide" in i.text)
    assert item.locator["page"] == 1 and item.heading == ("1. Section",)
    assert item.locate(item.text.index("again at"), len("again at night.") + item.text.index("again at"))[
        "bbox"
    ] == list(body.spans[2].bbox or ())


def test_a_compound_that_the_document_writes_with_a_hyphen_keeps_it(
    write: Make, make_pdf: Make, set_lines: Make
) -> None:
    lines = ["A well-known pier, and a well-", "known harbour, and a light-", "house on the hill."]
    parsed = parse(write("a.pdf", make_pdf([set_lines(lines, 700)])))
    assert parsed.blocks[0].text == "A well-known pier, and a well-known harbour, and a lighthouse on the hill."


def test_a_paragraph_goes_on_after_a_page_break(write: Make, make_pdf: Make, set_lines: Make) -> None:
    pages = [set_lines(["It was a long sentence that did"], 100), set_lines(["not end on its page."], 780)]
    (found,) = parse(write("a.pdf", make_pdf(pages))).blocks
    assert found.text == "It was a long sentence that did not end on its page."
    assert [s.page for s in found.spans] == [1, 2]


def test_title_author_and_date_come_from_the_metadata(write: Make, make_pdf: Make, set_lines: Make) -> None:
    info = "/Title (Tides of the North) /Author (R. Marsh) /CreationDate (D:20190203040506+01'00')"
    parsed = parse(write("a.pdf", make_pdf([set_lines(["Words on a page."], 700)], info)))
    assert (parsed.title, parsed.author) == ("Tides of the North", "R. Marsh")
    assert parsed.date is not None and parsed.date.date().isoformat() == "2019-02-03"


def test_a_file_name_left_in_the_title_gives_way_to_the_heading_on_top(
    write: Make, make_pdf: Make, set_lines: Make
) -> None:
    page = [(72, 760, 22, "F1", "Tides of the North"), *set_lines(["Words on a page, and more of them."], 700)]
    parsed = parse(write("a.pdf", make_pdf([page], "/Title (Microsoft Word - tides.doc)")))
    assert parsed.title == "Tides of the North"


def test_a_page_without_text_is_named_and_the_others_are_read(write: Make, make_pdf: Make, set_lines: Make) -> None:
    parsed = parse(write("a.pdf", make_pdf([set_lines(["Words."], 700), [], set_lines(["More."], 700)])))
    assert parsed.warnings == ("page 2 has no text (a scan?)",)
    assert [b.page for b in parsed.blocks] == [1, 3]


def test_a_password_is_said(write: Make, make_pdf: Make, set_lines: Make) -> None:
    key = "<" + "5A" * 32 + ">"
    data = make_pdf([set_lines(["Secret."], 700)], encrypt=f"/Filter /Standard /V 1 /R 2 /O {key} /U {key} /P -44")
    with pytest.raises(SourceError, match="protected by a password"):
        parse(write("a.pdf", data))


def test_a_pdf_cut_anywhere_is_read_in_part_or_refused_with_a_sentence(
    write: Make, make_pdf: Make, set_lines: Make
) -> None:
    whole = make_pdf(report(set_lines))
    for tenth in range(1, 10):
        path = write(f"{tenth}.pdf", whole[: len(whole) * tenth // 10])
        try:
            parsed = parse(path)
        except SourceError as exc:
            assert "damaged or truncated" in str(exc)
        else:
            assert all("tide" in b.text or b.kind == "heading" or "second" in b.text for b in parsed.blocks)


def test_threads_may_read_at_the_same_time(write: Make, make_pdf: Make, set_lines: Make) -> None:
    path = write("a.pdf", make_pdf(report(set_lines, 8)))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(parse, [path] * 12))
    assert all(p.blocks == found[0].blocks for p in found)


def test_the_font_size_counts_as_drawn(write: Make, make_pdf: Make, set_lines: Make, tmp_path: Path) -> None:
    data = make_pdf(
        [[(72, 740, 16, "F1", "Large heading"), *set_lines(["Small words that make up the body of it."], 700)]]
    )
    assert [b.kind for b in parse(write("a.pdf", data)).blocks] == ["heading", "text"]


def grid(rows: list[list[str]], top: float, lefts: list[int], size: int = 10, lead: int = 16) -> list[Any]:
    return [
        (left, top - n * lead, size, "F1", cell)
        for n, row in enumerate(rows)
        for left, cell in zip(lefts, row, strict=True)
        if cell
    ]


FIGURES = [["Ship", "Crew", "Load (t)"], ["Marten", "4", "1,250"], ["Petrel of Ness", "6", ""], ["Tern", "5", "980"]]


def test_cells_that_stand_under_each_other_are_a_table_with_its_heads(
    write: Make, make_pdf: Make, set_lines: Make
) -> None:
    page = [*set_lines(["The ships of the island are listed here with crew and load."], 700)]
    page += grid(FIGURES, 660, [72, 200, 300]) + set_lines(["After the table there is a line of prose again."], 560)
    before, table, after = parse(write("a.pdf", make_pdf([page]))).blocks
    assert (table.kind, table.level, table.page) == ("table", 1, 1)
    assert table.text == "Ship | Crew | Load (t)\nMarten | 4 | 1,250\nPetrel of Ness | 6 | \nTern | 5 | 980"
    assert [table.text[s.start : s.end] for s in table.spans] == table.text.split("\n")
    assert before.text.startswith("The ships") and after.text.startswith("After the table")


def test_a_cell_that_is_wrapped_stays_one(write: Make, make_pdf: Make) -> None:
    rows = [["Ship", "What became of it"], ["Marten", "sold to Ness"], ["Petrel", "sunk"], ["Tern", "broken up"]]
    page = [r for n, row in enumerate(rows) for r in grid([row], 700 - 30 * n, [72, 200])]
    page.insert(4, (200, 700 - 30 - 12, 10, "F1", "and burnt there"))
    (table,) = parse(write("a.pdf", make_pdf([page]))).blocks
    assert table.text.split("\n")[1] == "Marten | sold to Ness and burnt there"


def test_two_columns_of_prose_are_no_table(write: Make, make_pdf: Make) -> None:
    left = [
        "the tide rises at the old pier in",
        "the morning and falls again before",
        "noon comes and the boats go out",
        "to the skerries for lobster pots",
    ]
    right = [
        "after which the harbour master is",
        "seen to walk along the wall with",
        "his dog and a lamp in his hand as",
        "his father did before the war too",
    ]
    page = grid([list(pair) for pair in zip(left, right, strict=True)], 700, [72, 310], lead=13)
    assert {b.kind for b in parse(write("a.pdf", make_pdf([page]))).blocks} == {"text"}


def test_a_footer_of_two_pages_is_left_out(write: Make, make_pdf: Make, set_lines: Make) -> None:
    pages = [
        [
            *set_lines([f"Body of page {n} with enough words to be read."], 600),
            (72, 30, 9, "F1", f"Harbour Office, {n}"),
        ]
        for n in (1, 2)
    ]
    assert "Harbour Office" not in " ".join(b.text for b in parse(write("a.pdf", make_pdf(pages))).blocks)


@pytest.mark.parametrize("title", ["0000320193-23-000106", "SOP_0012-b", "20240312"])
def test_a_number_under_which_a_file_was_kept_is_no_title(
    write: Make, make_pdf: Make, set_lines: Make, title: str
) -> None:
    page = [
        (72, 740, 16, "F2", "Annual report"),
        *set_lines(["It was a good year for the harbour and its ships."], 700),
    ]
    assert parse(write("a.pdf", make_pdf([page], f"/Title ({title})"))).title == "Annual report"


def test_white_and_tiny_text_is_hidden_and_white_text_on_a_dark_ground_is_not(write: Make, make_pdf: Make) -> None:
    page = [
        (72, 700, 11, "F1", "The harbour opens at six."),
        (72, 660, 11, "F1", "Hidden white words"),
        (72, 620, 1, "F1", "Hidden tiny words"),
        (72, 580, 11, "F1", "White heads on blue"),
    ]
    data = make_pdf([page]).decode("latin-1")
    data = data.replace("BT /F1 11 Tf 72 660", "1 1 1 rg BT /F1 11 Tf 72 660", 1)
    data = data.replace("BT /F1 1 Tf 72 620", "0 0 0 rg BT /F1 1 Tf 72 620", 1)
    data = data.replace("BT /F1 11 Tf 72 580", "0 0 .6 rg 60 570 400 30 re f 1 1 1 rg BT /F1 11 Tf 72 580", 1)
    length = data[data.index("stream\n") + 7 : data.index("endstream")]
    data = data.replace(data[data.index("/Length") : data.index(" >>\nstream")], f"/Length {len(length)}", 1)
    parsed = parse(write("a.pdf", data.encode("latin-1")))
    assert " ".join(b.text for b in parsed.blocks) == "The harbour opens at six. White heads on blue"
    assert set(parsed.hidden) == {"Hidden white words", "Hidden tiny words"}


@pytest.mark.parametrize(
    ("page", "up"),
    [
        ("/MediaBox [0 0 595 842] /Rotate 90", 0),
        ("/MediaBox [0 0 595 842] /Rotate 180", 0),
        ("/MediaBox [0 0 595 842] /Rotate 270", 0),
        ("/MediaBox [0 842 595 1684]", 842),
        ("/MediaBox [0 0 595 1684] /CropBox [0 842 595 1684]", 842),
        ("/MediaBox [0 0 595 1684] /CropBox [0 842 595 1684] /Rotate 90", 842),
    ],
)
def test_a_page_that_is_turned_or_cropped_reads_as_any_other(
    write: Make, make_pdf: Make, set_lines: Make, page: str, up: int
) -> None:
    def read(up: int, page: str) -> Any:
        runs = [*set_lines(["The dam is 42 metres high.", "It was built in 1958."], 800 + up)]
        runs += [*set_lines(["Visitors may park at the gate."], 60 + up)]
        return parse(write("a.pdf", make_pdf([runs]).replace(b"/MediaBox [0 0 595 842]", page.encode())))

    plain, found = read(0, "/MediaBox [0 0 595 842]"), read(up, page)
    assert [b.text for b in found.blocks] == [b.text for b in plain.blocks] and found.hidden == ()
    for block, same in zip(found.blocks, plain.blocks, strict=True):
        assert block.bbox == pytest.approx([v + up * (n % 2) for n, v in enumerate(same.bbox or ())], abs=0.11)


def test_what_lies_outside_the_part_of_a_page_that_is_shown_is_hidden(
    write: Make, make_pdf: Make, set_lines: Make
) -> None:
    runs = [
        *set_lines(["It is 42 metres high."], 700),
        *set_lines(["Below."], 60),
        *set_lines(["Left."], 700, left=-99),
    ]
    data = make_pdf([runs]).replace(b"[0 0 595 842]", b"[0 0 595 842] /CropBox [0 421 595 842]")
    parsed = parse(write("a.pdf", data))
    assert [b.text for b in parsed.blocks] == ["It is 42 metres high."] and set(parsed.hidden) == {"Below.", "Left."}


def test_a_table_on_a_landscape_page_that_is_turned_is_a_table(write: Make, make_pdf: Make) -> None:
    data = make_pdf([grid(FIGURES, 500, [72, 300, 500])]).decode("latin-1")
    # As LaTeX writes it: upright paper, turned, and the text turned back.
    data = data.replace("stream\n", "stream\nq 0 1 -1 0 595 0 cm\n", 1).replace("endstream", "Q\nendstream", 1)
    length = data[data.index("stream\n") + 7 : data.index("endstream")]
    data = data.replace(data[data.index("/Length") : data.index(" >>\nstream")], f"/Length {len(length)}", 1)
    path = write("a.pdf", data.replace("842]", "842] /Rotate 90").encode("latin-1"))
    (table,) = parse(path).blocks
    assert table.kind == "table" and table.text.split("\n")[3] == "Tern | 5 | 980"
    left, bottom, right, top = table.bbox or (0, 0, 0, 0)
    assert 80 < left < right < 160 and 70 < bottom < top < 600
