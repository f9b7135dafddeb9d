"""PDF pages: scans are read and join the text, pictures on pages are kept with their captions."""

import io
import zlib

import numpy as np
import pytest
from PIL import Image

from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.parts import part
from tests.corpora.images.conftest import BLUE, GREEN, RED, picture  # type: ignore[import-not-found]

S = "a" * 24
PAGE = (600, 800)


def pdf(*pages: tuple[str, list[tuple[tuple[int, int, int], tuple[float, float, float, float]]]]) -> bytes:
    """Write pages of a text stream and of pictures, each a colour and its box [left, bottom, right, top]."""
    objects: list[bytes] = []

    def add(body: bytes) -> int:
        objects.append(body)
        return len(objects)

    add(b"<< /Type /Catalog /Pages 2 0 R >>")
    add(b"")
    font = add(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    kids = []
    for text, pictures in pages:
        names, drawn = [], [text]
        for n, (colour, (x0, y0, x1, y1)) in enumerate(pictures):
            pixels = np.asarray(Image.open(io.BytesIO(picture(colour, (80, 60)))))
            data = zlib.compress(pixels.tobytes())
            head = b"<< /Type /XObject /Subtype /Image /Width 80 /Height 60 /ColorSpace /DeviceRGB "
            head += b"/BitsPerComponent 8 /Filter /FlateDecode /Length %d >>\nstream\n" % len(data)
            made = add(head + data + b"\nendstream")
            names.append(f"/I{n} {made} 0 R")
            drawn.append(f"q {x1 - x0} 0 0 {y1 - y0} {x0} {y0} cm /I{n} Do Q")
        stream = "\n".join(drawn).encode("latin-1")
        content = add(b"<< /Length %d >>\nstream\n" % len(stream) + stream + b"\nendstream")
        kids.append(
            add(
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {PAGE[0]} {PAGE[1]}] /Contents {content} 0 R "
                f"/Resources << /Font << /F1 {font} 0 R >> /XObject << {' '.join(names)} >> >> >>".encode()
            )
        )
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(f'{k} 0 R' for k in kids)}] >>".encode()
    out = b"%PDF-1.4\n"
    offsets = []
    for n, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n" % n + body + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % o for o in offsets)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table
    return out + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)


def lines(*rows: tuple[float, float, str]) -> str:
    return "\n".join(f"BT /F1 12 Tf {x} {y} Td ({t}) Tj ET" for x, y, t in rows)


WHOLE = (0.0, 0.0, 600.0, 800.0)
PROSE = "The tide comes in twice a day and leaves the boats on the mud of the basin."


def test_a_scanned_page_becomes_text_with_boxes_on_the_page(painted, put, media):
    made = prepare(put("scan.pdf", pdf(("", [(RED, WHOLE)]), ("", [(GREEN, WHOLE)]))), S, 300, media)
    document = next(i for i in made.items if i.corpus == "document")
    assert "Red harbour open all night" in document.text and "Green valley" in document.text
    assert made.items[0].corpus == "paragraph"
    at = document.text.index("Green")
    found = document.locate(at, at + 5)
    assert found["kind"] == "page" and found["page"] == 2
    left, bottom, right, top = found["bbox"]
    assert 0 < left < right < 600 and 700 < bottom < top < 800  # the line stands at the top of the page
    images = [i for i in made.items if i.corpus == "image"]
    assert [(i.locator["page"], i.text) for i in images] == [(1, "Red harbour\nopen all night"), (2, "Green valley")]
    assert made.warnings == ()


def test_places_on_a_scan_that_is_turned_are_those_of_the_file(painted, put, media):
    data = pdf(("", [(RED, WHOLE)])).replace(b"/MediaBox [0 0 600 800]", b"/MediaBox [0 0 600 800] /Rotate 90")
    made = prepare(put("scan.pdf", data), S, 300, media)
    document = next(i for i in made.items if i.corpus == "document")
    at = document.text.index("Red")
    left, bottom, right, top = document.locate(at, at + 3)["bbox"]
    assert 0 < left < right < 100 and 0 < bottom < top < 800  # the top of the page, as it is shown, is its left side


def test_a_picture_on_a_page_is_kept_with_its_caption_and_not_the_page(painted, put, media):
    text = lines((50, 700, PROSE), (50, 380, "Figure 1: The green basin"), (50, 300, PROSE))
    made = prepare(put("a.pdf", pdf((text, [(GREEN, (50, 400, 350, 600))]))), S, 300, media)
    [item] = [i for i in made.items if i.corpus == "image"]
    assert part(item, "caption") == "Figure 1: The green basin" and part(item, "words") == "Green valley"
    assert item.locator["page"] == 1
    kept = Image.open(next(media.iterdir()))
    assert abs(kept.width / kept.height - 1.5) < 0.02


def test_a_page_that_is_mostly_picture_and_has_text_is_not_read_again(painted, put, media):
    text = lines(*((50, 760 - 14 * n, PROSE) for n in range(3)))
    made = prepare(put("a.pdf", pdf((text, [(BLUE, (0, 0, 600, 600))]))), S, 300, media)
    [item] = [i for i in made.items if i.corpus == "image"]
    assert painted.calls == 0 and PROSE in item.text
    at = item.text.index("tide")
    _, y0, _, y1 = item.locate(at, at + 4)["bbox"]
    assert 0 < y0 < y1 < 100  # pixels of the copy, from the top


def test_a_stamp_on_a_scan_does_not_keep_it_from_being_read(painted, put, media):
    made = prepare(put("a.pdf", pdf((lines((50, 20, "Scanned by X")), [(RED, WHOLE)]))), S, 300, media)
    assert any("Red harbour" in i.text for i in made.items if i.corpus == "paragraph")


def test_ornaments_are_left_out_and_a_logo_on_every_page_is_one_item(painted, put, media):
    page = (lines((50, 700, PROSE)), [(RED, (10, 10, 30, 30)), (GREEN, (400, 100, 560, 220))])
    made = prepare(put("a.pdf", pdf(page, page, page)), S, 300, media)
    [item] = [i for i in made.items if i.corpus == "image"]
    assert item.locator["page"] == 1 and [p["page"] for p in item.meta["also"]] == [2, 3]


def test_a_blank_page_is_named_and_not_read(painted, put, media):
    made = prepare(put("a.pdf", pdf((lines((50, 700, PROSE)), []), ("", []))), S, 300, media)
    assert painted.calls == 0 and made.warnings == ("page 2 has no text (a scan?)",)


def test_a_long_scan_is_read_until_its_time_is_up(painted, put, media, monkeypatch):
    from ragweave.corpora.images import reader

    ticks = iter(range(10_000))
    monkeypatch.setattr(reader.time, "process_time", lambda: float(next(ticks)))
    colours = [(RED, WHOLE), (GREEN, WHOLE)]
    made = prepare(
        put("a.pdf", pdf(*(("", [c]) for c in colours * 1 + [(BLUE, WHOLE)] * 8))), S, 300, media, ocr_seconds=1.5
    )
    assert any("were not read" in w and "RAGWEAVE_PARSE_SECONDS" in w for w in made.warnings)
    assert any("Red harbour" in i.text for i in made.items)


@pytest.mark.parametrize("ocr", [None])
def test_without_an_engine_a_scan_is_kept_as_pictures_and_it_is_said(put, media, monkeypatch, ocr):
    monkeypatch.setattr("ragweave.corpora.images.reader.ocr", lambda: ocr)
    made = prepare(put("a.pdf", pdf(("", [(RED, WHOLE)]))), S, 300, media)
    assert [i.corpus for i in made.items] == ["image"] and made.items[0].locator["image"]
    assert "page 1 has no text (a scan?)" in made.warnings and any("ragweave[images]" in w for w in made.warnings)
