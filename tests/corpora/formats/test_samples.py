"""HTML whose look says what its elements do not: ends of printed pages, bold lines that head what follows."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.corpora.formats import parse
from ragweave.tests.corpora.formats.samples import Sample, samples

HELD = list(samples())


@pytest.mark.parametrize("sample", HELD, ids=[f"{s.golden.stem}: {s.behaviour}" for s in HELD])
def test_a_sample_is_read_as_its_golden_file_says(sample: Sample, tmp_path: Path) -> None:
    assert sample.read(tmp_path) == sample.expected


BOLD = "<div><span style='font-weight:700'>{}</span></div>"


def kinds(path: Path, body: str) -> list[tuple[str, str]]:
    path.write_text(f"<title>10-Q</title>{body}", encoding="utf-8")
    return [(b.kind, b.text) for b in parse(path, "html").blocks]


def test_lines_that_stand_at_the_ends_of_most_printed_pages_are_left_out(tmp_path: Path) -> None:
    turn = "<hr style='page-break-after:always'><p><a href='#toc'>Contents</a></p>"
    pages = [f"<p>The tide is {n}.</p><div>Harbour Office, page {n}</div>" for n in range(1, 5)]
    found = kinds(tmp_path / "a.html", turn.join(pages) + turn + "<p>The end.</p>")
    assert [text for _, text in found] == [*(f"The tide is {n}." for n in range(1, 5)), "The end."]


SECTIONS = "".join(f"{BOLD.format(f'Note {n}')}<p>Debt <b>{n}</b> is due.</p>" for n in range(3))


@pytest.mark.parametrize(("above", "kind"), [("", "heading"), ("<h2>Report</h2>", "text")])
def test_short_bold_lines_are_headings_where_no_element_is_one(tmp_path: Path, above: str, kind: str) -> None:
    body = f"{above}{SECTIONS}{BOLD.format('(in millions)')}{BOLD.format('All of it is due.')}"
    found = kinds(tmp_path / "a.html", body)
    assert [k for k, text in found if text.startswith("Note")] == [kind] * 3
    assert all(k == "text" for k, text in found if not text.startswith(("Note", "Report")))


def test_the_number_of_a_form_is_no_title(tmp_path: Path) -> None:
    kinds(tmp_path / "a.html", "<p>The tide rises.</p>")
    assert parse(tmp_path / "a.html", "html").title == ""
