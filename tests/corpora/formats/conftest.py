"""Files of every format, made by hand, so that each byte of a hostile one is ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragweave.tests.support.pdfs import Run, paragraph, pdf_bytes
from ragweave.tests.support.zips import zip_bytes


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
