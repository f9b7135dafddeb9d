"""Minimal PDF files: text in Helvetica or Courier at given places, rules and pictures."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Run = tuple[float, float, float, str, str]
"""One piece of text on a page: x, y, size, font (F1 regular, F2 bold, F3 Courier), text."""
Rule = tuple[float, float, float]
"""A line across a page: from x, to x, y."""
Picture = tuple[NDArray[np.uint8], tuple[float, float, float, float]]
"""Pixels in three colours, and their box on a page: left, bottom, right, top."""
_FONTS = ("Helvetica", "Helvetica-Bold", "Courier")
_ESCAPES = str.maketrans({"(": "\\(", ")": "\\)", "\\": "\\\\"})
_WIDTHS = (
    *(278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278),
    *[556] * 10,
    *(278, 278, 584, 584, 584, 556, 1015),
    *(667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611),
    *(722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333),
    *(556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278),
    *(556, 500, 722, 500, 500, 500, 334, 260, 334, 584),
)
"""Widths of the ASCII characters from the space on in Helvetica, in thousandths of the font size."""


def width(text: str, size: float, font: str = "F1") -> float:
    """Return the width of a text in points; a character outside of ASCII counts as a dash."""
    if font == "F3":
        return 0.6 * size * len(text)
    wide = 1.07 if font == "F2" else 1.0
    thousandths = 0
    for character in text:
        thousandths += _WIDTHS[ord(character) - 32] if " " <= character <= "~" else 1000
    return wide * size * thousandths / 1000


def pdf_bytes(
    pages: Sequence[Sequence[Run]],
    info: str = "",
    encrypt: str = "",
    rules: Sequence[Sequence[Rule]] = (),
    pictures: Sequence[Sequence[Picture]] = (),
    size: tuple[int, int] = (595, 842),
) -> bytes:
    """Write a PDF with text at given places, and the rules and pictures of each page."""
    objects = ["", "<< /Type /Catalog /Pages 2 0 R >>", ""]
    for name in _FONTS:
        objects.append(f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>")
    kids: list[str] = []
    for n, page in enumerate(pages):
        _add_page(objects, page, rules[n] if rules else (), pictures[n] if pictures else (), size)
        kids.append(f"{len(objects) - 1} 0 R")
    objects[2] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    trailer = "/Root 1 0 R"
    for key, body in (("Info", info), ("Encrypt", encrypt)):
        if body:
            trailer += f" /{key} {len(objects)} 0 R"
            objects.append(f"<< {body} >>")
    if encrypt:
        trailer += " /ID [<00112233445566778899AABBCCDDEEFF> <00112233445566778899AABBCCDDEEFF>]"
    return _file_of(objects, trailer)


def _add_page(
    objects: list[str],
    page: Sequence[Run],
    rules: Sequence[Rule],
    pictures: Sequence[Picture],
    size: tuple[int, int],
) -> None:
    """Append the objects of a page; the page itself is the last of them."""
    drawn = ""
    for x, y, points, font, text in page:
        drawn += f"BT /{font} {points} Tf {x} {y} Td ({text.translate(_ESCAPES)}) Tj ET\n"
    for left, right, y in rules:
        drawn += f"{left} {y} m {right} {y} l S\n"
    names = ""
    for pixels, (x0, y0, x1, y1) in pictures:
        names += f"/I{len(objects)} {len(objects)} 0 R "
        drawn += f"q {x1 - x0} 0 0 {y1 - y0} {x0} {y0} cm /I{len(objects)} Do Q\n"
        objects.append(_image_object(pixels))
    objects.append(f"<< /Length {len(drawn.encode('cp1252'))} >>\nstream\n{drawn}endstream")
    objects.append(
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {size[0]} {size[1]}] /Contents {len(objects) - 1} 0"
        f" R /Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> /XObject << {names}>> >> >>"
    )


def _image_object(pixels: NDArray[np.uint8]) -> str:
    height, across = pixels.shape[:2]
    data = pixels.tobytes().hex()
    return (
        f"<< /Type /XObject /Subtype /Image /Width {across} /Height {height} /ColorSpace /DeviceRGB"
        f" /BitsPerComponent 8 /Filter /ASCIIHexDecode /Length {len(data)}"
        f" >>\nstream\n{data}\nendstream"
    )


def _file_of(objects: Sequence[str], trailer: str) -> bytes:
    """Return a file with numbered objects, from the second on, their table of offsets, and a trailer."""
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, io.SEEK_END)
    table = ""
    for number, body in enumerate(objects[1:], 1):
        table += f"{out.tell():010d} 00000 n \n"
        out.write(f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252"))
    start = out.tell()
    out.write(f"xref\n0 {len(objects)}\n0000000000 65535 f \n{table}".encode())
    out.write(f"trailer\n<< /Size {len(objects)} {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


def paragraph(
    lines: Sequence[str], top: float, *, left: float = 72, size: float = 11, font: str = "F1"
) -> list[Run]:
    """Place lines below each other with a leading of 1.2."""
    return [(left, top - n * size * 1.2, size, font, line) for n, line in enumerate(lines)]


def stream(data: bytes, *changes: tuple[str, str]) -> bytes:
    """Replace texts in the content stream of the first page, and correct its length."""
    text = data.decode("cp1252")
    for old, new in changes:
        text = text.replace(old, new, 1)
    length = len(text[text.index("stream\n") + 7 : text.index("endstream")])
    old = text[text.index("/Length") : text.index(" >>\nstream")]
    return text.replace(old, f"/Length {length}", 1).encode("cp1252")


def placed(
    rows: Sequence[Sequence[str]], top: float, lefts: Sequence[float], size: float = 10, lead: float = 16
) -> list[Run]:
    """Place the cells of rows at the left edges of their columns; skip empty cells."""
    runs: list[Run] = []
    for n, row in enumerate(rows):
        for left, cell in zip(lefts, row, strict=True):
            if cell:
                runs.append((left, top - n * lead, size, "F1", cell))
    return runs
