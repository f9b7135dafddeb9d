"""PDF: paragraphs, headings and boxes from lines on pages."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ragweave.corpora.formats.pdf import parse
from ragweave.models.errors import SourceError
from ragweave.tests.support.items import paragraphs
from ragweave.tests.support.pdfs import paragraph, pdf_bytes, placed, width

Make = Callable[..., Any]


def report(pages: int = 4) -> list[list[Any]]:
    out = []
    for n in range(1, pages + 1):
        page = [
            (72, 805, 9, "F1", f"Harbour Office  Report {2000 + n}"),
            (290, 30, 9, "F1", f"Page {n} of {pages}"),
        ]
        page += [(72, 740, 16, "F2", f"{n}. Section")]
        page += paragraph(
            [
                "The tide rises at the old pier in the morn-",
                "ing and falls before noon. It is high water",
                "again at night.",
            ],
            700,
        )
        page += paragraph(["A second paragraph stands below a gap and", "ends here."], 640)
        out.append(page)
    return out


def test_every_span_boxes_its_line(write: Make) -> None:
    parsed = parse(write("a.pdf", pdf_bytes(report(1))))
    body = next(b for b in parsed.blocks if b.text.startswith("The tide"))
    assert [body.text[s.start : s.end] for s in body.spans] == [
        "The tide rises at the old pier in the morn",
        "ing and falls before noon. It is high water",
        "again at night.",
    ]
    for s, baseline in zip(body.spans, (700, 686.8, 673.6), strict=True):
        assert s.bbox is not None and s.page == 1
        left, bottom, right, top = s.bbox
        assert (
            70 <= left <= 76
            and baseline - 4 <= bottom <= baseline + 1
            and baseline + 5 <= top <= baseline + 11
        )
        assert right > left
    item = next(i for i in paragraphs("s", "/a.pdf", parsed) if "The tide" in i.text)
    assert item.locator["page"] == 1 and item.heading == ("1. Section",)
    assert item.locate(item.text.index("again at"), len("again at night.") + item.text.index("again at"))[
        "bbox"
    ] == list(body.spans[2].bbox or ())


def test_lines_in_the_middle_over_a_table_are_its_caption_and_those_over_its_columns_are_heads(
    write: Make,
) -> None:
    caption = ["CONDENSED STATEMENTS OF OPERATIONS", "(In millions)"]
    page = [(306 - width(line, 9) / 2, 720 - 12 * n, 9, "F1", line) for n, line in enumerate(caption)]
    page.append((420, 694, 9, "F1", "Three Months Ended"))
    rows = [
        ["", "2023", "2022"],
        ["Freight", "318", "342"],
        ["Passenger", "141", "127"],
        ["Net sales", "459", "469"],
    ]
    found = parse(write("a.pdf", pdf_bytes([page + placed(rows, 680, (72, 400, 520), size=9)]))).blocks
    assert [b.text for b in found if b.kind != "table"] == [" ".join(caption)]
    [table] = [b for b in found if b.kind == "table"]
    assert table.text.split("\n")[:2] == [
        " | Three Months Ended 2023 | Three Months Ended 2022",
        "Freight | 318 | 342",
    ]


def test_a_running_line_that_stands_where_the_text_ends_is_left_out(write: Make) -> None:
    tides = ("rising", "high", "falling", "low")
    pages = [
        [
            *paragraph([f"The tide is {tide}."], 700),
            (72, 660 - 40 * n, 9, "F1", f"Harbour Office | Report | {n}"),
        ]
        for n, tide in enumerate(tides, 1)
    ]
    parsed = parse(write("a.pdf", pdf_bytes(pages)))
    assert [b.text for b in parsed.blocks] == [f"The tide is {tide}." for tide in tides]


def test_what_stands_in_the_middle_of_a_whole_table_is_its_title_and_no_head(write: Make) -> None:
    page: list[Any] = [
        (205, 700, 9, "F2", "(In thousands of crowns)"),
        (330, 686, 9, "F2", "Year ended May 31"),
    ]
    page += [(right - 20, 672, 9, "F2", text) for right, text in ((340, "2023"), (460, "2022"))]
    for n, label in enumerate(("Sales of the harbour", "Fees of moorings", "Total")):
        page += [(72, 658 - 14 * n, 9, "F1", label)]
        page += [(right - 20, 658 - 14 * n, 9, "F1", str(1400 + n)) for right in (340, 460)]
    title, table = parse(write("a.pdf", pdf_bytes([page]))).blocks
    assert title.text == "(In thousands of crowns)"
    assert table.text.split("\n")[:2] == [
        " | Year ended May 31 2023 | Year ended May 31 2022",
        "Sales of the harbour | 1400 | 1400",
    ]


def test_lines_of_code_stay_lines_with_their_indents_and_a_typed_letter_is_prose(write: Make) -> None:
    code = [(72, 640, 9, "F3", "for boat in boats:"), (72 + 4 * 0.6 * 9, 629, 9, "F3", "sail(boat)")]
    prose = paragraph(
        ["The boats of the island sail at once when", "the signal comes, with these commands:"], 680
    )
    (text, block) = parse(write("a.pdf", pdf_bytes([[*prose, *code]]))).blocks
    assert (text.kind, block.kind, block.text) == ("text", "code", "for boat in boats:\n    sail(boat)")
    typed = [(72, 700, 10, "F3", "Dear Ada, the boats of the"), (72, 688, 10, "F3", "island sail at noon.")]
    (letter,) = parse(write("b.pdf", pdf_bytes([typed]))).blocks
    assert (letter.kind, letter.text) == ("text", "Dear Ada, the boats of the island sail at noon.")


def test_a_password_is_said(write: Make) -> None:
    key = "<" + "5A" * 32 + ">"
    data = pdf_bytes(
        [paragraph(["Secret."], 700)], encrypt=f"/Filter /Standard /V 1 /R 2 /O {key} /U {key} /P -44"
    )
    with pytest.raises(SourceError, match="protected by a password"):
        parse(write("a.pdf", data))


def test_a_pdf_cut_anywhere_is_read_in_part_or_refused_with_a_sentence(write: Make) -> None:
    whole = pdf_bytes(report())
    for tenth in range(1, 10):
        path = write(f"{tenth}.pdf", whole[: len(whole) * tenth // 10])
        try:
            parsed = parse(path)
        except SourceError as exc:
            assert "damaged or truncated" in str(exc)
        else:
            assert all("tide" in b.text or b.kind == "heading" or "second" in b.text for b in parsed.blocks)


def test_threads_may_read_at_the_same_time(write: Make) -> None:
    path = write("a.pdf", pdf_bytes(report(8)))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(parse, [path] * 12))
    assert all(p.blocks == found[0].blocks for p in found)
