"""PDF: paragraphs, headings and boxes from lines on pages."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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


def test_running_headers_footers_and_page_numbers_are_left_out(write: Make, make_pdf: Make, set_lines: Make) -> None:
    text = " ".join(b.text for b in parse(write("a.pdf", make_pdf(report(set_lines)))).blocks)
    assert "Harbour Office" not in text and "of 4" not in text


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


def grid(rows: list[list[str]], top: float, lefts: list[int], size: int = 10, lead: int = 16) -> list[Any]:
    return [
        (left, top - n * lead, size, "F1", cell)
        for n, row in enumerate(rows)
        for left, cell in zip(lefts, row, strict=True)
        if cell
    ]


FIGURES = [["Ship", "Crew", "Load (t)"], ["Marten", "4", "1,250"], ["Petrel of Ness", "6", ""], ["Tern", "5", "980"]]


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
