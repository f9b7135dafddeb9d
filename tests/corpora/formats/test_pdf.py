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
        page = [(72, 805, 9, "F1", f"Harbour Office  Report {2000 + n}"), (290, 30, 9, "F1", f"Page {n} of {pages}")]
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
        assert 70 <= left <= 76 and baseline - 4 <= bottom <= baseline + 1 and baseline + 5 <= top <= baseline + 11
        assert right > left
    item = next(i for i in paragraphs("s", "/a.pdf", parsed) if "The tide" in i.text)
    assert item.locator["page"] == 1 and item.heading == ("1. Section",)
    assert item.locate(item.text.index("again at"), len("again at night.") + item.text.index("again at"))[
        "bbox"
    ] == list(body.spans[2].bbox or ())


def test_lines_in_the_middle_over_a_table_are_its_caption_and_those_over_its_columns_are_heads(write: Make) -> None:
    caption = ["CONDENSED STATEMENTS OF OPERATIONS", "(In millions)"]
    page = [(306 - width(line, 9) / 2, 720 - 12 * n, 9, "F1", line) for n, line in enumerate(caption)]
    page.append((420, 694, 9, "F1", "Three Months Ended"))
    rows = [["", "2023", "2022"], ["Freight", "318", "342"], ["Passenger", "141", "127"], ["Net sales", "459", "469"]]
    found = parse(write("a.pdf", pdf_bytes([page + placed(rows, 680, (72, 400, 520), size=9)]))).blocks
    assert [b.text for b in found if b.kind != "table"] == [" ".join(caption)]
    [table] = [b for b in found if b.kind == "table"]
    assert table.text.split("\n")[:2] == [" | Three Months Ended 2023 | Three Months Ended 2022", "Freight | 318 | 342"]


def test_a_password_is_said(write: Make) -> None:
    key = "<" + "5A" * 32 + ">"
    data = pdf_bytes([paragraph(["Secret."], 700)], encrypt=f"/Filter /Standard /V 1 /R 2 /O {key} /U {key} /P -44")
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
