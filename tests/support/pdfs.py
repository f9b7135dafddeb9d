"""PDF files by hand: text in Helvetica or Courier at given places, rules, and nothing else."""

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
"""Of the characters of ASCII in Helvetica, in thousandths of the font size."""


def width(text: str, size: float, font: str = "F1") -> float:
    """Return how wide a text is, in points; what is not ASCII counts as a dash."""
    if font == "F3":
        return 0.6 * size * len(text)
    wide = 1.07 if font == "F2" else 1.0
    return wide * size * sum(_WIDTHS[ord(c) - 32] if " " <= c <= "~" else 1000 for c in text) / 1000


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
    kids = []
    for n, page in enumerate(pages):
        drawn = "".join(
            f"BT /{font} {points} Tf {x} {y} Td ({text.translate(_ESCAPES)}) Tj ET\n"
            for x, y, points, font, text in page
        )
        drawn += "".join(f"{left} {y} m {right} {y} l S\n" for left, right, y in (rules[n] if rules else ()))
        names = ""
        for pixels, (x0, y0, x1, y1) in pictures[n] if pictures else ():
            height, across = pixels.shape[:2]
            names += f"/I{len(objects)} {len(objects)} 0 R "
            drawn += f"q {x1 - x0} 0 0 {y1 - y0} {x0} {y0} cm /I{len(objects)} Do Q\n"
            data = pixels.tobytes().hex()
            objects.append(
                f"<< /Type /XObject /Subtype /Image /Width {across} /Height {height} /ColorSpace /DeviceRGB"
                f" /BitsPerComponent 8 /Filter /ASCIIHexDecode /Length {len(data)}"
                f" >>\nstream\n{data}\nendstream"
            )
        objects.append(f"<< /Length {len(drawn.encode('cp1252'))} >>\nstream\n{drawn}endstream")
        kids.append(len(objects))
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {size[0]} {size[1]}] /Contents {len(objects) - 1} 0"
            f" R /Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> /XObject << {names}>> >> >>"
        )
    objects[2] = f"<< /Type /Pages /Kids [{' '.join(f'{k} 0 R' for k in kids)}] /Count {len(kids)} >>"
    trailer = "/Root 1 0 R"
    for key, body in (("Info", info), ("Encrypt", encrypt)):
        if body:
            trailer += f" /{key} {len(objects)} 0 R"
            objects.append(f"<< {body} >>")
    if encrypt:
        trailer += " /ID [<00112233445566778899AABBCCDDEEFF> <00112233445566778899AABBCCDDEEFF>]"
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, io.SEEK_END)
    offsets = []
    for number, body in enumerate(objects[1:], 1):
        offsets.append(out.tell())
        out.write(f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252"))
    start = out.tell()
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    out.write(f"xref\n0 {len(objects)}\n0000000000 65535 f \n{table}".encode())
    out.write(f"trailer\n<< /Size {len(objects)} {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


def paragraph(
    lines: Sequence[str], top: float, *, left: float = 72, size: float = 11, font: str = "F1"
) -> list[Run]:
    """Set lines below each other with a leading of 1.2."""
    return [(left, top - n * size * 1.2, size, font, line) for n, line in enumerate(lines)]


def stream(data: bytes, *changes: tuple[str, str]) -> bytes:
    """Change the first page as it is drawn, and its length with it."""
    text = data.decode("cp1252")
    for old, new in changes:
        text = text.replace(old, new, 1)
    length = len(text[text.index("stream\n") + 7 : text.index("endstream")])
    old = text[text.index("/Length") : text.index(" >>\nstream")]
    return text.replace(old, f"/Length {length}", 1).encode("cp1252")


def placed(
    rows: Sequence[Sequence[str]], top: float, lefts: Sequence[float], size: float = 10, lead: float = 16
) -> list[Run]:
    """Set the cells of rows at the left sides of their columns."""
    return [
        (left, top - n * lead, size, "F1", cell)
        for n, row in enumerate(rows)
        for left, cell in zip(lefts, row, strict=True)
        if cell
    ]
