"""Files of every format, made by hand, so that each byte of a hostile one is ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file under the test's folder and return its path."""

    def make(name: str, body: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(body if isinstance(body, bytes) else body.encode("utf-8"))
        return path

    return make
