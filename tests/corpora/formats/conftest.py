"""Files of every format, made by hand, so that each byte of a hostile one is ours."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ragweave.tests.support.zips import zip_bytes

Run = tuple[float, float, float, str, str]
"""One piece of text on a page: x, y, size, font (F1 regular, F2 bold), text."""


_ESCAPES = str.maketrans({"(": "\\(", ")": "\\)", "\\": "\\\\"})


def pdf_bytes(pages: Sequence[Sequence[Run]], info: str = "", encrypt: str = "") -> bytes:
    """Write a PDF with Helvetica text at given places."""
    objects = ["", "<< /Type /Catalog /Pages 2 0 R >>", ""]
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>")
    kids = []
    for page in pages:
        drawn = "".join(
            f"BT /{font} {size} Tf {x} {y} Td ({text.translate(_ESCAPES)}) Tj ET\n" for x, y, size, font, text in page
        )
        objects.append(f"<< /Length {len(drawn.encode('latin-1'))} >>\nstream\n{drawn}endstream")
        kids.append(len(objects))
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {len(objects) - 1} 0 R "
            "/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>"
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
        out.write(f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1"))
    start = out.tell()
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    out.write(f"xref\n0 {len(objects)}\n0000000000 65535 f \n{table}".encode())
    out.write(f"trailer\n<< /Size {len(objects)} {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


def paragraph(lines: Sequence[str], top: float, *, left: float = 72, size: float = 11, font: str = "F1") -> list[Run]:
    """Set lines below each other with a leading of 1.2."""
    return [(left, top - n * size * 1.2, size, font, line) for n, line in enumerate(lines)]


@pytest.fixture
def make_pdf() -> Callable[..., bytes]:
    """The function `pdf_bytes`."""
    return pdf_bytes


@pytest.fixture
def set_lines() -> Callable[..., list[Run]]:
    """The function `paragraph`."""
    return paragraph


@pytest.fixture
def make_zip() -> Callable[[dict[str, str | bytes]], bytes]:
    """The function `zip_bytes`."""
    return zip_bytes


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file under the test's folder and return its path."""

    def make(name: str, body: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(body if isinstance(body, bytes) else body.encode("utf-8"))
        return path

    return make
